import { expect, test } from 'vitest'
import { remoteIndex, withRemotePaths, type RemoteOpenApi } from './remote.ts'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const remote: RemoteOpenApi = {
  group: 'example.com',
  version: 'v1',
  openApiHash: 'ABC',
  swagger: {
    paths: {
      '/apis/example.com/v1/foos': { get: { schema: ref('Foo') } },
      '/apis/example.com/v2/foos': { get: { schema: ref('Other') } },
      '/api/v1/pods': { get: {} },
    },
    definitions: {
      Foo: { properties: { status: ref('Status'), self: ref('Foo'), meta: ref('Meta') } },
      Status: { type: 'string' },
      Meta: { type: 'object' },
      Other: {},
    },
  },
}

test('paths of the group version are added, with the definitions that they use', () => {
  const local = {
    info: {},
    paths: { '/api': {} },
    definitions: { Status: { type: 'object' }, Meta: { type: 'object' } },
  }
  expect(withRemotePaths(local, [remote])).toEqual({
    info: {},
    paths: { '/api': {}, '/apis/example.com/v1/foos': { get: { schema: ref('Foo') } } },
    definitions: {
      Status: { type: 'object' },
      Meta: { type: 'object' },
      Status_v2: { type: 'string' },
      Foo: { properties: { status: ref('Status_v2'), self: ref('Foo'), meta: ref('Meta') } },
    },
  })
  expect(local.definitions).toEqual({ Status: { type: 'object' }, Meta: { type: 'object' } })
})

test('a document of another form adds nothing', () => {
  const swagger = { paths: ['no'], definitions: 1 }
  expect(withRemotePaths({ paths: {} }, [{ ...remote, swagger }])).toEqual({ paths: {}, definitions: {} })
})

test('the index has the hash of the other server, and nothing of one without documents', () => {
  expect(remoteIndex([remote, { ...remote, version: 'v2', openApiHash: undefined }])).toEqual([
    ['apis/example.com/v1', { serverRelativeURL: '/openapi/v3/apis/example.com/v1?hash=ABC' }],
  ])
})
