import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AssertionError } from './assert.ts'
import { Heap } from './heap.ts'

interface Item {
  readonly order: number
}

const byOrder = (a: Item, b: Item): number => a.order - b.order

type Step = { do: 'push'; order: number } | { do: 'pop' } | { do: 'delete'; index: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('push' as const), order: fc.integer({ min: 0, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pop' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), index: fc.nat() }) },
)

test('Heap behaves like a sorted list', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<Item>(byOrder)
      let list: Item[] = []
      for (const one of steps) {
        if (one.do === 'push') {
          const item = { order: one.order }
          heap.push(item)
          list.push(item)
        } else if (one.do === 'pop') {
          const popped = heap.pop()
          expect(popped?.order).toBe(list.length === 0 ? undefined : Math.min(...list.map(({ order }) => order)))
          list = list.filter((item) => item !== popped)
        } else if (list.length > 0) {
          const item = list[one.index % list.length] as Item
          expect(heap.delete(item)).toBe(true)
          expect(heap.has(item)).toBe(false)
          expect(heap.delete(item)).toBe(false)
          list = list.filter((other) => other !== item)
        }
        expect(heap.size).toBe(list.length)
        expect(heap.peek()?.order).toBe(list.length === 0 ? undefined : Math.min(...list.map(({ order }) => order)))
        expect(list.every((item) => heap.has(item))).toBe(true)
      }
      const rest = Array.from({ length: heap.size }, () => heap.pop()?.order)
      expect(rest).toEqual(list.map(({ order }) => order).sort((a, b) => a - b))
    }),
  )
})

test('Heap accepts an item once', () => {
  const heap = new Heap<Item>(byOrder)
  const item = { order: 1 }
  heap.push(item)
  expect(() => {
    heap.push(item)
  }).toThrow(AssertionError)
  expect(heap.size).toBe(1)
  heap.delete(item)
  heap.push(item)
  expect(heap.pop()).toBe(item)
})

test('an empty Heap returns undefined', () => {
  const heap = new Heap<Item>(byOrder)
  expect([heap.pop(), heap.peek(), heap.size, heap.delete({ order: 1 })]).toEqual([undefined, undefined, 0, false])
})
