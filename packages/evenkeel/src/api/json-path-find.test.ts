import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findByJsonPath, parseJsonPath } from './json-path.ts'

const data: unknown = JSON.parse(`{
  "list": [1, 2, 3, 4, 5], "nothing": null, "text": "abc", "nested": { "a": { "a": 1 }, "b": [ { "a": 2 } ] },
  "items": [ { "n": 1, "t": "x", "ok": true }, { "n": 2, "t": "y", "ok": false, "same": 2 }, { "t": "z" } ],
  "__proto__": { "own": 1 }
}`)

test.each<[string, readonly unknown[] | undefined]>([
  ['', [data]],
  ['.list', [[1, 2, 3, 4, 5]]],
  ['.missing', []],
  ['.missing.more[0]', []],
  ['.text.length', []],
  ['.nothing', [null]],
  ['.nothing.a', []],
  ['.nothing[0]', []],
  ['.list[0]', [1]],
  ['.list[-1]', [5]],
  ['.list[5]', undefined],
  ['.list[-6]', undefined],
  ['.text[0]', undefined],
  ['.list[*]', [1, 2, 3, 4, 5]],
  ['.list[1:3]', [2, 3]],
  ['.list[:2]', [1, 2]],
  ['.list[3:]', [4, 5]],
  ['.list[-2:]', [4, 5]],
  ['.list[:-3]', [1, 2]],
  ['.list[::2]', [1, 3, 5]],
  ['.list[::0]', undefined],
  ['.list[2:2]', []],
  ['.list[3:2]', undefined],
  ['.list[]', [1]],
  ['.list[0,2]', [1, 3]],
  ["['text','nothing']", ['abc', null]],
  ['.nested.*', [{ a: 1 }, [{ a: 2 }]]],
  ['.nested..a', [{ a: 1 }, 1, 2]],
  ['.items[?(@.ok)].n', [1, 2]],
  ['.items[?(@.ok)].t', ['x', 'y']],
  ['.items[?(@.t=="y")].n', [2]],
  ['.items[?(@.n>1)].t', ['y']],
  ['.items[?(@.n<=1)].t', ['x']],
  ['.items[?(@.t>="y")].t', ['y', 'z']],
  ['.items[?(@.ok==true)].n', [1]],
  ['.items[?(@.ok!=true)].n', [2]],
  ['.items[?(@.ok>true)].n', undefined],
  ['.items[?(@.n==@.same)].t', ['y']],
  ['.items[?(@.n=="1")]', undefined],
  ['.items[?(@.n==1.5)]', undefined],
  ['.items[?(@.n=1)]', undefined],
  ['.items[?(@.*==1)]', undefined],
  ['.text[?(@.a)]', undefined],
  ['.nothing[?(@.a)]', undefined],
  ['range', undefined],
  ['.__proto__.own', [1]],
  ['.constructor', []],
  ['.nested.__proto__', []],
])('findAll of %s', (path, found) => {
  expect(findByJsonPath(parseJsonPath(path), data)).toEqual(found)
})

test('findAll gives up when there is too much to look at', () => {
  const wide = Array.from({ length: 400 }, () => Array.from({ length: 400 }, () => ({ a: 1 })))
  expect(findByJsonPath(parseJsonPath('[*][*].a'), wide)).toBeUndefined()
  let deep: unknown = 1
  for (let level = 0; level < 50_000; level++) deep = { a: deep }
  expect(findByJsonPath(parseJsonPath('..a..a'), deep)).toBeUndefined()
})

test('findAll never throws, whatever the data', () => {
  const paths = [
    '.a',
    '.a[0]',
    '.*',
    '..',
    '..a',
    '[*]',
    '[?(@.a)]',
    '.a[?(@.b==1)].c',
    '[0,1]',
    "['a','b']",
    '[-1:]',
  ].map(parseJsonPath)
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...paths), (value, path) => {
      const found = findByJsonPath(path, value)
      expect(found === undefined || Array.isArray(found)).toBe(true)
    }),
  )
})

test('findByJsonPath visits exactly 100,000 values and no more', () => {
  const many = (count: number): unknown => ({ list: new Array<number>(count).fill(0) })
  // The list itself is a visit as well.
  expect(findByJsonPath(parseJsonPath('.list[*]'), many(99_999))).toHaveLength(99_999)
  expect(findByJsonPath(parseJsonPath('.list[*]'), many(100_000))).toBeUndefined()
})
