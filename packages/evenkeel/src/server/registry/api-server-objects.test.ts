/** What several servers on one store publish, and what users made before. */
import { expect, test } from 'vitest'
import { openMemoryStore, type Store } from '#store'
import { TestServer } from '../client.fixture.ts'

const slice = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
const trust = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'

/** A memory store that says it is shared, as etcd is. */
function sharedStore(): Store {
  return Object.assign(openMemoryStore(), { isShared: true })
}

const addressesAt = async (server: TestServer): Promise<string[]> => {
  const { json } = await server.ask('GET', slice)
  return (json['endpoints'] as unknown as { addresses: string[] }[]).flatMap(({ addresses }) => addresses)
}

const authoritiesAt = async (server: TestServer): Promise<number> => {
  const { json } = await server.ask('GET', trust)
  return String(json['data']?.['client-ca-file']).split('BEGIN CERTIFICATE').length - 1
}

/** A server without sockets on the same store, and the address that another server left there. */
async function withOther(store: Store): Promise<TestServer> {
  const other = await TestServer.start({ store })
  const body = {
    metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.7'] }],
  }
  await other.ask('POST', slice.replace(/\/kubernetes$/, ''), { body })
  return other
}

test('servers on one store publish all addresses and authorities, and take theirs back', async () => {
  const store = sharedStore()
  const other = await withOther(store)
  for (const authorities of [1, 2]) {
    const server = await TestServer.start({ store, listen: {} })
    expect(await addressesAt(other)).toEqual(['192.0.2.7', '127.0.0.1'])
    expect(await authoritiesAt(other)).toBe(authorities)
    await server.server.stop({ graceMs: 0 })
    expect(await addressesAt(other)).toEqual(['192.0.2.7'])
  }
  await other.server.stop()
})

test('the only server of a store publishes its own address alone', async () => {
  const store = openMemoryStore()
  const other = await withOther(store)
  const server = await TestServer.start({ store, listen: {} })
  expect(await addressesAt(server)).toEqual(['127.0.0.1'])
  await server.server.stop({ graceMs: 0 })
  await other.server.stop()
})

test('an APIService that a user made for a group of custom resources stays as it is', async () => {
  const it = await TestServer.start()
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'
  const spec = {
    group: 'demo.example.com',
    version: 'v1',
    groupPriorityMinimum: 5,
    versionPriority: 6,
    service: { namespace: 'default', name: 'behind' },
  }
  await it.ask('POST', path, { body: { metadata: { name: 'v1.demo.example.com' }, spec } })
  const crd = {
    metadata: { name: 'notes.demo.example.com' },
    spec: {
      group: 'demo.example.com',
      scope: 'Namespaced',
      names: { plural: 'notes', kind: 'Note' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  expect((await it.ask('POST', crds, { body: crd })).status).toBe(201)
  const found = await it.ask('GET', `${path}/v1.demo.example.com`)
  expect(found.json['spec']).toMatchObject(spec)
  await it.ask('DELETE', `${crds}/notes.demo.example.com`)
  expect((await it.ask('GET', `${path}/v1.demo.example.com`)).status).toBe(200)
  await it.server.stop()
})
