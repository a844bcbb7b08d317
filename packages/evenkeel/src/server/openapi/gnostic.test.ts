import { expect, test } from 'vitest'
import { encodeDocumentV2 } from './gnostic.ts'

/** Fields in the order of the bytes: tag, and a number or the bytes of a length-delimited value. */
function fields(bytes: Uint8Array): [number, number | Uint8Array][] {
  const found: [number, number | Uint8Array][] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    if ((key & 7) === 0) found.push([key >> 3, varint()])
    else {
      const length = (key & 7) === 1 ? 8 : varint()
      found.push([key >> 3, bytes.subarray(at, (at += length))])
    }
  }
  return found
}

/** The message at a path of tags; the first one where a tag is repeated. */
function dig(bytes: Uint8Array, ...tags: number[]): Uint8Array {
  return tags.reduce((message, tag) => fields(message).find(([one]) => one === tag)?.[1] as Uint8Array, bytes)
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** The schema called `x` of a document that has only this one. */
function schema(definition: Record<string, unknown>): Uint8Array {
  return dig(encodeDocumentV2({ definitions: { x: definition as never } }), 9, 1, 2)
}

test('encodeDocumentV2 writes the head of a document', () => {
  const bytes = encodeDocumentV2({ swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' } })
  expect(Buffer.from(bytes).toString('hex')).toBe('0a03322e3012100a0a4b756265726e65746573120276' + '31')
})

test('encodeDocumentV2 writes a map as names with values', () => {
  const bytes = encodeDocumentV2({ definitions: { a: { type: 'object' }, b: { $ref: '#/definitions/a' } } })
  const entries = fields(dig(bytes, 9)).map(([tag, entry]) => [tag, text(dig(entry as Uint8Array, 1))])
  expect(entries).toEqual([
    [1, 'a'],
    [1, 'b'],
  ])
  expect(text(dig(bytes, 9, 1, 2, 22, 1))).toBe('object')
})

test('encodeDocumentV2 writes every kind of field of a schema', () => {
  expect(text(dig(schema({ format: 'int32' }), 2))).toBe('int32')
  expect(Buffer.from(dig(schema({ maximum: 1.5 }), 7)).readDoubleLE()).toBe(1.5)
  expect(fields(schema({ maxLength: 300, uniqueItems: true }))).toEqual([
    [11, 300],
    [16, 1],
  ])
  expect(fields(schema({ required: ['a', ''] })).map(([tag, value]) => [tag, text(value as Uint8Array)])).toEqual([
    [19, 'a'],
    [19, ''],
  ])
  expect(text(dig(schema({ items: { type: 'string' } }), 23, 1, 22, 1))).toBe('string')
  expect(text(dig(schema({ additionalProperties: { type: 'string' } }), 21, 1, 22, 1))).toBe('string')
  expect(fields(dig(schema({ additionalProperties: true }), 21))).toEqual([[2, 1]])
  expect(text(dig(schema({ properties: { p: { type: 'string' } } }), 25, 1, 2, 22, 1))).toBe('string')
})

test('encodeDocumentV2 writes free values as text', () => {
  expect(text(dig(schema({ default: {} }), 5, 2))).toBe('{}\n')
  expect(text(dig(schema({ enum: ['a', 'b'] }), 20, 2))).toBe('a\n')
  const extension = dig(schema({ 'x-kubernetes-list-type': 'map' }), 31)
  expect([text(dig(extension, 1)), text(dig(extension, 2, 2))]).toEqual(['x-kubernetes-list-type', 'map\n'])
  const list = schema({ 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.a' }, { fieldPath: 'spec.b' }] })
  expect(text(dig(list, 31, 2, 2))).toBe('- fieldPath: spec.a\n- fieldPath: spec.b\n')
})

test('encodeDocumentV2 leaves out zero values and keys without a field', () => {
  expect(
    schema({ maximum: 0, minLength: 0, uniqueItems: false, format: '', nullable: true, constructor: 'x' }),
  ).toHaveLength(0)
})

test('encodeDocumentV2 writes negative whole numbers in ten bytes', () => {
  expect(Buffer.from(schema({ minLength: -1 })).toString('hex')).toBe('60ffffffffffffffffff01')
})

test('encodeDocumentV2 tells parameters apart by their place', () => {
  const bytes = encodeDocumentV2({
    paths: {
      '/a': {
        parameters: [{ name: 'n', in: 'path', required: true, type: 'string' }],
        get: {
          parameters: [
            { name: 'q', in: 'query', type: 'boolean' },
            { name: 'body', in: 'body', schema: {} },
          ],
        },
      },
    },
  })
  const item = dig(bytes, 8, 2, 2)
  expect(text(dig(item, 9, 1, 2, 4, 4))).toBe('n')
  expect(text(dig(item, 2, 8, 1, 2, 3, 4))).toBe('q')
  const second = fields(dig(item, 2)).filter(([tag]) => tag === 8)[1]?.[1] as Uint8Array
  expect(text(dig(second, 1, 1, 2))).toBe('body')
})

test('encodeDocumentV2 writes answers by code', () => {
  const bytes = encodeDocumentV2({
    paths: { '/a': { get: { responses: { 200: { description: 'OK', schema: { type: 'string' } } } } } },
  })
  const entry = dig(bytes, 8, 2, 2, 2, 9, 1)
  expect(text(dig(entry, 1))).toBe('200')
  expect(text(dig(entry, 2, 1, 1))).toBe('OK')
  expect(text(dig(entry, 2, 1, 2, 1, 22, 1))).toBe('string')
})

test('encodeDocumentV2 grows beyond its first buffer', () => {
  const title = 'é'.repeat(100_000)
  expect(text(dig(encodeDocumentV2({ info: { title, version: '1' } }), 2, 1))).toBe(title)
})

test('encodeDocumentV2 writes messages of every length around the limits of one and two bytes of length', () => {
  for (const length of [126, 127, 128, 129, 16_383, 16_384]) {
    // The message has the text, its tag and its length: two or three bytes.
    const title = 'a'.repeat(length - (length < 130 ? 2 : length < 16_388 ? 4 : 5))
    const bytes = encodeDocumentV2({ info: { title }, swagger: '2.0' } as never)
    expect(text(dig(bytes, 2, 1))).toBe(title)
    expect(text(dig(bytes, 1))).toBe('2.0')
  }
})

test('encodeDocumentV2 writes shared parameters and references to them', () => {
  const bytes = encodeDocumentV2({
    paths: { '/a': { parameters: [{ $ref: '#/parameters/n' }] } },
    parameters: { n: { name: 'n', in: 'query', type: 'string', description: 'A name.' } },
  })
  expect(text(dig(bytes, 8, 2, 2, 9, 2, 1))).toBe('#/parameters/n')
  expect(text(dig(bytes, 10, 1, 1))).toBe('n')
  expect(text(dig(bytes, 10, 1, 2, 2, 3, 3))).toBe('A name.')
})

test('encodeDocumentV2 writes descriptions of operations and bodies', () => {
  const get = { description: 'Reads.', schemes: ['https'], parameters: [{ in: 'body', description: 'The object.' }] }
  const operation = dig(encodeDocumentV2({ paths: { '/a': { get } } }), 8, 2, 2, 2)
  expect(text(dig(operation, 3))).toBe('Reads.')
  expect(text(dig(operation, 10))).toBe('https')
  expect(text(dig(operation, 8, 1, 1, 1))).toBe('The object.')
})
