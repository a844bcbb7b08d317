import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareResourceVersions,
  formatResourceVersion,
  isResourceVersion,
  parseRequestedVersion,
} from './resource-version.ts'

const malformed = ['', '0', '00', '01', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '1\n', 'abc', '0x1', '١']

describe('compareResourceVersions', () => {
  test('orders like whole numbers of any size', () => {
    const version = fc.oneof(fc.bigInt({ min: 1n, max: 1000n }), fc.bigInt({ min: 1n, max: 2n ** 200n }))
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a === b ? 0 : a < b ? -1 : 1
        expect(compareResourceVersions(String(a), String(b))).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('sees the difference of one beyond 2^53, where numbers cannot', () => {
    expect(Number('9007199254740993')).toBe(Number('9007199254740992'))
    expect(compareResourceVersions('9007199254740993', '9007199254740992')).toBe(1)
  })

  test.each(malformed)('refuses %j on either side', (text) => {
    expect(() => compareResourceVersions(text, '1')).toThrow(`resource version is not well formed: ${text}`)
    expect(() => compareResourceVersions('1', text)).toThrow(RangeError)
  })
})

test('isResourceVersion knows live versions', () => {
  expect(['1', '10', '9'.repeat(40)].every(isResourceVersion)).toBe(true)
  expect(malformed.some(isResourceVersion)).toBe(false)
})

describe('parseRequestedVersion', () => {
  test.each([
    [undefined, { kind: 'newest' }],
    ['', { kind: 'newest' }],
    ['0', { kind: 'any' }],
    ['17', { kind: 'version', version: '17' }],
    ['18446744073709551615', { kind: 'version', version: '18446744073709551615' }],
  ] as const)('%j', (text, requested) => expect(parseRequestedVersion(text)).toEqual(requested))

  const impossible = ['18446744073709551616', '9'.repeat(30)]
  test.each([...malformed.filter((text) => text !== '' && text !== '0'), ...impossible])(
    'has no answer for %j',
    (text) => {
      expect(parseRequestedVersion(text)).toBeUndefined()
    },
  )
})

describe('formatResourceVersion', () => {
  test.each([
    [1, '1'],
    [10, '10'],
    [2 ** 53 - 1, '9007199254740991'],
  ])('%d', (revision, text) => {
    expect(formatResourceVersion(revision)).toBe(text)
    expect(isResourceVersion(text)).toBe(true)
  })

  test.each([0, -1, 1.5, NaN, Infinity, 2 ** 53])('refuses %d', (revision) => {
    expect(() => formatResourceVersion(revision)).toThrow(RangeError)
  })
})
