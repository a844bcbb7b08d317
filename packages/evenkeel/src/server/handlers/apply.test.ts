import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
})

const type = 'application/apply-patch+yaml'
const config = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })
const apply = (manager: string, data: object, query = ''): ReturnType<TestServer['ask']> =>
  tested.ask('PATCH', `${maps}/a?fieldManager=${manager}${query}`, { type, body: config(data) })
const managersOf = async (): Promise<unknown> => {
  const { json } = await tested.ask('GET', `${maps}/a`)
  return (
    json['metadata']?.['managedFields'] as unknown as { manager: string; operation: string; fieldsV1: unknown }[]
  ).map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1])
}

describe('apply', () => {
  test('creates what is not there, changes what is, and takes away what is no longer wanted', async () => {
    expect(await apply('one', { a: '1', b: '2' })).toMatchObject({ status: 201, json: { data: { a: '1', b: '2' } } })
    const second = await apply('one', { a: '3' })
    expect(second).toMatchObject({ status: 200, json: { data: { a: '3' } } })
    expect(second.json['data']).toEqual({ a: '3' })
    expect(await managersOf()).toEqual([['one', 'Apply', { 'f:data': { 'f:a': {} } }]])
  })

  test('that changes nothing changes nothing, not even the version', async () => {
    const { json: first } = await apply('one', { a: '1' })
    await tested.clock.advance(5000)
    expect((await apply('one', { a: '1' })).json).toEqual(first)
  })

  test('does not touch what another manager wants, unless it is told to', async () => {
    await apply('one', { a: '1' })
    const refused = await apply('two', { a: '2' })
    expect(refused).toMatchObject({
      status: 409,
      json: {
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }] },
      },
    })
    expect(await apply('two', { a: '2' }, '&force=true')).toMatchObject({ status: 200, json: { data: { a: '2' } } })
    expect(await managersOf()).toEqual([['two', 'Apply', { 'f:data': { 'f:a': {} } }]])
  })

  test('shares what two managers want alike, and keeps it while one of them does', async () => {
    await apply('one', { a: '1', b: '1' })
    expect((await apply('two', { a: '1' })).status).toBe(200)
    expect((await apply('one', { b: '1' })).json['data']).toEqual({ a: '1', b: '1' })
    expect((await apply('two', {})).json['data']).toEqual({ b: '1' })
  })

  test('is tracked beside updates and patches, which never conflict', async () => {
    await apply('one', { a: '1' })
    await tested.ask('PATCH', `${maps}/a`, {
      type: 'application/merge-patch+json',
      body: { data: { a: '9', z: '9' } },
      headers: { 'user-agent': 'tool/1.0 (linux)' },
    })
    expect(await managersOf()).toEqual([['tool', 'Update', { 'f:data': { 'f:a': {}, 'f:z': {} } }]])
    expect((await apply('one', { a: '1' })).status).toBe(409)
  })

  test.each([
    ['without a manager', `${maps}/a`, config({}), 422],
    ['of another name', `${maps}/b?fieldManager=m`, config({}), 400],
    ['of another kind', `${maps}/a?fieldManager=m`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 400],
    [
      'with managed fields',
      `${maps}/a?fieldManager=m`,
      { ...config({}), metadata: { name: 'a', managedFields: [{ manager: 'x' }] } },
      400,
    ],
    ['that is no object', `${maps}/a?fieldManager=m`, [], 400],
  ] as const)('%s is refused', async (...[, path, body, status]) => {
    expect((await tested.ask('PATCH', path, { type, body })).status).toBe(status)
  })

  test('works on the status and on custom resources', async () => {
    const schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', default: 1 },
            items: {
              type: 'array',
              items: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, n: { type: 'integer' } },
              },
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
            },
          },
        },
        status: { type: 'object', properties: { ready: { type: 'boolean' } } },
      },
    }
    await tested.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        metadata: { name: 'things.demo.example.com' },
        spec: {
          group: 'demo.example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: schema },
              subresources: { status: {} },
            },
          ],
        },
      },
    })
    const things = '/apis/demo.example.com/v1/namespaces/default/things'
    const thing = (rest: object): object => ({
      apiVersion: 'demo.example.com/v1',
      kind: 'Thing',
      metadata: { name: 't' },
      ...rest,
    })
    const send = (path: string, body: object): ReturnType<TestServer['ask']> =>
      tested.ask('PATCH', path, { type, body })
    expect(
      await send(
        `${things}/t?fieldManager=one`,
        thing({ spec: { items: [{ name: 'a', n: 1 }] }, status: { ready: true } }),
      ),
    ).toMatchObject({ status: 201, json: { spec: { size: 1, items: [{ name: 'a' }] } } })
    expect(await send(`${things}/t?fieldManager=two`, thing({ spec: { items: [{ name: 'b', n: 2 }] } }))).toMatchObject(
      {
        status: 200,
        json: {
          spec: {
            items: [
              { name: 'a', n: 1 },
              { name: 'b', n: 2 },
            ],
          },
        },
      },
    )
    const status = await send(
      `${things}/t/status?fieldManager=one`,
      thing({ spec: { size: 9 }, status: { ready: true } }),
    )
    expect(status).toMatchObject({ status: 200, json: { spec: { size: 1 }, status: { ready: true } } })
    const entries = status.json['metadata']?.['managedFields'] as unknown as { manager: string; subresource?: string }[]
    expect(entries.map(({ manager, subresource }) => `${manager}/${subresource ?? ''}`).sort()).toEqual([
      'one/',
      'one/status',
      'two/',
    ])
    expect((await send(`${things}/none/status?fieldManager=one`, thing({ metadata: { name: 'none' } }))).status).toBe(
      404,
    )
  })
})
