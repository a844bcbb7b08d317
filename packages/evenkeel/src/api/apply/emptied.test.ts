import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { fieldTypeOf } from './field-type.ts'
import { fillEmptied } from './merge.ts'
import { gardenSchema } from './schemas.fixture.ts'

const type = fieldTypeOf(gardenSchema)

interface Emptied {
  readonly before: JsonObject
  readonly after: JsonObject
  readonly filled: JsonObject
}

test.each<[string, Emptied]>([
  ['a struct', { before: { box: { a: 'x' } }, after: { box: null }, filled: { box: {} } }],
  [
    'a struct inside another',
    { before: { box: { inner: { c: 'x' } } }, after: { box: { inner: null } }, filled: { box: { inner: {} } } },
  ],
  ['a list', { before: { bees: ['x'] }, after: { bees: null }, filled: { bees: [] } }],
  [
    'a part of an item',
    {
      before: { beds: [{ name: 'b' }, { name: 'a', soil: { kind: 'x' } }] },
      after: { beds: [{ name: 'a', soil: null }] },
      filled: { beds: [{ name: 'a', soil: {} }] },
    },
  ],
  ['nothing that was null before', { before: { box: null }, after: { box: null }, filled: { box: null } }],
  ['nothing that was not there before', { before: {}, after: { box: null }, filled: { box: null } }],
  ['nothing atomic', { before: { colour: { red: 1 } }, after: { colour: null }, filled: { colour: null } }],
])('fillEmptied fills %s', (_, { before, after, filled }) => {
  assert.deepEqual(fillEmptied(after, before, type), filled)
})
