import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import { cycleThrough, graphOf } from './graph.ts'
import type { ObjectRef } from './reference.ts'

const kind = { group: 'test.dev', kind: 'Node', scope: 'Namespaced' as const }
const place = (name: string): ObjectRef => ({ group: 'test.dev', kind: 'Node', namespace: 'n', name })
const node = (name: string): KubeObject => ({
  apiVersion: 'test.dev/v1',
  kind: 'Node',
  metadata: { name, namespace: 'n' },
})

/** A graph of these edges, and what finds circles in it. */
function graph(edges: Readonly<Record<string, readonly string[]>>): (from: string, to: string) => string | undefined {
  const cache = {} as ObjectCache
  graphOf(cache).add({
    kind,
    find: ({ name }) => edges[name] && node(name),
    needs: ({ metadata: { name = '' } }) => (edges[name] ?? []).map(place),
  })
  return (from, to) =>
    cycleThrough(cache, node(from), place(to))
      ?.map(({ name }) => name)
      .join(' ')
}

test('circleThrough finds the way back, however long, and an object that needs itself', () => {
  const circle = graph({ a: ['b'], b: ['c', 'x'], c: ['a'], self: ['self'], outside: ['a'] })
  expect(circle('a', 'b')).toBe('a b c a')
  expect(circle('self', 'self')).toBe('self self')
  expect(circle('outside', 'a')).toBeUndefined()
  expect(circle('b', 'x')).toBeUndefined()
})

test('circleThrough says that there is a circle exactly when a search of all ways finds one', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  fc.assert(
    fc.property(fc.tuple(...names.map(() => fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }))), (needs) => {
      const edges = Object.fromEntries(names.map((name, index) => [name, needs[index] ?? []]))
      const circle = graph(edges)
      const reaches = (from: string, to: string, seen: readonly string[] = []): boolean =>
        from === to || (!seen.includes(from) && (edges[from] ?? []).some((next) => reaches(next, to, [...seen, from])))
      for (const from of names)
        for (const to of edges[from] ?? []) expect(circle(from, to) !== undefined).toBe(reaches(to, from))
    }),
  )
})

test('a part that has left the graph needs nothing any more', () => {
  const cache = {} as ObjectCache
  const leave = graphOf(cache).add({ kind, find: ({ name }) => node(name), needs: () => [place('a')] })
  expect(cycleThrough(cache, node('a'), place('b'))?.length).toBe(3)
  leave()
  expect(cycleThrough(cache, node('a'), place('b'))).toBeUndefined()
})

test('graphOf shares the graph of a cache, and a part that was removed is gone', () => {
  const cache = {} as ObjectCache
  expect(graphOf(cache)).toBe(graphOf(cache))
  const remove = graphOf(cache).add({ kind, find: ({ name }) => node(name), needs: () => [place('b')] })
  expect(graphOf(cache).path(place('a'), place('b'))).toEqual([place('a'), place('b')])
  remove()
  expect(graphOf(cache).path(place('a'), place('b'))).toBeUndefined()
})

test('a path is looked for over 10 000 objects, and not further', () => {
  const cache = {} as ObjectCache
  graphOf(cache).add({
    kind,
    find: ({ name }) => node(name),
    needs: ({ metadata: { name = '' } }) => [place(String(Number(name) + 1))],
  })
  expect(graphOf(cache).path(place('0'), place('9999'))).toHaveLength(10_000)
  expect(graphOf(cache).path(place('0'), place('10000'))).toBeUndefined()
})
