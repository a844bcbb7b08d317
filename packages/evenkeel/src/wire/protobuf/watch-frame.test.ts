import { describe, expect, test } from 'vitest'
import { decodeProtobuf, decodeWatchFrame, encodeProtobuf, encodeWatchFrame } from './envelope.ts'
import { bytes, field, number } from './wire-bytes.fixture.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '5' } }

describe('encodeWatchFrame', () => {
  test('writes the length, then an event without an envelope around an object with one', () => {
    const object = encodeProtobuf(configMap)
    const event = bytes(field(1, 'ADDED'), field(2, field(1, object)))
    expect(encodeWatchFrame('ADDED', object)).toEqual(bytes([0, 0, 0, event.length], event))
  })

  test('writes the length with its highest byte first', () => {
    const frame = encodeWatchFrame('MODIFIED', new Uint8Array(70_000))
    expect(new DataView(frame.buffer).getUint32(0)).toBe(frame.length - 4)
  })
})

describe('decodeWatchFrame', () => {
  test('gives back type and object', () => {
    const frame = encodeWatchFrame('DELETED', encodeProtobuf(configMap))
    const { type, object } = decodeWatchFrame(frame.subarray(4))
    expect(type).toBe('DELETED')
    expect(decodeProtobuf(object)).toEqual(configMap)
  })

  test('passes over what it does not know', () => {
    expect(
      decodeWatchFrame(bytes(number(9, 1), field(2, number(9, 1), field(1, 'x')), field(1, 'ADDED'))),
    ).toMatchObject({ type: 'ADDED' })
  })

  test.each([
    ['without a type', field(2, field(1, 'x')), 'must have a type and an object'],
    ['without an object', field(1, 'ADDED'), 'must have a type and an object'],
    ['with an empty object', bytes(field(1, 'ADDED'), field(2)), 'must have a type and an object'],
    ['that is cut off', bytes(field(1, 'ADDED'), [0x12, 9, 1]), 'ends in the middle'],
  ])('refuses an event %s', (_, event, message) => expect(() => decodeWatchFrame(event)).toThrow(message))
})
