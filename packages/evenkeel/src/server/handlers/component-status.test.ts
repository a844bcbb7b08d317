import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.server.stop())

const path = '/api/v1/componentstatuses'

test('lists the three components that every cluster has, and gives each by name', async () => {
  const { json } = await server.ask('GET', path)
  expect(json).toMatchObject({ kind: 'ComponentStatusList', apiVersion: 'v1' })
  const items = json['items'] as unknown as { metadata: { name: string } }[]
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['scheduler', 'controller-manager', 'etcd-0'])
  expect((await server.ask('GET', `${path}/etcd-0`)).json).toEqual({
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: 'etcd-0' },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  })
})

test('an unknown one is not found', async () => {
  expect((await server.ask('GET', `${path}/nope`)).json).toMatchObject({
    code: 404,
    message: 'componentstatus "nope" not found',
  })
})

test('they have a table, which kubectl asks for', async () => {
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
  const { json } = await server.ask('GET', path, { headers: { accept } })
  const rows = json['rows'] as unknown as { cells: unknown[] }[]
  expect(rows.map(({ cells }) => cells)).toContainEqual(['etcd-0', 'Healthy', 'ok', ''])
  const one = await server.ask('GET', `${path}/etcd-0`, { headers: { accept } })
  expect(one.json).toMatchObject({ kind: 'Table', rows: [{ cells: ['etcd-0', 'Healthy', 'ok', ''] }] })
})
