/** Writes that another writer overtakes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openMemoryStore, type Store, type Write } from '#store'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
let store: Store
let tested: TestServer
/** Runs before each commit of a ConfigMap. */
let overtake: (write: Write) => Promise<unknown>

beforeEach(async () => {
  store = openMemoryStore()
  overtake = () => Promise.resolve()
  tested = await TestServer.start({ store: withRival(store) })
})
afterEach(async () => {
  await tested.server.stop()
  await store.close()
})

function withRival(shared: Store): Store {
  const commit: Store['commit'] = async (write, options) => {
    if (write.key.includes('/configmaps/default/')) await overtake(write)
    return shared.commit(write, options)
  }
  return new Proxy(shared, {
    get(target, property: keyof Store) {
      const member = target[property] as (...parameters: unknown[]) => unknown
      return property === 'commit' ? commit : member.bind(target)
    },
  })
}

test('a create with a generated name takes another one when the first is taken', async () => {
  let hasCome = false
  overtake = async (write) => {
    if (!hasCome) await store.commit(write)
    hasCome = true
  }
  const body = { metadata: { generateName: 'x-' }, data: { a: '1' } }
  const made = await tested.ask('POST', maps, { body })
  expect(made).toMatchObject({ status: 201, json: { metadata: { managedFields: [{}] }, data: { a: '1' } } })
  expect((await tested.ask('GET', maps)).json['items']).toHaveLength(2)
})

describe('an object that another writer keeps changing', () => {
  let attempts: number

  beforeEach(async () => {
    await tested.ask('POST', maps, { body: { metadata: { name: 'a' } } })
    attempts = 0
    overtake = async ({ key }) => {
      attempts++
      const found = await store.get(key)
      if (found.ok && found.entry) await store.commit({ key, expect: found.entry.revision, value: found.entry.value })
    }
  })

  test('is not deleted: the client gets a conflict after a hundred attempts', async () => {
    expect(await tested.ask('DELETE', `${maps}/a`)).toMatchObject({ status: 409, json: { reason: 'Conflict' } })
    expect(attempts).toBe(100)
  })

  test('is not patched: the client gets a conflict after a hundred attempts', async () => {
    const patch = { type: 'application/merge-patch+json', body: { data: { a: '1' } } }
    expect(await tested.ask('PATCH', `${maps}/a`, patch)).toMatchObject({ status: 409, json: { reason: 'Conflict' } })
    expect(attempts).toBe(100)
  })
})
