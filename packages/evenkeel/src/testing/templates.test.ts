import { expect, test } from 'vitest'
import { templateOf } from './templates.ts'

test.each([
  ['web-rev-1', 'web-rev-4', 'web-rev-*', 'web-rev-17'],
  ['rev7', 'rev12', 'rev*', 'rev9'],
  ['10.0.0.1 a.example.com', '10.0.0.2 a.example.com', '10.0.0.* a.example.com', '10.0.0.40 a.example.com'],
  ['x7f3', 'k2p9', '*', 'a+b/c=='],
  [
    'serial 9, for a.example.com',
    'serial 0x1/7, for a.example.com',
    'serial *, for a.example.com',
    'serial 8, for a.example.com',
  ],
])('%s and %s have %s in common, as has %s', (...texts) => {
  const [one, other, text, third] = texts
  const template = templateOf(one, other)
  expect(template.text).toBe(text)
  for (const each of [one, other, third]) expect(template.matches(each)).toBe(true)
})

test('a template does not match a text in which a common part differs', () => {
  expect(templateOf('10.0.0.1 host a', '10.0.0.2 host a').matches('10.0.0.1 host b')).toBe(false)
  expect(templateOf('web-1', 'web-2').matches('web-next')).toBe(false)
})

test('texts of different structure are aligned at the words of the user', () => {
  const [one, other] = ['k+x for v15 in b', 'k2p for v15 in/c b']
  expect(templateOf(one, other, new Set(['v15'])).matches('anything for v15 in d b')).toBe(true)
  expect(templateOf(one, other, new Set(['v15'])).matches('anything for v16 in d b')).toBe(false)
})
