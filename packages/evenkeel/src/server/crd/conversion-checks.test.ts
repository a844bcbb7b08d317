import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '#api'
import { checkConverted } from './conversion.ts'

const options = { converter: 'conversion webhook', apiVersion: 'a.example.com/v2' }
const metadata = { name: 'x', namespace: 'n', uid: 'u', generation: 3, labels: { old: 'yes' } }
const sent: JsonObject = { apiVersion: 'a.example.com/v1', kind: 'Thing', metadata, spec: { a: 1 } }
const good: JsonObject = { ...sent, apiVersion: 'a.example.com/v2', spec: { b: 1 } }
const subject = 'conversion webhook for a.example.com/v1, Kind=Thing'

describe('checkConverted', () => {
  test('keeps all metadata but labels and annotations as it was', () => {
    const changed = {
      ...good,
      metadata: { ...metadata, generation: 99, finalizers: ['a'], labels: { new: '1' }, annotations: { note: 'x' } },
    }
    expect(checkConverted([sent], [changed], options)).toEqual([
      { ...good, metadata: { ...metadata, labels: { new: '1' }, annotations: { note: 'x' } } },
    ])
    expect(checkConverted([sent], [{ ...good, metadata: { name: 'x', namespace: 'n', uid: 'u' } }], options)).toEqual([
      { ...good, metadata: { name: 'x', namespace: 'n', uid: 'u', generation: 3 } },
    ])
  })

  test('does not judge labels again that were there before', () => {
    const odd = { ...metadata, labels: { 'bad label': 'x' } }
    expect(checkConverted([{ ...sent, metadata: odd }], [{ ...good, metadata: odd }], options)).toHaveLength(1)
  })

  test('does not take a key for a prototype', () => {
    const labels = JSON.parse('{"__proto__":"x"}') as JsonObject
    expect(() => checkConverted([sent], [{ ...good, metadata: { ...metadata, labels } }], options)).toThrow(
      'returned invalid metadata: metadata.labels: Invalid value: "__proto__"',
    )
  })

  test.each<[string, JsonValue, string]>([
    [
      'another version',
      { ...good, apiVersion: 'a.example.com/v3' },
      `${subject} returned invalid object at index 0: invalid groupVersion (expected a.example.com/v2, received a.example.com/v3)`,
    ],
    [
      'no version',
      { ...good, apiVersion: undefined },
      `${subject} returned invalid object at index 0: invalid groupVersion (expected a.example.com/v2, received )`,
    ],
    [
      'another kind',
      { ...good, kind: 'Other' },
      `${subject} returned invalid object at index 0: invalid kind (expected Thing, received Other)`,
    ],
    [
      'no kind',
      { apiVersion: 'a.example.com/v2' },
      'Object \'Kind\' is missing in \'{"apiVersion":"a.example.com/v2"}\'',
    ],
    [
      'another name',
      { ...good, metadata: { ...metadata, name: 'y' } },
      `${subject} returned invalid object: must have the same name: x != y`,
    ],
    [
      'another namespace',
      { ...good, metadata: { ...metadata, namespace: 'm' } },
      `${subject} returned invalid object: must have the same namespace: n != m`,
    ],
    [
      'another uid',
      { ...good, metadata: { ...metadata, uid: 'v' } },
      `${subject} returned invalid object: must have the same UID: u != v`,
    ],
    [
      'no metadata',
      { apiVersion: 'a.example.com/v2', kind: 'Thing' },
      `${subject} returned invalid object: must have the same name: x != `,
    ],
    [
      'labels that are none',
      { ...good, metadata: { ...metadata, labels: 'x' } },
      `${subject} returned invalid metadata: invalid metadata.labels of type string in converted object`,
    ],
    [
      'a label that is no text',
      { ...good, metadata: { ...metadata, labels: { a: 1 } } },
      `${subject} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
    ],
    ['nothing', null, 'a converted object must be an object, got null'],
  ])('refuses %s', (_, converted, message) => {
    expect(() => checkConverted([sent], [converted], options)).toThrow(
      expect.objectContaining({ message, code: 500, reason: 'Unknown' }),
    )
  })

  test('refuses another number of objects, and says which of several is wrong', () => {
    expect(() => checkConverted([sent], [], options)).toThrow(`${subject} returned 0 objects, expected 1`)
    expect(() =>
      checkConverted([sent, sent], [good, { ...good, metadata: { ...metadata, name: 'y' } }], options),
    ).toThrow(`${subject} returned invalid converted object at index 1: must have the same name: x != y`)
  })
})
