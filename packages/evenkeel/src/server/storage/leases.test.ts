import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { openMemoryStore } from '#store'
import { TestServer } from '../client.fixture.ts'
import { LeaseManager } from './storage.ts'

const hourMs = 3_600_000

test('Expiry gives everything within a minute one lease, and then another', async () => {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock })
  const expiry = new LeaseManager(store, clock)
  const first = await expiry.lease(hourMs)
  await clock.advance(59_000)
  expect(await expiry.lease(hourMs)).toBe(first)
  expect(await expiry.lease(1000)).not.toBe(first)
  await clock.advance(1000)
  expect(await expiry.lease(hourMs)).not.toBe(first)
  await store.close()
})

test('Expiry hands out no lease that could not be granted', async () => {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock })
  let failing = true
  const expiry = new LeaseManager(
    { ...store, grant: (ttlMs: number) => (failing ? Promise.reject(new Error('full')) : store.grant(ttlMs)) },
    clock,
  )
  await expect(expiry.lease(hourMs)).rejects.toThrow('full')
  failing = false
  expect(await expiry.lease(hourMs)).toBeTypeOf('string')
  await store.close()
})

test('an Event is gone an hour after it was last written, and watchers are told', async () => {
  const tested = await TestServer.start()
  const path = '/api/v1/namespaces/default/events'
  const body = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, reason: 'Tested' }
  expect((await tested.ask('POST', path, { body })).status).toBe(201)
  const events = await tested.watch(`${path}?watch=true&timeoutSeconds=100000`)
  expect(await events.take(1)).toEqual(['ADDED e'])
  await tested.clock.advance(hourMs - 1000)
  expect(
    (await tested.ask('PATCH', `${path}/e`, { type: 'application/merge-patch+json', body: { count: 2 } })).status,
  ).toBe(200)
  await tested.clock.advance(hourMs - 1000)
  expect((await tested.ask('GET', `${path}/e`)).status).toBe(200)
  await tested.clock.advance(70_000)
  expect((await tested.ask('GET', `${path}/e`)).status).toBe(404)
  expect(await events.take(2)).toEqual(['MODIFIED e', 'DELETED e'])
  await tested.server.stop()
})
