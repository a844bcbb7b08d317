import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { contractReader } from './contract.ts'

const schema = {
  type: 'object',
  required: ['host'],
  properties: {
    host: { type: 'string', pattern: '^[a-z.]+$' },
    ports: { type: 'array', items: { type: 'integer', maximum: 65_535 } },
  },
} as const

function object(status: unknown): KubeObject {
  return { apiVersion: 'v1', kind: 'App', metadata: { name: 'a' }, status } as KubeObject
}

test.each([
  ['nothing', undefined, { reason: 'ContractMissing', message: 'it does not publish status.address' }],
  ['null', { address: null }, { reason: 'ContractMissing' }],
  ['a status that is a text', 'up', { reason: 'ContractMissing' }],
  ['a missing field', { address: {} }, { reason: 'ContractInvalid', message: 'status.address.host: Required value' }],
  ['a pattern that does not match', { address: { host: 'A' } }, { reason: 'ContractInvalid' }],
  ['a wrong item', { address: { host: 'a', ports: [80, 70_000] } }, { reason: 'ContractInvalid' }],
  ['the right thing', { address: { host: 'a.b', ports: [80] } }, { value: { host: 'a.b', ports: [80] } }],
])('contractReader with a JSON Schema: %s', async (_, status, expected) => {
  expect(await contractReader({ path: 'status.address', schema }).read(object(status))).toMatchObject(expected)
})

test('contractReader names the place of what is wrong in a list', async () => {
  const read = await contractReader({ path: ['status', 'address'], schema }).read(
    object({ address: { host: 'a', ports: [80, 70_000] } }),
  )
  expect(read).toMatchObject({ message: expect.stringContaining('status.address.ports[1]') as string })
})

test('contractReader does not find what only a prototype has', async () => {
  expect(await contractReader({ path: 'status.constructor', schema }).read(object({}))).toMatchObject({
    reason: 'ContractMissing',
  })
})

test('contractReader asks a Standard Schema library, and takes what it makes of the value', async () => {
  const standard = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof value === 'string'
          ? { value: value.toUpperCase() }
          : { issues: [{ message: 'must be a text', path: ['deep', { key: 0 }] }] },
    },
  }
  const reader = contractReader({ path: 'status.word', schema: standard })
  expect(await reader.read(object({ word: 'yes' }))).toMatchObject({ value: 'YES', published: 'yes' })
  expect(await reader.check('again')).toMatchObject({ value: 'AGAIN' })
  expect(await reader.read(object({ word: 7 }))).toEqual({
    reason: 'ContractInvalid',
    message: 'status.word.deep.0: must be a text',
  })
})

test('contractReader refuses an empty path and an invalid schema', () => {
  expect(() => contractReader({ path: '', schema })).toThrow('must consist of field names')
  expect(() => contractReader({ path: 'a..b', schema })).toThrow('must consist of field names')
  expect(() => contractReader({ path: 'a', schema: { $ref: '#/x' } as never })).toThrow(RangeError)
})
