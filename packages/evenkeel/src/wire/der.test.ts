import { describe, expect, test } from 'vitest'
import {
  bitString,
  explicit,
  implicit,
  namedBits,
  octetString,
  oid,
  sequence,
  setOf,
  time,
  truth,
  unsigned,
  utf8,
} from './der.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('der', () => {
  test('octetString writes the shortest length', () => {
    expect(hex(octetString(new Uint8Array(0)))).toBe('0400')
    expect(hex(octetString(new Uint8Array(127))).slice(0, 4)).toBe('047f')
    expect(hex(octetString(new Uint8Array(128))).slice(0, 6)).toBe('048180')
    expect(hex(octetString(new Uint8Array(256))).slice(0, 8)).toBe('04820100')
    expect(hex(octetString(new Uint8Array(65_536))).slice(0, 10)).toBe('0483010000')
  })

  test('unsigned has no spare zero and never looks negative', () => {
    const table: [number[], string][] = [
      [[0], '020100'],
      [[0, 0, 1], '020101'],
      [[0x7f], '02017f'],
      [[0x80], '02020080'],
      [[0, 0x80], '02020080'],
      [[1, 0], '02020100'],
    ]
    for (const [bytes, expected] of table) expect(hex(unsigned(Uint8Array.from(bytes)))).toBe(expected)
  })

  test('oid writes large arcs in base 128', () => {
    expect(hex(oid('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302')
    expect(hex(oid('2.5.29.17'))).toBe('0603551d11')
  })

  test('namedBits leaves out trailing zero bits', () => {
    expect(hex(namedBits(0))).toBe('03020780')
    expect(hex(namedBits(5, 6))).toBe('03020106')
    expect(hex(namedBits(8))).toBe('0303070080')
  })

  test('time has two digits of the year from 1950 to 2049', () => {
    expect(Buffer.from(time('2026-03-01T12:00:00Z')).toString('latin1')).toBe('\x17\x0d260301120000Z')
    expect(Buffer.from(time('2049-12-31T23:59:59Z')).toString('latin1')).toBe('\x17\x0d491231235959Z')
    expect(Buffer.from(time('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z')
    expect(Buffer.from(time('1949-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f19490101000000Z')
  })

  test('the small ones', () => {
    expect(hex(truth())).toBe('0101ff')
    expect(hex(utf8('ö'))).toBe('0c02c3b6')
    expect(hex(sequence(truth(), truth()))).toBe('30060101ff0101ff')
    expect(hex(setOf(truth()))).toBe('31030101ff')
    expect(hex(octetString(Uint8Array.of(1)))).toBe('040101')
    expect(hex(bitString(Uint8Array.of(1)))).toBe('03020001')
    expect(hex(explicit(3, truth()))).toBe('a3030101ff')
    expect(hex(implicit(2, Uint8Array.of(97)))).toBe('820161')
  })
})
