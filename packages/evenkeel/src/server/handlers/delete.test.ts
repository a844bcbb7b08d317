import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
  await tested.ask('POST', maps, { body: { metadata: { name: 'a' } } })
})
afterEach(() => tested.server.stop())

test('a deletion with orphanDependents leaves the object until its dependents are released', async () => {
  const { status, json } = await tested.ask('DELETE', `${maps}/a`, { body: { orphanDependents: true } })
  expect({ status, finalizers: json['metadata']?.['finalizers'] }).toEqual({ status: 200, finalizers: ['orphan'] })
  expect((await tested.ask('DELETE', `${maps}/a`, { body: { orphanDependents: false } })).status).toBe(200)
  expect((await tested.ask('GET', `${maps}/a`)).status).toBe(404)
})

test('orphanDependents is true or false', async () => {
  expect(await tested.ask('DELETE', `${maps}/a`, { body: { orphanDependents: 'yes' } })).toMatchObject({
    status: 400,
    json: { message: 'orphanDependents of DeleteOptions must be true or false' },
  })
})
