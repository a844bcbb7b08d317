/** Services, replica sets and what is not run, on a simulated machine. */
import { deferred } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { Executable, ExecutableReplicaSet } from '../kinds/executable.ts'
import { ContainerNetworkTunnelProxy, Endpoint, Service } from '../kinds/network.ts'
import { startApplication, stateIs } from './plane.fixture.ts'

test('a Service has its address at once, and keeps it when it gets an Endpoint', async () => {
  const app = await startApplication()
  await app.create(Service, 'catalog', { spec: { protocol: 'TCP' } })
  const { status } = await app.until(Service, 'catalog', stateIs('NotReady'))
  expect(status).toMatchObject({ effectiveAddress: 'localhost', effectivePort: expect.any(Number) as number })
  const port = status?.effectivePort ?? 0
  expect(app.network.listening()).toEqual([`127.0.0.1:${port}`, `[::1]:${port}`])
  await app.create(Endpoint, 'one', { spec: { serviceName: 'catalog', address: 'localhost', port: 9000 } })
  const ready = await app.until(Service, 'catalog', stateIs('Ready'))
  expect(ready.status?.effectivePort).toBe(port)
})

test('a connection that comes before the program is passed on to it', async () => {
  const app = await startApplication()
  await app.create(Service, 'web', { spec: { port: 8080, addressAllocationMode: 'IPv4ZeroOne' } })
  await app.until(Service, 'web', ({ status }) => status?.effectivePort === 8080)
  const client = app.network.connect({ address: '127.0.0.1', port: 8080 })
  const heard = deferred<string>()
  app.network.serve({ address: '127.0.0.1', port: 9000 }, (connection) => {
    connection.on('data', (piece: Buffer) => {
      heard.resolve(piece.toString())
    })
    connection.resume()
  })
  client.write('hello')
  await app.create(Endpoint, 'one', { spec: { serviceName: 'web', address: '127.0.0.1', port: 9000 } })
  await app.until(Service, 'web', stateIs('Ready'))
  expect(await heard.promise).toBe('hello')
})

test.each([
  { mode: 'Localhost', address: '', listening: ['127.0.0.1:8080', '[::1]:8080'], effectiveAddress: 'localhost' },
  { mode: 'IPv4ZeroOne', address: '', listening: ['127.0.0.1:8080'], effectiveAddress: '127.0.0.1' },
  { mode: 'IPv4Loopback', address: '', listening: ['127.0.0.1:8080'], effectiveAddress: '127.0.0.1' },
  { mode: 'IPv6ZeroOne', address: '', listening: ['[::1]:8080'], effectiveAddress: '[::1]' },
  { mode: 'IPv4AllInterfaces', address: '', listening: ['0.0.0.0:8080'], effectiveAddress: '0.0.0.0' },
  { mode: 'IPv6AllInterfaces', address: '', listening: ['[::]:8080'], effectiveAddress: '[::]' },
  { mode: 'AllInterfaces', address: '', listening: ['0.0.0.0:8080', '[::]:8080'], effectiveAddress: 'localhost' },
  { mode: 'Localhost', address: '192.0.2.1', listening: ['192.0.2.1:8080'], effectiveAddress: '192.0.2.1' },
  { mode: '', address: 'localhost', listening: ['127.0.0.1:8080', '[::1]:8080'], effectiveAddress: 'localhost' },
])('a Service with mode $mode and address $address listens on $listening', async (row) => {
  const { mode, address, listening, effectiveAddress } = row
  const app = await startApplication()
  await app.create(Service, 'web', { spec: { port: 8080, address, addressAllocationMode: mode } })
  const { status } = await app.until(Service, 'web', ({ status: now }) => now?.effectivePort === 8080)
  expect(status?.effectiveAddress).toBe(effectiveAddress)
  expect(app.network.listening()).toEqual(listening)
})

test('a Service without a proxy has the address of its first Endpoint, as long as that one is there', async () => {
  const app = await startApplication()
  await app.create(Service, 'db', { spec: { addressAllocationMode: 'Proxyless' } })
  await app.until(Service, 'db', stateIs('NotReady'))
  const first = await app.create(Endpoint, 'b', { spec: { serviceName: 'db', address: '10.0.0.2', port: 2 } })
  await app.until(Service, 'db', ({ status }) => status?.effectivePort === 2)
  await app.create(Endpoint, 'a', { spec: { serviceName: 'db', address: '10.0.0.1', port: 1 } })
  await app.plane.advance(5000)
  await app.until(Service, 'db', ({ status }) => status?.proxylessEndpointName === 'b')
  await app.client.delete(first)
  const { status } = await app.until(Service, 'db', ({ status: now }) => now?.effectivePort === 1)
  expect(status).toMatchObject({
    state: 'Ready',
    proxylessEndpointName: 'a',
    effectiveAddress: '10.0.0.1',
    effectivePort: 1,
  })
  expect(app.network.listening()).toEqual([])
})

test('a port that is taken is tried again, and said once; a Service that is gone listens nowhere', async () => {
  const app = await startApplication()
  app.network.serve({ address: '127.0.0.1', port: 8080 }, () => undefined)
  const created = await app.create(Service, 'web', { spec: { port: 8080 } })
  await app.until(Service, 'web', stateIs('NotReady'))
  await app.plane.advance(5000)
  expect(app.systemLog(created).match(/port 8080 is taken/g)).toHaveLength(1)
  app.network.serve({ address: '127.0.0.1', port: 8080 }, undefined)
  await app.until(Service, 'web', ({ status }) => status?.effectivePort === 8080)
  await app.client.delete(created)
  await app.untilGone(Service, 'web')
  expect(app.network.listening()).toEqual([])
})

test('UDP is refused in the log of the Service', async () => {
  const app = await startApplication()
  const created = await app.create(Service, 'dns', { spec: { protocol: 'UDP' } })
  await app.until(Service, 'dns', stateIs('NotReady'))
  expect(app.systemLog(created)).toContain('UDP has no proxy here')
})

const template = {
  labels: { tier: 'web' },
  annotations: { note: 'n' },
  spec: { executablePath: 'serve', args: ['{{- index .Annotations "otel-service-instance-id" -}}'] },
}

test('a set has its replicas, named and numbered, and counts their states', async () => {
  const app = await startApplication()
  const set = await app.create(ExecutableReplicaSet, 'web', { spec: { replicas: 2, template } })
  const { status } = await app.until(ExecutableReplicaSet, 'web', ({ status: now }) => now?.runningReplicas === 2)
  expect(status).toMatchObject({ observedReplicas: 2, failedReplicas: 0, finishedReplicas: 0, healthStatus: 'Healthy' })
  const { items } = await app.client.list(Executable)
  const prefix = 'executable-replica-set.usvc-dev.developer.microsoft.com'
  const displayed = items.map(({ metadata }) => metadata.annotations?.[`${prefix}/display-name`]).sort()
  expect(displayed).toEqual(['web-1', 'web-2'])
  for (const { metadata, status: replica } of items) {
    const id = metadata.annotations?.[`${prefix}/replica-id`] ?? ''
    expect(metadata).toMatchObject({
      name: `web-${id}`,
      labels: { tier: 'web' },
      annotations: { note: 'n', [`${prefix}/replica-state`]: 'active', [`${prefix}/replica-set-name`]: 'web' },
      ownerReferences: [{ kind: 'ExecutableReplicaSet', name: 'web', uid: set.metadata.uid, controller: true }],
    })
    expect(replica?.effectiveArgs).toEqual([id])
  }
})

test('a set that is made smaller deletes the newest, and what has ended is not replaced', async () => {
  const app = await startApplication()
  const set = await app.create(ExecutableReplicaSet, 'web', { spec: { replicas: 3, template } })
  await app.until(ExecutableReplicaSet, 'web', ({ status }) => status?.runningReplicas === 3)
  await app.client.patch(set, { spec: { replicas: 1 } } as never)
  await app.until(ExecutableReplicaSet, 'web', ({ status }) => status?.observedReplicas === 1)
  await app.plane.until(() => app.programs().length === 1, { timeoutMs: 30_000 })
  app.host.exit(app.host.processes()[0]?.pid ?? 0, { exitCode: 0 })
  await app.until(ExecutableReplicaSet, 'web', ({ status }) => status?.finishedReplicas === 1)
  await app.plane.advance(30_000)
  expect(app.programs()).toEqual([])
  await app.client.delete(set)
  await app.untilGone(ExecutableReplicaSet, 'web')
  expect((await app.client.list(Executable)).items).toEqual([])
})

test('with stopOnScaleDown replicas are stopped and stay, until the set is gone', async () => {
  const app = await startApplication()
  const set = await app.create(ExecutableReplicaSet, 'web', { spec: { replicas: 2, stopOnScaleDown: true, template } })
  await app.until(ExecutableReplicaSet, 'web', ({ status }) => status?.runningReplicas === 2)
  await app.client.patch(set, { spec: { replicas: 1 } } as never)
  await app.plane.until(() => app.programs().length === 1, { timeoutMs: 30_000 })
  await app.until(ExecutableReplicaSet, 'web', ({ status }) => status?.observedReplicas === 1)
  expect((await app.client.list(Executable)).items).toHaveLength(2)
  await app.client.delete(set)
  await app.untilGone(ExecutableReplicaSet, 'web')
  expect([(await app.client.list(Executable)).items, app.programs()]).toEqual([[], []])
})

test('tunnels are not run: their status has the reason at once', async () => {
  const app = await startApplication()
  const created = await app.create(ContainerNetworkTunnelProxy, 'tunnel', { spec: { containerNetworkName: 'net' } })
  const { status } = await app.until(ContainerNetworkTunnelProxy, 'tunnel', stateIs('Failed'))
  expect(status?.message).toContain('tunnels are not run')
  expect(app.systemLog(created)).toContain('tunnels are not run')
})
