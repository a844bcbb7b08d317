import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { Item, Items } from './items.ts'
import { kindDecoder } from './transform.ts'
import { WatchDecoder } from './watch-decoder.ts'

const form = kindDecoder<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' })
const object = (namespace: string, name: string, version: string): KubeObject => ({
  apiVersion: 'test.dev/v1',
  kind: 'Widget',
  metadata: { name, ...(namespace !== '' && { namespace }), resourceVersion: version },
})

const key = { namespace: fc.constantFrom('', 'x', 'y'), name: fc.constantFrom('a', 'b', 'ö', '__proto__') }
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('list' as const, 'put' as const), version: fc.nat(99).map(String), ...key }),
  fc.record({ do: fc.constantFrom('delete' as const, 'get' as const, 'values' as const), ...key }),
)

test('Items agree with a map, whether objects were listed or put', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const items = new Items<KubeObject>()
      const reader = new WatchDecoder({ decoder: form, gather: items })
      const model = new Map<string, string>()
      for (const one of steps) {
        const slot = `${one.namespace}/${one.name}`
        if (one.do === 'list')
          reader.read(
            Buffer.from(JSON.stringify({ type: 'ADDED', object: object(one.namespace, one.name, one.version) })),
          )
        if (one.do === 'put')
          expect(items.put(Item.ofObject(object(one.namespace, one.name, one.version)))?.version).toBe(model.get(slot))
        if (one.do === 'list' || one.do === 'put') model.set(slot, one.version)
        if (one.do === 'get') expect(items.get(one.namespace, one.name)?.version).toBe(model.get(slot))
        if (one.do === 'delete') {
          expect(items.delete(one.namespace, one.name)?.version).toBe(model.get(slot))
          model.delete(slot)
        }
        if (one.do === 'values')
          expect(keysOf(items.values(one.namespace))).toEqual(
            [...model.keys()].filter((known) => known.startsWith(`${one.namespace}/`)).sort(),
          )
        expect(items.size).toBe(model.size)
      }
      expect(keysOf(items.values())).toEqual([...model.keys()].sort())
      for (const { namespace, name } of [...items.values()]) items.delete(namespace, name)
      expect([items.size, items.bytes, [...items.values()]]).toEqual([0, 0, []])
    }),
    { numRuns: 300 },
  )
})

test('Items are listed in the order in which they came', () => {
  const items = new Items<KubeObject>()
  const names = Array.from({ length: 50 }, (_, index) => `n-${(index * 7) % 50}`)
  new WatchDecoder({ decoder: form, gather: items }).read(
    Buffer.from(names.map((name) => JSON.stringify({ type: 'ADDED', object: object('x', name, '1') })).join('\n')),
  )
  expect([...items.values('x')].map(({ name }) => name)).toEqual(names)
})

function keysOf(items: Iterable<Item<KubeObject>>): string[] {
  return [...items].map(({ namespace, name }) => `${namespace}/${name}`).sort()
}
