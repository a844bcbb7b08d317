import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringsLike, stringsOf } from './values.ts'

test('a string with a pattern gets the nearest value that matches, and one built from the pattern', () => {
  expect(stringsLike(String.raw`^\d+(Mi|Gi)$`, { now: '10Gi' })).toEqual(['11Gi', '0Mi'])
  expect(stringsLike(String.raw`^v\d+\.\d+$`, { now: undefined })).toEqual(['v0.0'])
  expect(stringsLike('^(small|large)$', { now: 'small' })).toEqual(['large'])
  expect(stringsLike('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', { now: 'web' })).toEqual(['web-other', 'a'])
  expect(stringsLike('^[A-Za-z-]+$', { now: 'web' })).toEqual(['web-other', 'Web', 'a'])
  expect(stringsLike('^[A-Z]{3}-[^-]+$', { now: undefined, minLength: 6 })).toEqual(['AAA-aa'])
})

test('a pattern that is not understood or allows no other value gives none', () => {
  expect(stringsLike('^(?=.*x)yx$', { now: 'yx' })).toEqual([])
  expect(stringsLike('^only$', { now: 'only' })).toEqual([])
  expect(stringsLike('(', { now: 'a' })).toEqual([])
  expect(stringsLike('^a+$', { now: 'aaa', maxLength: 3 })).toEqual(['a'])
})

test('all values of a pattern match it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(
        '^[a-z]+-[0-9]{2,4}$',
        String.raw`^\w+(\.\w+)*@\w+$`,
        '^(a|bc|d?e)+$',
        '^[^/]+/[^/]+$',
        '.*',
        'x?y{3}',
      ),
      fc.option(fc.string(), { nil: undefined }),
      (pattern, now) => {
        for (const text of stringsLike(pattern, { now })) expect(text).toMatch(new RegExp(pattern, 'u'))
      },
    ),
  )
})

test('a string with a format gets another value of it', () => {
  expect(stringsOf('date-time', '2026-01-01T00:00:00Z')).toEqual(['2031-05-06T07:08:09Z'])
  expect(stringsOf('duration', '7m')).toEqual(['8m'])
  expect(stringsOf('unknown', 'a')).toEqual([])
})
