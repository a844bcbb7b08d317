import { expect, test } from 'vitest'
import { Masks, type Shown } from './learned.ts'
import { compareSnapshots, type Snapshot } from './snapshot.ts'

type Things = Readonly<Record<string, readonly unknown[]>>

function snapshot(things: Things): Snapshot {
  return new Map(Object.entries(things).map(([about, values]) => [about, values.map((value) => JSON.stringify(value))]))
}

function shown({ wishes = {}, objects = {}, external = {} }: Partial<Record<keyof Shown, Things>>): Shown {
  return { wishes: snapshot(wishes), objects: snapshot(objects), external: snapshot(external) }
}

function learned(first: Parameters<typeof shown>[0], ...variants: Parameters<typeof shown>[0][]): Masks {
  const masks = new Masks()
  for (const variant of variants) masks.learn(shown(first), shown(variant))
  return masks
}

/** What differs after masking. */
function differences(masks: Masks, one: Things, other: Things): string[] {
  const section = Object.keys(one).some((about) => about.startsWith('cloud ')) ? 'external' : 'objects'
  return compareSnapshots(masks.masked(snapshot(one), section), masks.masked(snapshot(other), section)).map(
    ({ type, about }) => `${type} ${about}`,
  )
}

const secret = (text: string): Things => ({
  'Secret default/a': [{ data: { crt: Buffer.from(text).toString('base64') } }],
})

test('only the part that differed in a variant is masked, also in a Secret', () => {
  const masks = learned({ objects: secret('host a, serial 1') }, { objects: secret('host a, serial 4') })
  expect(differences(masks, secret('host a, serial 1'), secret('host a, serial 9'))).toEqual([])
  expect(differences(masks, secret('host a, serial 1'), secret('host b, serial 9'))).toEqual([
    'changed Secret default/a',
  ])
})

test('a child whose name differs in a variant is matched by the rest of its name', () => {
  const of = (number: number, text = 'one'): Things => ({
    [`ConfigMap default/a-rev-${number}`]: [{ data: { text, rev: String(number) } }],
    'ConfigMap default/settings': [{}],
  })
  const masks = learned({ objects: of(1) }, { objects: of(4) })
  expect(masks.nameOf('ConfigMap default/a-rev-12', 'objects')).toBe('ConfigMap default/a-rev-*')
  expect(masks.nameOf('ConfigMap default/settings', 'objects')).toBe('ConfigMap default/settings')
  expect(differences(masks, of(1), of(9))).toEqual([])
  expect(differences(masks, of(1), of(9, 'two'))).toEqual(['changed ConfigMap default/a-rev-*'])
  expect(differences(masks, of(1), { ...of(9), ...of(10) })).toEqual(['extra ConfigMap default/a-rev-*'])
})

test('of a service only the resources of the program are compared with a variant in which others use it', () => {
  const [first, used] = [
    { 'cloud buckets b-1': [{ owner: 'a' }] },
    { 'cloud buckets b-1': [{ owner: 'other' }], 'cloud buckets b-2': [{ owner: 'a' }] },
  ]
  const masks = new Masks()
  const others = { external: snapshot({ 'cloud buckets b-1': [{ owner: 'other' }] }) }
  // In the variant before, the services were as new: the name was the same.
  masks.learn(shown({ external: first }), shown({ external: first }))
  masks.learn(shown({ external: first }), shown({ external: used }), others)
  expect(differences(masks, first, { 'cloud buckets b-7': [{ owner: 'a' }] })).toEqual([])
  expect(differences(masks, first, { 'cloud buckets b-7': [{ owner: 'c' }] })).toEqual(['changed cloud buckets b-*'])
})

test('what a user named keeps its name, and its wishes are compared', () => {
  const of = (number: number, version = '15'): Things => ({
    [`App default/a`]: [{ spec: { version }, status: { number } }],
  })
  const wishes = { 'App default/a': [{ spec: { version: '15' } }] }
  const masks = learned({ wishes, objects: of(1) }, { wishes, objects: of(2) })
  expect(differences(masks, of(1), of(3))).toEqual([])
  expect(differences(masks, of(1), of(3, '16'))).toEqual(['changed App default/a'])
})
