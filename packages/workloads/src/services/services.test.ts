/** Services and Endpoints on a simulated machine, in simulated time. */
import { Manager } from 'evenkeel/controller'
import { startTestPlane, type TestPlane } from 'evenkeel/testing'
import { SeededRandom } from 'evenkeel/unstable/base'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Container } from '../containers/container-kind.ts'
import { isReady } from '../plane.fixture.ts'
import { Process } from '../process-kind.ts'
import { SimulatedFiles, SimulatedHost } from '../simulated-host.ts'
import { workloads } from '../workloads.ts'
import { Endpoint, Service } from './service-kind.ts'
import { SimulatedNetwork } from './simulated-network.ts'
import {
  conditionIn,
  hasAddress,
  isServing,
  NamedServer,
  startServices,
  toWeb,
  type ServicePlane,
} from './services.fixture.ts'

const reasonsOf = async (world: ServicePlane, name: string): Promise<string[]> =>
  (await world.events(name)).map(({ reason }) => reason)

/** A Service with this many servers, all ready. */
async function withServers(...names: readonly string[]) {
  const world = await startServices()
  await world.createService('web', toWeb)
  const servers: NamedServer[] = []
  for (const name of names) servers.push(await world.startServer(name))
  await world.untilService('web', ({ status }) => status?.endpoints === names.length)
  return { world, servers }
}

describe('a Service', () => {
  test('W18: has its address before any endpoint, and says what it waits for', async () => {
    const world = await startServices()
    await world.createService('web', { ...toWeb, appProtocol: 'http' })
    const service = await world.untilService('web', hasAddress)
    expect(service.status).toMatchObject({
      address: '127.0.0.1',
      port: 10_000,
      url: 'http://127.0.0.1:10000',
      endpoints: 0,
    })
    expect(world.network.listening()).toEqual(['127.0.0.1:10000'])
    expect(conditionIn(service, 'Listening')?.status).toBe('True')
    expect(conditionIn(service, 'AddressAllocated')?.status).toBe('True')
    expect(conditionIn(service, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'NoEndpoints',
      message: 'no Process and no Container has the labels app=web, and no Endpoint names this Service',
    })
    const before = service.metadata.resourceVersion
    await world.plane.advance(3_600_000)
    expect((await world.getService('web')).metadata.resourceVersion).toBe(before)
  })

  test('W18: a client that comes early gets its answer when an endpoint is ready', async () => {
    const world = await startServices()
    await world.createService('web', toWeb)
    await world.untilService('web', hasAddress)
    const early = (await world.connect('web')).send('GET ').send('/')
    await world.plane.advance(2000)
    expect(early.received).toBe('')
    const server = await world.startServer('web-1')
    await world.untilService('web', isServing)
    await world.plane.advance(100)
    expect(early.received).toBe('web-1;')
    expect(server.peers.map(({ received }) => received)).toEqual(['GET /'])
    await world.plane.until(async () => (await reasonsOf(world, 'web')).includes('ConnectionsWaiting'))
  })

  test('W18: a client that comes early and goes away reaches no endpoint', async () => {
    const world = await startServices()
    await world.createService('web', toWeb)
    await world.untilService('web', hasAddress)
    const early = await world.connect('web')
    await world.plane.advance(100)
    early.connection.resetAndDestroy()
    const server = await world.startServer('web-1')
    await world.untilService('web', isServing)
    await world.plane.advance(1000)
    expect(server.peers).toEqual([])
  })

  test('W19: the 101st connection that waits closes the oldest, with one event', async () => {
    const world = await startServices()
    await world.createService('web', toWeb)
    await world.untilService('web', hasAddress)
    const clients = []
    for (let number = 1; number <= 103; number++) {
      clients.push(await world.connect('web'))
      await world.plane.advance(1)
    }
    await world.plane.advance(100)
    expect(clients.filter(({ hasEnded }) => hasEnded)).toHaveLength(3)
    expect(clients.slice(0, 3).every(({ hasEnded }) => hasEnded)).toBe(true)
    await world.plane.until(async () => (await reasonsOf(world, 'web')).includes('ConnectionsDropped'))
    const events = await world.events('web')
    expect(events.filter(({ reason }) => reason === 'ConnectionsDropped')).toEqual([
      { reason: 'ConnectionsDropped', note: 'more than 100 connections waited for an endpoint: the oldest are closed' },
    ])
    expect(events.filter(({ reason }) => reason === 'ConnectionsWaiting')).toHaveLength(1)
  })

  test('W19: a connection waits 30 s, not longer', async () => {
    const world = await startServices()
    await world.createService('web', toWeb)
    await world.untilService('web', hasAddress)
    const client = await world.connect('web')
    await world.plane.advance(29_000)
    expect(client.hasEnded).toBe(false)
    await world.plane.advance(1500)
    expect(client.hasEnded).toBe(true)
    await world.plane.until(async () => (await reasonsOf(world, 'web')).includes('ConnectionsDropped'))
  })

  test('W19: of connections that wait about 1 MiB is read, and nothing is lost', async () => {
    const world = await startServices()
    await world.createService('web', toWeb)
    await world.untilService('web', hasAddress)
    const clients = await Promise.all(Array.from({ length: 4 }, () => world.connect('web')))
    const text = 'x'.repeat(600_000)
    for (const client of clients) client.send(text)
    await world.plane.advance(100)
    const unsent = clients.reduce((sum, { connection }) => sum + connection.writableLength, 0)
    expect(unsent).toBeGreaterThan(4 * 600_000 - 1_048_576 - 4 * 100_000)
    const server = await world.startServer('web-1')
    await world.untilService('web', isServing)
    await world.plane.advance(1000)
    expect(server.peers.map(({ received }) => received.length)).toEqual([600_000, 600_000, 600_000, 600_000])
  })

  test('W20: an endpoint exists while its Process is Ready; its connections are kept without it', async () => {
    const { world, servers } = await withServers('web-1')
    const client = await world.connect('web')
    await world.plane.advance(10)
    const [endpoint] = await world.endpoints()
    expect(endpoint).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Service', name: 'web' }] },
      spec: { service: 'web', address: '127.0.0.1', targetRef: { kind: 'Process', name: 'web-1' } },
    })
    world.healthy.delete('web-1')
    await world.plane.advance(2000)
    const withdrawn = await world.untilService('web', ({ status }) => status?.endpoints === 0)
    expect(conditionIn(withdrawn, 'Ready')?.message).toBe('none of 1 selected workloads is ready')
    await world.plane.until(async () => (await world.endpoints()).length === 0)
    client.send('still there')
    const late = await world.connect('web')
    await world.plane.advance(100)
    expect(servers[0]?.peers.map(({ received }) => received)).toEqual(['still there'])
    expect(late.received).toBe('')
    world.healthy.add('web-1')
    await world.plane.advance(2000)
    await world.untilService('web', isServing)
    await world.plane.advance(100)
    expect(late.received).toBe('web-1;')
    expect(await world.endpoints()).toHaveLength(1)
  })

  test('passes connections on in turn, and to another endpoint when one does not answer', async () => {
    const { world } = await withServers('web-1', 'web-2')
    const clients = []
    for (let number = 0; number < 4; number++) clients.push(await world.connect('web'))
    await world.plane.advance(100)
    expect(clients.map(({ received }) => received).sort()).toEqual(['web-1;', 'web-1;', 'web-2;', 'web-2;'])
    const { status } = await world.get('web-1')
    world.network.serve({ address: '127.0.0.1', port: status?.run?.ports?.[0]?.port ?? 0 }, undefined)
    const later = [await world.connect('web'), await world.connect('web')]
    await world.plane.advance(100)
    expect(later.map(({ received }) => received)).toEqual(['web-2;', 'web-2;'])
  })

  test('a connection waits while no endpoint answers, and gets through when one does', async () => {
    const { world, servers } = await withServers('web-1')
    const { status } = await world.get('web-1')
    const at = { address: '127.0.0.1', port: status?.run?.ports?.[0]?.port ?? 0 }
    world.network.serve(at, undefined)
    const client = (await world.connect('web')).send('late')
    await world.plane.advance(1000)
    expect(client.hasEnded).toBe(false)
    world.network.serve(at, servers[0]?.accept)
    await world.plane.advance(500)
    expect(client.received).toBe('web-1;')
    expect(servers[0]?.peers.map(({ received }) => received)).toEqual(['late'])
  })

  test('an end of one direction is passed on, the other goes on; a reset is one for the other side', async () => {
    const { world, servers } = await withServers('web-1')
    const [half, broken] = [await world.connect('web'), await world.connect('web')]
    half.send('question').connection.end()
    await world.plane.advance(10)
    const [ended, other] = servers[0]?.peers ?? []
    expect(ended).toMatchObject({ received: 'question', hasEnded: true })
    ended?.send('answer').connection.end()
    await world.plane.advance(10)
    expect(half).toMatchObject({ received: 'web-1;answer', hasEnded: true, error: undefined })
    broken.connection.resetAndDestroy()
    await world.plane.advance(10)
    expect(other).toMatchObject({ isClosed: true, error: 'ECONNRESET' })
  })

  test('deleted, it accepts nothing, and its connections end after drainSeconds', async () => {
    const { world, servers } = await withServers('web-1')
    await world.patchService('web', { drainSeconds: 3 })
    const [short, long] = [await world.connect('web'), await world.connect('web')]
    await world.plane.advance(10)
    await world.client.delete(await world.client.get(Service, { name: 'web', namespace: 'default' }))
    await world.plane.advance(1000)
    expect(world.network.listening()).toEqual([])
    expect((await world.getService('web')).status?.conditions?.find(({ type }) => type === 'Finalizing')?.status).toBe(
      'True',
    )
    short.send('bye').connection.end()
    servers[0]?.peers[0]?.connection.end()
    await world.plane.advance(1000)
    expect(short.isClosed).toBe(true)
    expect(long).toMatchObject({ isClosed: false, hasEnded: false })
    await world.plane.advance(3000)
    expect(long.hasEnded).toBe(true)
    await world.plane.until(
      async () => (await world.client.find(Service, { name: 'web', namespace: 'default' })) === undefined,
    )
    await world.plane.until(async () => (await world.endpoints()).length === 0)
  })
})

describe('endpoints', () => {
  test('of users lead to servers elsewhere, and say when there is no such Service', async () => {
    const world = await startServices()
    const server = new NamedServer('db')
    world.network.serve({ address: '10.0.0.7', port: 5432 }, server.accept)
    await world.createEndpoint('db-elsewhere', { service: 'db', address: '10.0.0.7', port: 5432 })
    await world.plane.until(async () =>
      (await world.endpoints()).some((one) =>
        one.status?.conditions?.some(({ reason }) => reason === 'ServiceNotFound'),
      ),
    )
    await world.createService('db', { appProtocol: 'postgres', port: 5432 })
    const { status } = await world.untilService('db', isServing)
    expect(status?.url).toBe('postgres://127.0.0.1:5432')
    const client = await world.connect('db')
    await world.plane.advance(10)
    expect(client.received).toBe('db;')
    await world.plane.until(
      async () => (await world.endpoints())[0]?.status?.conditions?.[0]?.reason !== 'ServiceNotFound',
    )
  })

  test('a target port is a number, a name, or the first port; a name that a Process does not have is reported', async () => {
    const world = await startServices()
    await world.createService('web', { ...toWeb, targetPort: 'admin' })
    await world.createService('fixed', { ...toWeb, targetPort: 9000 })
    await world.createService('first', toWeb)
    await world.createProcess('web-1', { ports: [{ name: 'http' }, { name: 'metrics' }], probes: undefined })
    await world.until('web-1', isReady)
    const { status } = await world.get('web-1')
    const service = await world.untilService('web', (one) => conditionIn(one, 'Ready')?.reason === 'PortNotFound')
    expect(conditionIn(service, 'Ready')?.message).toBe(
      'Process web-1 has no port "admin" (it has http, metrics): correct spec.targetPort, or add the port to the Process',
    )
    await world.untilService('fixed', isServing)
    await world.untilService('first', isServing)
    const ports = Object.fromEntries((await world.endpoints()).map(({ spec }) => [spec.service, spec.port]))
    expect(ports).toEqual({ fixed: 9000, first: status?.run?.ports?.[0]?.port })
  })

  test('a Service without a proxy has the address of its first endpoint, and keeps it', async () => {
    const world = await startServices()
    await world.createService('web', { ...toWeb, proxyless: true })
    const waiting = await world.untilService('web', (one) => conditionIn(one, 'Ready') !== undefined)
    expect(conditionIn(waiting, 'AddressAllocated')).toMatchObject({ status: 'False', reason: 'NoEndpoint' })
    await world.startServer('web-1')
    const { status } = await world.untilService('web', isServing)
    expect(status?.port).toBe((await world.get('web-1')).status?.run?.ports?.[0]?.port)
    expect(world.network.listening()).toEqual([])
    world.healthy.delete('web-1')
    await world.plane.advance(2000)
    const after = await world.untilService('web', (one) => !isServing(one))
    expect(after.status?.url).toBe(status?.url)
  })
})

describe('the port of a Service', () => {
  test('W17: one that is taken names its holder, and is used when it is free', async () => {
    const world = await startServices()
    world.host.setListener(8080, { pid: 7, command: 'nginx -g' })
    await world.createService('web', { port: 8080 })
    const waiting = await world.untilService('web', (one) => conditionIn(one, 'Listening') !== undefined)
    const problem = {
      status: 'False',
      reason: 'PortTaken',
      message: 'port 8080 is taken by process 7 (nginx -g): end it, or choose another port',
    }
    for (const type of ['AddressAllocated', 'Listening', 'Ready'])
      expect(conditionIn(waiting, type)).toMatchObject(problem)
    const before = waiting.metadata.resourceVersion
    await world.plane.advance(60_000)
    expect((await world.getService('web')).metadata.resourceVersion).toBe(before)
    world.host.setListener(8080, undefined)
    await world.plane.advance(2000)
    expect((await world.untilService('web', hasAddress)).status?.port).toBe(8080)
  })

  test('W16: no Process and no other Service gets it', async () => {
    const world = await startServices()
    await world.createService('a', {})
    await world.untilService('a', hasAddress)
    await world.createProcess('web-1', { probes: undefined })
    await world.createService('b', {})
    await world.until('web-1', isReady)
    await world.untilService('b', hasAddress)
    await world.createService('c', { port: 10_000 })
    const refused = await world.untilService('c', (one) => conditionIn(one, 'Listening') !== undefined)
    expect(conditionIn(refused, 'Listening')?.message).toBe(
      'port 10000 belongs to Service default/a: choose another port',
    )
    const used = [
      (await world.getService('a')).status?.port,
      (await world.getService('b')).status?.port,
      (await world.get('web-1')).status?.run?.ports?.[0]?.port,
    ]
    expect(new Set(used).size).toBe(3)
  })

  test('a change of port or address moves it, and connections go on', async () => {
    const { world, servers } = await withServers('web-1')
    const client = await world.connect('web')
    await world.plane.advance(10)
    await world.patchService('web', { port: 8088 })
    await world.untilService('web', ({ status }) => status?.port === 8088)
    expect(world.network.listening()).toEqual(['127.0.0.1:8088'])
    await world.patchService('web', { address: '0.0.0.0' })
    const { status } = await world.untilService(
      'web',
      ({ metadata, status }) => status?.observedGeneration === metadata.generation,
    )
    expect(status).toMatchObject({ address: '127.0.0.1', port: 8088 })
    expect(world.network.listening()).toEqual(['0.0.0.0:8088'])
    client.send('still there')
    await world.plane.advance(10)
    expect(servers[0]?.peers[0]?.received).toBe('still there')
  })

  test('an address that this machine does not have is named', async () => {
    const world = await startServices()
    world.network.setFailure({ address: '::1', port: 9000 }, { reason: 'AddressNotAvailable', message: 'no ::1' })
    await world.createService('web', { address: '::1', port: 9000 })
    const failed = await world.untilService('web', (one) => conditionIn(one, 'Listening') !== undefined)
    expect(conditionIn(failed, 'Listening')).toMatchObject({ status: 'False', reason: 'AddressNotAvailable' })
    world.network.setFailure({ address: '::1', port: 9000 }, undefined)
    await world.plane.advance(2000)
    expect((await world.untilService('web', hasAddress)).status?.url).toBe('tcp://[::1]:9000')
  })
})

describe('the port of a Service after a crash', () => {
  /** An Evenkeel on a plane that outlives it. */
  const start = (plane: TestPlane, host: SimulatedHost) => {
    const network = new SimulatedNetwork()
    const parts = { host, files: new SimulatedFiles(), network, clock: plane.clock, random: new SeededRandom('1') }
    const { controllers } = workloads({ folder: '/data', env: {}, ...parts })
    const manager = new Manager({
      name: 'test',
      transport: plane.plane.transport,
      clock: plane.clock,
      random: new SeededRandom('2'),
      controllers,
      leaderElection: false,
    })
    const stopping = new AbortController()
    let isOver = false
    void manager.run(stopping.signal).then(() => (isOver = true))
    const stop = async (): Promise<void> => {
      stopping.abort()
      await plane.until(() => isOver)
    }
    onTestFinished(stop)
    return { network, stop }
  }

  test('W16: is the same, also when another object is looked at first; W17: taken by another program, it moves', async () => {
    const plane = await startTestPlane({ kinds: [Process, Service, Endpoint, Container], simulated: true })
    onTestFinished(() => plane.stop())
    const host = new SimulatedHost({ clock: plane.clock })
    const create = (name: string): Promise<unknown> =>
      plane.client.create(Service, { metadata: { name, namespace: 'default' }, spec: {} })
    const portOf = async (name: string): Promise<number | undefined> =>
      (await plane.client.find(Service, { name, namespace: 'default' }))?.status?.port
    const first = start(plane, host)
    for (const name of ['b', 'c']) {
      await create(name)
      await plane.until(async () => (await portOf(name)) !== undefined)
    }
    await first.stop()
    host.setListener(10_001, { pid: 7, command: 'nginx' })
    await create('a')
    const second = start(plane, host)
    await plane.until(async () => (await portOf('a')) !== undefined && (await portOf('c')) !== 10_001)
    const ports = { a: await portOf('a'), b: await portOf('b'), c: await portOf('c') }
    expect(ports.b).toBe(10_000)
    expect([ports.a, ports.c].sort()).toEqual([10_002, 10_003])
    expect(second.network.listening()).toEqual(['127.0.0.1:10000', '127.0.0.1:10002', '127.0.0.1:10003'])
    const events = async () => (await plane.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })).items
    await plane.until(async () =>
      (await events()).some((one) =>
        JSON.stringify(one).includes(`now on port ${ports.c}: port 10001 is taken by process 7 (nginx)`),
      ),
    )
  })
})

describe('bad inputs of Services', () => {
  test.each([
    ['port 70000', { port: 70_000 }, 'spec.port: Invalid value: 70000'],
    ['port -1', { port: -1 }, 'spec.port: Invalid value: -1'],
    ['port http', { port: 'http' }, 'spec.port: Invalid value'],
    ['target port 0', { targetPort: 0 }, 'spec.targetPort: Invalid value'],
    ['target port HTTP', { targetPort: 'HTTP' }, 'must be a port from 1 to 65535, or the name of a port'],
    ['an address of another machine', { address: '10.0.0.1' }, 'spec.address: Unsupported value'],
    ['a selector that selects everything', { selector: { matchLabels: {} } }, 'spec.selector.matchLabels'],
    ['a port without a proxy', { proxyless: true, port: 80 }, 'spec.port: Invalid value'],
    ['an application protocol', { appProtocol: 'Ht tp' }, 'spec.appProtocol: Invalid value'],
  ])('%s is refused with the path of the field', async (_, spec, message) => {
    const world = await startServices()
    await expect(world.createService('web', spec)).rejects.toThrow(message)
  })

  test.each([
    [{ name: 'A', value: 'a', valueFrom: { service: { name: 'db' } } }, 'must be absent with valueFrom'],
    [{ name: 'A', valueFrom: {} }, 'spec.env[0].valueFrom'],
    [{ name: 'A', valueFrom: { service: { name: 'db' }, secret: { name: 'x', key: 'y' } } }, 'spec.env[0].valueFrom'],
    [{ name: 'A', valueFrom: { service: { name: 'db', field: 'ip' } } }, 'spec.env[0].valueFrom.service.field'],
    [{ name: 'A', valueFrom: { secret: { name: 'x' } } }, 'spec.env[0].valueFrom.secret.key'],
  ])('the variable %j is refused', async (variable, message) => {
    const world = await startServices()
    await expect(world.createProcess('web', { env: [variable] })).rejects.toThrow(message)
  })

  test('an endpoint without a port, or with a URL as its address, is refused', async () => {
    const world = await startServices()
    await expect(world.createEndpoint('a', { service: 'db' })).rejects.toThrow('spec.port: Required value')
    await expect(world.createEndpoint('a', { service: 'db', port: 1, address: 'http://x' })).rejects.toThrow(
      'spec.address',
    )
  })
})
