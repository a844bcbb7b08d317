import { expect, test } from 'vitest'
import { openMemoryStore, type Store } from '#store'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'

/** A store in which another writer is the first to create what the first create of a ConfigMap wants to. */
function withRival(store: Store): Store {
  let hasCome = false
  const commit: Store['commit'] = async (write, options) => {
    if (!hasCome && write.key.includes('/configmaps/default/')) {
      hasCome = true
      await store.commit(write, options)
    }
    return store.commit(write, options)
  }
  return new Proxy(store, {
    get(target, property: keyof Store) {
      const member = target[property] as (...parameters: unknown[]) => unknown
      return property === 'commit' ? commit : member.bind(target)
    },
  })
}

test('a create with a generated name takes another one when the first is taken', async () => {
  const store = openMemoryStore()
  const tested = await TestServer.start({ store: withRival(store) })
  const body = { metadata: { generateName: 'x-' }, data: { a: '1' } }
  const made = await tested.ask('POST', maps, { body })
  expect(made).toMatchObject({ status: 201, json: { metadata: { managedFields: [{}] }, data: { a: '1' } } })
  const { json } = await tested.ask('GET', maps)
  expect(json['items']).toHaveLength(2)
  await tested.server.stop()
  await store.close()
})
