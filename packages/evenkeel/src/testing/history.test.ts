import { expect, test } from 'vitest'
import { flushPromises } from '#base'
import { openMemoryStore } from '#store'
import { History } from './history.ts'

const bytes = (value: unknown): Uint8Array => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

test('History follows objects, and what the store holds beside them is none', async () => {
  const store = openMemoryStore()
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default', uid: 'u' } }
  const [port, key] = ['/main/core/nodeports/30000', '/main/core/services/default/web']
  await store.commit({ key: '/main/core/nodeports/30001', value: bytes('default/old'), expect: 0 })
  const history = new History({
    store,
    initialObjects: new Map(),
    actor: () => 'A',
    step: () => 1,
    isProgram: () => true,
    now: () => 0,
  })
  await history.start()
  const taken = await store.commit({ key: port, value: bytes('default/web'), expect: 0 })
  const written = await store.commit({ key, value: bytes(service), expect: 0 })
  await store.commit({ key: port, expect: taken.ok ? taken.revision : 0 })
  await flushPromises()
  expect(written.ok).toBe(true)
  expect(history.events.map(({ resource, after }) => [resource, after?.metadata.name])).toEqual([['services', 'web']])
  expect([...history.objects.keys()]).toEqual([key])
  history.stop()
})
