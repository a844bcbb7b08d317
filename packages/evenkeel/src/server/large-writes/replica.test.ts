import { expect, test } from 'vitest'
import { deferred, flushTasks, silentLogger, SimulatedClock, SystemClock } from '#base'
import { openMemoryStore, type Entry, type Store, type Watch } from '#store'
import { TestServer } from '../client.fixture.ts'
import type { LargeWriteAnswer } from './large-write-thread.ts'
import { CustomResources } from '../extensions/custom-resources.ts'
import { Replica, type ReplicaOptions } from './replica.ts'

const definition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

function replicaOn(store: Store, options: Partial<ReplicaOptions> = {}): Replica {
  return new Replica(
    { formats: ['json'], ...options },
    {
      store,
      clock: new SystemClock(),
      log: silentLogger,
      webhooks: {},
      webhookMetrics: { count: () => undefined },
      authorizer: {
        decide: () => ({ allowed: true, reason: '' }),
        rulesFor: () => ({ rules: [], incomplete: true, errors: [] }),
      },
    },
  )
}

/** The same store, whose watches say nothing before the gate opens. */
function late(store: Store, gate: Promise<unknown>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'watch')
        return (...args: Parameters<Store['watch']>): Watch => {
          const watch = target.watch(...args)
          const iterate = watch[Symbol.asyncIterator].bind(watch)
          return Object.assign(watch, {
            async *[Symbol.asyncIterator]() {
              await gate
              yield* { [Symbol.asyncIterator]: iterate }
              return undefined
            },
          })
        }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

test('a write waits until the replica knows everything up to its revision', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  const tested = await TestServer.start({ store })
  const gate = deferred<undefined>()
  const replica = replicaOn(late(store, gate.promise))
  await replica.start()
  expect((await tested.ask('POST', definitions, { body: definition })).status).toBe(201)
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }
  let isAnswered = false
  const writing = replica
    .write({
      id: 1,
      method: 'POST',
      target: '/apis/example.com/v1/namespaces/default/things',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(object)),
      user: { name: 'ada', groups: [] },
      revision: await store.head(),
    })
    .finally(() => (isAnswered = true))
  for (let turn = 0; turn < 20; turn++) await flushTasks()
  expect(isAnswered).toBe(false)
  gate.resolve(undefined)
  expect(((await writing).value as LargeWriteAnswer).response.status).toBe(201)
  await tested.server.stop()
})

test('a replica serves definitions and writes nothing about them', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  const tested = await TestServer.start({ store })
  await tested.ask('POST', definitions, { body: definition })
  await tested.server.stop()
  const range = await store.range('')
  const entries = range.ok ? range.entries : []
  const { key, value, revision } = entries.find((entry) => entry.key.includes('things.example.com')) as Entry
  const { status: _, ...rest } = JSON.parse(Buffer.from(value).toString()) as Record<string, unknown>
  await store.commit({ key, value: Buffer.from(JSON.stringify(rest)), expect: revision })
  const head = await store.head()
  await replicaOn(store).start()
  expect(await store.head()).toBe(head)
})

test('the rules that the embedding program adds to a kind hold for large writes too, without its functions', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock() })
  const tested = await TestServer.start({ store })
  await tested.ask('POST', definitions, { body: definition })
  const kind = { group: 'example.com', kind: 'Thing' }
  const log = (): object => ({})
  const { rules } = new CustomResources([{ kind, names: 'path-segment', streams: { log } }])
  expect(structuredClone(rules)).toEqual([{ kind, names: 'path-segment' }])
  const statusOf = async (replica: Replica): Promise<number> => {
    await replica.start()
    const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'Catalog_HTTP' } }
    const { value } = await replica.write({
      id: 1,
      method: 'POST',
      target: '/apis/example.com/v1/namespaces/default/things',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(object)),
      user: { name: 'ada', groups: [] },
      revision: await store.head(),
    })
    return (value as LargeWriteAnswer).response.status
  }
  expect(await statusOf(replicaOn(store))).toBe(422)
  expect(await statusOf(replicaOn(store, { customResources: rules }))).toBe(201)
  await tested.server.stop()
})
