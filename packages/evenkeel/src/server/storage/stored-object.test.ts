import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '#api'
import { restamped, StoredObject, typeLength, Unstamped } from './stored-object.ts'

const type = { apiVersion: 'apps/v1', kind: 'Deployment' }
const fields = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((key) => !['apiVersion', 'kind', 'metadata'].includes(key)),
  fc.jsonValue({ maxDepth: 3 }),
  { noNullPrototype: true, maxKeys: 4 },
)
const metadata = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((key) => key !== 'resourceVersion'),
  fc.jsonValue({ maxDepth: 2 }),
  { noNullPrototype: true, maxKeys: 4 },
)
const plain = <T>(value: T): T => parseJson(JSON.stringify(value)) as T

test('Unstamped and StoredObject keep every field, and the version that was stamped', () => {
  fc.assert(
    fc.property(fields, metadata, fc.integer({ min: 1 }), (rest, meta, revision) => {
      const object = { ...plain(rest), ...type, metadata: { ...plain(meta), resourceVersion: '999' } }
      const unstamped = new Unstamped(object)
      const inserted = Buffer.concat([
        unstamped.value.subarray(0, unstamped.stampAt),
        Buffer.from(String(revision)),
        unstamped.value.subarray(unstamped.stampAt),
      ])
      expect(Buffer.from(unstamped.stamped(revision)).equals(inserted)).toBe(true)
      expect(new StoredObject(inserted, revision).object).toEqual({
        ...object,
        metadata: { ...object.metadata, resourceVersion: String(revision) },
      })
    }),
  )
})

test('Unstamped keeps a key named __proto__', () => {
  const object = JSON.parse(
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"__proto__":1},"__proto__":{"a":1},"data":{"__proto__":"x"}}',
  ) as never
  const text = Buffer.from(new Unstamped(object).stamped(5)).toString()
  expect(text).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"5","__proto__":1},"__proto__":{"a":1},"data":{"__proto__":"x"}}',
  )
})

test('typeLength and restamped cut where the parts meet', () => {
  const bytes = new Unstamped({ ...type, metadata: { name: 'ä"b' }, spec: {} }).stamped(12)
  expect(Buffer.from(bytes.subarray(typeLength(type.apiVersion, type.kind))).toString()).toBe(
    '"metadata":{"resourceVersion":"12","name":"ä\\"b"},"spec":{}}',
  )
  expect(new StoredObject(restamped(bytes, 1234567), 1234567).object).toEqual({
    ...type,
    metadata: { resourceVersion: '1234567', name: 'ä"b' },
    spec: {},
  })
})

test('StoredObject.draft is a copy of its own', () => {
  const stored = new StoredObject(new Unstamped({ ...type, metadata: {} }).stamped(1), 1)
  expect(stored.object).toBe(stored.object)
  expect(stored.draft()).toEqual(stored.object)
  expect(stored.draft()).not.toBe(stored.object)
})

test('StoredObject reads labels as the parsed object has them, whatever lies beside them', () => {
  const labels = fc.option(fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 })), { nil: undefined })
  fc.assert(
    fc.property(fields, metadata, labels, (rest, meta, wanted) => {
      const object = { ...plain(rest), ...type, metadata: { ...plain(meta), ...(wanted && { labels: wanted }) } }
      const bytes = new Unstamped(object as never).stamped(7)
      expect(new StoredObject(bytes, 7).labels).toEqual(new StoredObject(bytes, 7).object.metadata.labels ?? {})
    }),
  )
})

test('StoredObject reads labels of an object that another program wrote', () => {
  const text = '{ "metadata": { "labels": { "a": "b" }, "resourceVersion": "5" }, "kind": "ConfigMap" }'
  expect(new StoredObject(Buffer.from(text), 5).labels).toEqual({ a: 'b' })
})

test('StoredObject that keeps nothing parsed shares no object', () => {
  const stored = new StoredObject(new Unstamped({ ...type, metadata: { name: 'a' } }).stamped(7), 7, {
    keepsParsed: false,
  })
  expect(stored.object).not.toBe(stored.object)
  expect(stored.object).toEqual(stored.object)
})

test('StoredObject reads fields of its metadata without parsing the rest', () => {
  const text = '{"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a","finalizers":["x"]},"spec":'
  const broken = new StoredObject(Buffer.from(`${text}{"namespace":"b"}, this is not parsed`), 7)
  expect([broken.metadataField('resourceVersion'), broken.metadataField('name')]).toEqual(['7', 'a'])
  expect([broken.metadataField('finalizers'), broken.metadataField('namespace')]).toEqual([['x'], undefined])
  const other = new StoredObject(Buffer.from('{"metadata":{"name":"a"},"kind":"A","apiVersion":"v1"}'), 7)
  expect(other.metadataField('name')).toBe('a')
})
