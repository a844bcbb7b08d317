import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockMax, Keyspace } from './keyspace.ts'
import { Version } from './version.ts'

const version = (key: string, revision = 1): Version => new Version(key, revision, { created: 1, lease: undefined })
const keyArbitrary = fc.string({ unit: fc.constantFrom('a', 'b', '/', '~', '!'), minLength: 1, maxLength: 5 })

function keysFrom(keyspace: Keyspace, from = '', limit = Infinity): string[] {
  const keys: string[] = []
  keyspace.scan(from, ({ key }) => {
    keys.push(key)
    return keys.length < limit
  })
  return keys
}

const steps = fc.array(fc.record({ do: fc.constantFrom('put', 'put', 'remove', 'scan'), key: keyArbitrary }), {
  maxLength: 300,
})

test('Keyspace behaves like a sorted list', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const keyspace = new Keyspace()
      const model = new Map<string, Version>()
      for (const [index, step] of list.entries()) {
        if (step.do === 'put') {
          const made = version(step.key, index)
          keyspace.put(made)
          model.set(step.key, made)
        } else if (step.do === 'remove') {
          keyspace.remove(step.key)
          model.delete(step.key)
        } else expect(keysFrom(keyspace, step.key)).toEqual([...model.keys()].filter((key) => key >= step.key).sort())
        expect(keyspace.size).toBe(model.size)
        expect(keyspace.find(step.key)).toBe(model.get(step.key))
      }
      expect(keysFrom(keyspace)).toEqual([...model.keys()].sort())
    }),
  )
})

test('Keyspace scans the keys of a prefix, over any number of blocks', () => {
  const keyspace = new Keyspace()
  const keys = ['a', 'b/', 'b0']
    .flatMap((start) => Array.from({ length: blockMax + 7 }, (_, index) => `${start}${String(index).padStart(5, '0')}`))
    .sort()
  for (const key of keys) keyspace.put(version(key))
  const scanned = (prefix: string, from = prefix): string[] => {
    const found: string[] = []
    keyspace.scan(from, ({ key }) => found.push(key) > 0, { prefix })
    return found
  }
  for (const prefix of ['', 'a', 'b', 'b/', 'b0', 'b/001', 'c', 'b/00518'])
    expect(scanned(prefix)).toEqual(keys.filter((key) => key.startsWith(prefix)))
  expect(scanned('b/', 'b/00100')).toEqual(keys.filter((key) => key.startsWith('b/') && key >= 'b/00100'))
})

test('Keyspace behaves the same with packed blocks and with keys put one by one', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(keyArbitrary, { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      steps,
      (keys, width, list) => {
        const [packed, plain] = [new Keyspace(), new Keyspace()]
        const versions = keys.sort().map((key) => version(key))
        for (let at = 0; at < versions.length; at += width) {
          const part = versions.slice(at, at + width)
          expect(
            packed.appendPacked({
              first: part[0]?.key ?? '',
              last: part.at(-1)?.key ?? '',
              count: part.length,
              unpack: () => part,
            }),
          ).toBe(true)
        }
        for (const one of versions) plain.put(one)
        for (const [index, step] of list.entries()) {
          const made = version(step.key, index)
          for (const keyspace of [packed, plain]) {
            if (step.do === 'put') keyspace.put(made)
            else if (step.do === 'remove') keyspace.remove(step.key)
          }
          expect([packed.size, packed.find(step.key)]).toEqual([plain.size, plain.find(step.key)])
          if (step.do === 'scan') expect(keysFrom(packed, step.key, 3)).toEqual(keysFrom(plain, step.key, 3))
        }
        expect(keysFrom(packed)).toEqual(keysFrom(plain))
      },
    ),
  )
})

/** Numbers below the count, each once, in an order that looks like none. */
const shuffled = (count: number): number[] => Array.from({ length: count }, (_, index) => (index * 7919) % count)

test.each<[string, number[]]>([
  ['rising', Array.from({ length: 5_000 }, (_, index) => index)],
  ['falling', Array.from({ length: 5_000 }, (_, index) => 4_999 - index)],
  ['in no order', shuffled(5_000)],
])('Keyspace keeps many keys that come %s, over many blocks', (_, order) => {
  const keyspace = new Keyspace()
  const name = (index: number): string => `/${String(index).padStart(6, '0')}`
  for (const index of order) keyspace.put(version(name(index)))
  const all = Array.from({ length: 5_000 }, (__, index) => name(index))
  expect(keyspace.size).toBe(5_000)
  expect(keysFrom(keyspace)).toEqual(all)
  for (const index of [0, 1, 511, 512, 513, 2_500, 4_999]) {
    expect(keyspace.find(name(index))?.key).toBe(name(index))
    expect(keysFrom(keyspace, name(index), 3)).toEqual(all.slice(index, index + 3))
    expect(keysFrom(keyspace, `${name(index)}~`, 1)).toEqual(all.slice(index + 1, index + 2))
  }
  for (const index of order.filter((number) => number % 3 !== 0)) keyspace.remove(name(index))
  expect(keysFrom(keyspace)).toEqual(all.filter((__, index) => index % 3 === 0))
  for (const index of order) keyspace.remove(name(index))
  expect([keyspace.size, keysFrom(keyspace), keyspace.find(name(0))]).toEqual([0, [], undefined])
  keyspace.put(version('/again'))
  expect(keysFrom(keyspace)).toEqual(['/again'])
})

test('Keyspace replaces a version in place, also the last and the first of a block', () => {
  const keyspace = new Keyspace()
  for (let index = 0; index < 1_200; index++) keyspace.put(version(String(10_000 + index)))
  for (const key of ['10000', '10511', '10512', '11199']) {
    const newer = version(key, 2)
    keyspace.put(newer)
    expect(keyspace.find(key)).toBe(newer)
  }
  expect(keyspace.size).toBe(1_200)
})

test('Keyspace.remove of a missing key has no effect', () => {
  const keyspace = new Keyspace()
  keyspace.remove('a')
  keyspace.put(version('b'))
  for (const key of ['a', 'bb', 'c']) keyspace.remove(key)
  expect(keysFrom(keyspace)).toEqual(['b'])
})
