/** What the conformance suite cannot set up: several servers on one store, two families, full ranges. */
import { expect, test } from 'vitest'
import { openMemoryStore } from '#store'
import { TestServer } from '../client.fixture.ts'

const services = '/api/v1/namespaces/default/services'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'

type Answer = Awaited<ReturnType<TestServer['ask']>>

function create(server: TestServer, name: string, spec: object = {}): Promise<Answer> {
  const body = { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }
  return server.ask('POST', services, { body })
}

const namesIn = async (server: TestServer): Promise<string[]> => {
  const { json } = await server.ask('GET', addresses)
  return (json['items'] as unknown as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort()
}

test('two servers on one store never give an address or a node port to two Services', async () => {
  const store = openMemoryStore()
  const serviceClusterIpRanges = ['10.0.0.0/27']
  const servers = [
    await TestServer.start({ store, serviceClusterIpRanges }),
    await TestServer.start({ store, serviceClusterIpRanges }),
  ]
  const [first, second] = servers as [TestServer, TestServer]
  const at = (index: number): TestServer => (index % 2 === 0 ? first : second)
  const chosen = { type: 'NodePort', clusterIP: '10.0.0.5', ports: [{ port: 80, nodePort: 30_007 }] }
  const same = await Promise.all(Array.from({ length: 10 }, (_, index) => create(at(index), `same${index}`, chosen)))
  expect(same.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 422)])
  const free = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create(at(index), `free${index}`, { type: 'NodePort' })),
  )
  const specs = free.map(({ json }) => json['spec'] as unknown as { clusterIP: string; ports: [{ nodePort: number }] })
  expect(free.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
  expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(20)
  expect(new Set(specs.map(({ ports }) => ports[0].nodePort)).size).toBe(20)
  expect(await namesIn(second)).toEqual(['10.0.0.1', '10.0.0.5', ...specs.map(({ clusterIP }) => clusterIP)].sort())
  for (const server of servers) await server.server.stop()
  await store.close()
})

test('a Service is refused when the range is full, and gets the address that another gave back', async () => {
  const it = await TestServer.start({ serviceClusterIpRanges: ['10.0.0.0/29'] })
  const made = await Promise.all(Array.from({ length: 5 }, (_, index) => create(it, `s${index}`)))
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  expect(await namesIn(it)).toEqual(Array.from({ length: 6 }, (_, index) => `10.0.0.${index + 1}`))
  const full = await create(it, 'more')
  expect(full).toMatchObject({
    status: 500,
    json: { message: 'Internal error occurred: failed to allocate a serviceIP for Service "more": range is full' },
  })
  await it.ask('DELETE', `${services}/s3`)
  expect(await create(it, 'more')).toMatchObject({
    status: 201,
    json: { spec: { clusterIP: made[3]?.json['spec']?.['clusterIP'] } },
  })
  await it.server.stop()
})

test('with two ranges a Service can have an address of each family, and give the second one back', async () => {
  const it = await TestServer.start({ serviceClusterIpRanges: ['10.0.0.0/24', 'fd00::/120'] })
  expect((await create(it, 'one')).json['spec']).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
  const { json } = await create(it, 'two', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] })
  const both = (json['spec'] as unknown as { clusterIPs: [string, string] }).clusterIPs
  expect(json['spec']).toMatchObject({ clusterIP: both[0], ipFamilies: ['IPv6', 'IPv4'] })
  expect(both[0]).toMatch(/^fd00::[0-9a-f]+$/)
  expect(await namesIn(it)).toEqual(expect.arrayContaining(both))
  const patch = (spec: object): Promise<Answer> =>
    it.ask('PATCH', `${services}/two`, { body: { spec }, type: 'application/merge-patch+json' })
  expect(await patch({ clusterIPs: [both[0]] })).toMatchObject({
    status: 422,
    json: { message: expect.stringContaining("must be 'SingleStack' to release the secondary cluster IP") as string },
  })
  expect((await patch({ ipFamilyPolicy: 'SingleStack' })).json['spec']).toMatchObject({
    clusterIPs: [both[0]],
    ipFamilies: ['IPv6'],
  })
  expect(await namesIn(it)).not.toContain(both[1])
  expect((await patch({ ipFamilyPolicy: 'PreferDualStack' })).json['spec']).toMatchObject({
    ipFamilies: ['IPv6', 'IPv4'],
  })
  await it.server.stop()
})

test('ranges that are not valid do not start a server', async () => {
  const start = (...serviceClusterIpRanges: string[]): Promise<TestServer> =>
    TestServer.start({ serviceClusterIpRanges })
  await expect(start('10.0.0.0')).rejects.toThrow(
    'serviceClusterIpRanges must be CIDRs such as 10.96.0.0/12, got ["10.0.0.0"]',
  )
  await expect(start('10.0.0.0/24', '10.1.0.0/24')).rejects.toThrow(
    'serviceClusterIpRanges must be one range of each family',
  )
})
