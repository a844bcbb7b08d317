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

test('a second deletion of an object that finalizers hold changes nothing', async () => {
  await tested.ask('POST', maps, { body: { metadata: { name: 'held', finalizers: ['a.dev/x'] } } })
  const first = await tested.ask('DELETE', `${maps}/held`)
  const second = await tested.ask('DELETE', `${maps}/held`)
  expect(first.json['metadata']).toMatchObject({ deletionTimestamp: expect.any(String) as string })
  expect(second).toMatchObject({ status: first.status, json: first.json })
  const foreground = await tested.ask('DELETE', `${maps}/held`, { body: { propagationPolicy: 'Foreground' } })
  expect(foreground.json['metadata']).toMatchObject({ finalizers: ['a.dev/x', 'foregroundDeletion'] })
})
