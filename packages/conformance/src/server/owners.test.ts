import { expect, test } from 'vitest'
import { Answer } from './answer.ts'
import type { Loose } from './answer.ts'
import { causesOf } from './causes.ts'
import { managersOf, ownersOf } from './owners.ts'
import type { Place } from './target.ts'

const fieldsV1 = {
  'f:spec': {
    '.': {},
    'f:a': {},
    'f:list': { 'k:{"name":"x","port":1}': { '.': {}, 'f:name': {} } },
    'f:set': { 'v:"y"': {} },
  },
}
const object = {
  metadata: {
    managedFields: [
      { manager: 'm', operation: 'Apply', fieldsV1 },
      { manager: 'u', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
    ],
  },
} as unknown as Loose

test('ownersOf: every manager with the paths it owns', () => {
  expect(managersOf(object)).toEqual(['m Apply', 'u Update status'])
  expect(ownersOf(object)).toEqual({
    'm Apply': [
      '.spec',
      '.spec.a',
      '.spec.list[name="x",port=1]',
      '.spec.list[name="x",port=1].name',
      '.spec.set["y"]',
    ],
    'u Update status': ['.status'],
  })
  expect(ownersOf({ metadata: {} } as Loose)).toEqual({})
})

test('causesOf: one line each, sorted, without names of the case and without values that are objects', () => {
  const causes = [
    { field: 'spec.b', message: 'Invalid value: {"x":1}: bad\n | here' },
    { field: 'spec.a', message: 'Required value: in judge-1' },
    { message: 'plain' },
  ]
  const answer = new Answer('GET /', {
    status: 422,
    headers: {},
    bytes: Buffer.from(JSON.stringify({ details: { causes } })),
  })
  expect(causesOf(answer, { namespace: 'judge-1' } as Place)).toEqual([
    ': plain',
    'spec.a: Required value: in $NS',
    'spec.b: Invalid value: … : bad',
  ])
})
