import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { JsonObjectDraft } from '@evenkeel/cel/primitives'
import { restoreNulls } from './would-apply-change.ts'

test('restoreNulls writes what reading dropped, and nothing else', () => {
  const read: JsonObjectDraft = { a: {}, list: [{ b: 1 }, {}], short: [1], kept: null }
  restoreNulls(read, {
    a: { x: null, y: 1 },
    list: [{ b: 1 }, { c: null }],
    short: [1, null],
    kept: null,
    gone: { z: null },
  })
  assert.deepEqual(read, { a: { x: null }, list: [{ b: 1 }, { c: null }], short: [1], kept: null })
})

test('restoreNulls takes __proto__ for a name', () => {
  const read: JsonObjectDraft = {}
  restoreNulls(read, JSON.parse('{"__proto__":null}') as JsonObjectDraft)
  assert.deepEqual(Object.keys(read), ['__proto__'])
  assert.equal(Object.getPrototypeOf(read), Object.prototype)
})
