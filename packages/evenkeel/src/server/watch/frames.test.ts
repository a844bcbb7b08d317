import { expect, test } from 'vitest'
import { assert, SimulatedClock } from '#base'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { Query } from '#wire'
import { Registry } from '../registry/registry.ts'
import { LentMemory } from '../listen/lent-memory.ts'
import { StoredObject, Unstamped } from '../storage/stored-object.ts'
import { WatchEncoder } from './frames.ts'

const configMaps = new Registry(makeCatalog({ strategyFor, columnsFor })).find('', 'v1', 'configmaps')

test('a selector of a name, in all namespaces, is decided by keys: no other object is parsed', () => {
  assert(configMaps, 'ConfigMaps are built in')
  const parsed: string[] = []
  const stored = (name: string) => new Unstamped({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }).stamped(7)
  const encoder = new WatchEncoder({
    resource: configMaps,
    choice: { format: 'json' },
    query: new Query(),
    matches: ({ object }) => {
      parsed.push(object.metadata.name ?? '')
      return true
    },
    key: undefined,
    keyEnd: '/a',
    clock: new SimulatedClock(),
  })
  const changes = ['x/a', 'x/ba', 'y/a', 'a/b'].map((key) => ({
    key: `/${key}`,
    revision: 7,
    entry: { key: `/${key}`, value: stored(key.slice(2)), revision: 7, created: 7 },
  }))
  const text = Buffer.concat([...encoder.batch({ changes } as never)]).toString()
  expect(text.match(/"name":"[^"]*"/g)).toEqual(['"name":"a"', '"name":"a"'])
  expect(parsed).toEqual(['a', 'a'])
})

test('the frames of a large batch are made as they are sent; watchers at the same place share them', () => {
  assert(configMaps, 'ConfigMaps are built in')
  const encoder = () =>
    new WatchEncoder({
      resource: configMaps,
      choice: { format: 'json' },
      query: new Query(),
      matches: undefined,
      key: undefined,
      clock: new SimulatedClock(),
    })
  const text = 'x'.repeat(200_000)
  let read = 0
  const changes = ['a', 'b', 'c'].map((name) => {
    const value = new Unstamped({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } }).stamped(7)
    const entry = { key: `/x/${name}`, value, revision: 7, created: 7 }
    return {
      key: `/x/${name}`,
      revision: 7,
      get entry() {
        read++
        return entry
      },
    }
  })
  const batch = { changes } as never
  const [first, second] = [encoder().batch(batch), encoder().batch(batch)].map((pieces) => pieces[Symbol.iterator]())
  read = 0
  const piece = first?.next().value as Uint8Array
  const readOfOne = read
  expect(readOfOne).toBeGreaterThan(0)
  expect((second?.next().value as Uint8Array).buffer).toBe(piece.buffer)
  read = 0
  const rest = [...{ [Symbol.iterator]: () => first as Iterator<Uint8Array> }]
  expect([rest.length, read]).toEqual([2, 2 * readOfOne])
})

test('the frames of a batch of small objects are one piece, the same for all watchers', () => {
  assert(configMaps, 'ConfigMaps are built in')
  const changes = ['a', 'b'].map((name) => {
    const value = new Unstamped({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }).stamped(7)
    return { key: `/x/${name}`, revision: 7, entry: { key: `/x/${name}`, value, revision: 7, created: 7 } }
  })
  const options = { resource: configMaps, choice: { format: 'json' }, query: new Query() } as const
  const more = { matches: undefined, key: undefined, clock: new SimulatedClock() }
  const [one, two] = [1, 2].map(() => [...new WatchEncoder({ ...options, ...more }).batch({ changes } as never)])
  expect(one).toHaveLength(1)
  const batch = { changes } as never
  const [three, four] = [1, 2].map(() => [...new WatchEncoder({ ...options, ...more }).batch(batch)])
  expect(three?.[0]).toBe(four?.[0])
  expect(two?.[0]).toEqual(one?.[0])
})

test.each([true, false])(
  'objects that existed are the same bytes in small parts; managed fields omitted: %s',
  (omits) => {
    assert(configMaps, 'ConfigMaps are built in')
    const encoder = new WatchEncoder({
      resource: configMaps,
      choice: { format: 'json', ...(omits && { mayOmitManagedFields: true }) },
      query: new Query(),
      matches: undefined,
      key: undefined,
      clock: new SimulatedClock(),
    })
    const items = ['a', 'b'].map((name) => {
      const metadata = { name, managedFields: [{ manager: 'someone', operation: 'Apply' }] }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: name.repeat(100_000) } }
      return new StoredObject(new Unstamped(object as never).stamped(7), 7)
    })
    const parts = [...encoder.existingInParts(items)]
    const whole = encoder.existing(items, new LentMemory({ isLent: false }))
    expect(Math.max(...parts.map(({ length }) => length))).toBe(65_536)
    expect(Buffer.concat(parts).toString()).toBe(Buffer.from(whole ?? []).toString())
    expect(Buffer.concat(parts).includes('managedFields')).toBe(!omits)
  },
)
