import { expect, test } from 'vitest'
import type { JsonObject } from '#api'
import type { AggregatedApi } from './api-services.ts'
import { legacyVersion, versionIn } from './remote-discovery.ts'

const api = { group: 'example.com', version: 'v1' } as AggregatedApi

test('versionIn finds the group version and keeps nothing but its resources', () => {
  const foos = { resource: 'foos', verbs: ['get'] }
  const list = {
    items: [
      { metadata: { name: 'other' }, versions: [{ version: 'v1', resources: [] }] },
      { metadata: { name: 'example.com' }, versions: [{ version: 'v1', freshness: 'Stale', resources: [foos, 'x'] }] },
    ],
  } as JsonObject
  expect(versionIn(list, api)).toEqual({ version: 'v1', resources: [foos] })
  expect(versionIn(list, { ...api, version: 'v2' })).toBeUndefined()
  expect(versionIn({ items: 'no list' }, api)).toBeUndefined()
})

test('legacyVersion puts subresources below their resource and leaves out what has no name', () => {
  const list = {
    resources: [
      { name: 'foos', kind: 'Foo', namespaced: false, verbs: ['get', 1] },
      { name: 'foos/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get'] },
      { kind: 'Nameless' },
      'text',
    ],
  } as JsonObject
  expect(legacyVersion(list, api)).toEqual({
    version: 'v1',
    resources: [
      {
        resource: 'foos',
        responseKind: { group: 'example.com', version: 'v1', kind: 'Foo' },
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get'],
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get'],
          },
        ],
      },
    ],
  })
})
