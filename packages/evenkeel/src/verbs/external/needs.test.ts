import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { readVersions, versionsOf } from './needs.ts'

const object = (uid: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'x', uid, resourceVersion: '7' },
  ...{ data: { password: 'hidden' } },
})

test('F6: the versions of needs are in a stable order, and have nothing of the content', () => {
  expect(versionsOf({ b: object('2'), a: object('1'), none: undefined })).toEqual([
    { name: 'a', uid: '1', resourceVersion: '7' },
    { name: 'b', uid: '2', resourceVersion: '7' },
  ])
  expect(versionsOf({ none: undefined })).toBeUndefined()
})

test('F6: versions that were changed by hand are dropped, so that the resource is synced again', () => {
  const version = { name: 'a', uid: '1', resourceVersion: '7' }
  expect(readVersions([version])).toEqual([version])
  for (const value of [undefined, 'x', [], [1], [{ ...version, uid: 1 }]]) expect(readVersions(value)).toBeUndefined()
})
