import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { withConversions } from './field-manager.ts'

const object = { apiVersion: 'a.example.com/v1', kind: 'Thing', metadata: { name: 'x' } }

test('withConversions asks once for each object and version, however often they are needed', async () => {
  const asked: string[] = []
  const convert = (objects: readonly UnstructuredObject[], version: string): Promise<UnstructuredObject[]> => {
    asked.push(version)
    return Promise.resolve(objects.map((one) => ({ ...one, apiVersion: `a.example.com/${version}` })))
  }
  const result = await withConversions(convert, (now) =>
    ['v2', 'v3', 'v2'].map((version) => now({ ...object }, version)['apiVersion']),
  )
  expect(result).toEqual(['a.example.com/v2', 'a.example.com/v3', 'a.example.com/v2'])
  expect(asked).toEqual(['v2', 'v3'])
})

test('withConversions leaves alone what says nothing yet, and hands on what goes wrong', async () => {
  const fail = (): Promise<UnstructuredObject[]> => Promise.reject(new Error('no'))
  const empty = { apiVersion: 'a.example.com/v1', kind: 'Thing' }
  await expect(withConversions(fail, (now) => now(empty, 'v2'))).resolves.toBe(empty)
  await expect(withConversions(fail, (now) => now(object, 'v2'))).rejects.toThrow('no')
  await expect(
    withConversions(fail, () => {
      throw new RangeError('own')
    }),
  ).rejects.toThrow('own')
})
