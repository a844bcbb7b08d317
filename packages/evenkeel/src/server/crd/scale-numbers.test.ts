import { expect, test } from 'vitest'
import { formatFieldError, type UnstructuredObject } from '#api'
import { scaleErrors } from './resources.ts'

const scale = { specReplicasPath: '.spec.pool.size', statusReplicasPath: '.status.size' }
const object = (size: unknown, shown?: unknown): UnstructuredObject =>
  ({ metadata: { name: 'a' }, spec: { pool: { size } }, status: { size: shown } }) as unknown as UnstructuredObject
const errors = (...parameters: Parameters<typeof scaleErrors>): string[] =>
  scaleErrors(...parameters).map(formatFieldError)

test('scaleErrors: numbers that a Scale can show are fine, and so is none', () => {
  for (const size of [0, 5, 2 ** 31 - 1, undefined, null]) expect(errors(object(size, size), scale)).toEqual([])
  expect(errors(object(-1, -1), undefined)).toEqual([])
})

test('scaleErrors: fewer than none and too many are named by the path of the definition', () => {
  expect(errors(object(-1, 2 ** 31), scale)).toEqual([
    '.spec.pool.size: Invalid value: -1: should be a non-negative integer',
    '.status.size: Invalid value: 2147483648: should be less than or equal to 2147483647',
  ])
})

test('scaleErrors: a write to the status is judged by the status alone', () => {
  expect(errors(object(-1, -2), scale, 'status')).toEqual([
    '.status.size: Invalid value: -2: should be a non-negative integer',
  ])
})
