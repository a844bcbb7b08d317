import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonPath, type JsonPath } from './json-path.ts'

const field = (name: string): JsonPath[number] => ({ type: 'field', name })

test.each<[string, JsonPath]>([
  ['', []],
  ['.', [field('')]],
  ['.a.b', [field('a'), field('b')]],
  ['$.a', [field('a')]],
  ['@ .a', [field('a')]],
  ['.a\\.b', [field('a.b')]],
  ["['a\\.b']", [field('a.b')]],
  ["['a.b']", [field('a'), field('b')]],
  ['.*', [{ type: 'wildcard' }]],
  ['..a', [{ type: 'descend' }, field('a')]],
  ['[0]', [{ type: 'slice', from: 0, single: true }]],
  ['[-1]', [{ type: 'slice', from: -1, single: true }]],
  ['[*]', [{ type: 'slice', single: false }]],
  ['[1:3:2]', [{ type: 'slice', from: 1, to: 3, step: 2, single: false }]],
  ["['a', 'b']", [{ type: 'union', paths: [[field('a')], [field('b')]] }]],
  ['[?(@.a)]', [{ type: 'filter', left: [field('a')], operator: 'exists', right: [] }]],
  ['[?(@.a>=1.5)]', [{ type: 'filter', left: [field('a')], operator: '>=', right: [{ type: 'literal', value: 1.5 }] }]],
  [
    '[?(@.a=="x)\\"y")]',
    [{ type: 'filter', left: [field('a')], operator: '==', right: [{ type: 'literal', value: 'x)"y' }] }],
  ],
  [
    '[?(@.a=="x\'y)z")]',
    [{ type: 'filter', left: [field('a')], operator: '==', right: [{ type: 'literal', value: "x'y)z" }] }],
  ],
  [
    '[?(@.a!=true)]',
    [{ type: 'filter', left: [field('a')], operator: '!=', right: [{ type: 'literal', value: true }] }],
  ],
  ["'\\u00e9\\x41\\101\\n'", [{ type: 'literal', value: 'éAA\n' }]],
  ['range', [{ type: 'word', name: 'range' }]],
])('parsePath reads %s', (text, path) => {
  expect(parseJsonPath(text)).toEqual(path)
})

test.each([
  '[',
  '.a[',
  '.a[0',
  '[x]',
  '[-]',
  '["a"]',
  '[1:2:3:4]',
  '.a{b',
  '.a}',
  '....',
  '-',
  '1.2.3',
  '"open',
  '"bad \\q"',
  '"\\U00110000"',
  '[?(@.a',
  '[?(@.a]',
  '[?(@.a)',
  '[?(@.a=="x)]',
  '.a\\',
  '#',
  '.a\n',
  '"\\ud800"',
])('parsePath refuses %j', (text) => {
  expect(() => parseJsonPath(text)).toThrow(RangeError)
})

test('parsePath refuses a path that is too long', () => {
  expect(parseJsonPath('.a'.repeat(2048))).toHaveLength(2048)
  expect(() => parseJsonPath(`${'.a'.repeat(2048)}.`)).toThrow('a JSON path has at most 4096 characters, got 4097')
})

test('parsePath either reads a text or refuses it', () => {
  const pieces = fc.constantFrom(
    '.',
    '..',
    '[',
    ']',
    '?(',
    ')',
    '@',
    'a',
    "'",
    '"',
    '\\',
    '==',
    '<',
    '*',
    ',',
    ':',
    '-',
    '1',
    ' ',
    '\n',
    'é',
    '__proto__',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      try {
        parseJsonPath(parts.join(''))
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
})
