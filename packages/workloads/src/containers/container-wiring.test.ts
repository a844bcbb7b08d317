/** Containers behind Services, values of their variables that are elsewhere, and what they wait for, in simulated time. */
import { describe, expect, test } from 'vitest'
import type { ProbeOutcome } from '../prober.ts'
import { Process } from '../process-kind.ts'
import { NamedServer, Peer } from '../services/services.fixture.ts'
import { Endpoint, Service, type EndpointObject, type ServiceObject } from '../services/service-kind.ts'
import { Task } from '../tasks/task-kind.ts'
import { Container, type ContainerObject } from './container-kind.ts'
import { conditionOf, isReady, isRun, phaseIs, startContainers } from './container-plane.fixture.ts'

const app = { image: 'app:1' }
const labels = { app: 'web' }
const toWeb = { selector: { matchLabels: labels } }
const http = { ports: [{ name: 'http', containerPort: 80 }] }

/** A plane with the Service web, and shortcuts for what is behind it. */
async function startWired(serviceSpec: object = {}) {
  const world = await startContainers()
  const { client, plane } = world
  await world.create('web', { ...toWeb, ...serviceSpec }, Service)
  const getService = async (): Promise<ServiceObject> =>
    (await client.get(Service, { name: 'web', namespace: 'default' })) as ServiceObject
  const endpoints = async (): Promise<readonly EndpointObject['spec'][]> =>
    ((await client.list(Endpoint, { namespace: 'default' })).items as readonly EndpointObject[])
      .map(({ spec }) => spec)
      .toSorted((a, b) => (a.targetRef?.kind ?? '').localeCompare(b.targetRef?.kind ?? ''))
  return {
    ...world,
    getService,
    endpoints,
    untilEndpoints: (count: number) => plane.until(async () => (await endpoints()).length === count),
    untilService: (reason: string) =>
      plane.until(async () => conditionOf((await getService()) as never, 'Ready')?.reason === reason),
    createBackend: (name: string, spec: object) =>
      client.create(Container, {
        metadata: { name, namespace: 'default', labels },
        spec: { ...app, ...spec },
      } as never),
  }
}

const portOf = ({ status }: ContainerObject): number => status?.run?.ports?.[0]?.port ?? 0

describe('a Container behind a Service', () => {
  test('W20: is an endpoint at its published port while it is Ready, and gets the connections', async () => {
    const world = await startWired({ targetPort: 'http' })
    let health: ProbeOutcome = { isOk: false, output: 'refused' }
    world.probes.answer = () => health
    const readiness = { tcp: { port: 'http' }, periodSeconds: 1, failureThreshold: 1 }
    await world.createBackend('web-1', { ...http, probes: { readiness } })
    await world.until('web-1', phaseIs('Running'))
    await world.untilService('NoEndpoints')
    expect(conditionOf((await world.getService()) as never, 'Ready')?.message).toBe(
      'none of 1 selected workloads is ready',
    )
    health = { isOk: true, output: '' }
    await world.plane.advance(1000)
    const port = portOf(await world.until('web-1', isReady))
    await world.untilEndpoints(1)
    expect(await world.endpoints()).toEqual([
      { service: 'web', address: '127.0.0.1', port, targetRef: { kind: 'Container', name: 'web-1' } },
    ])
    const server = new NamedServer('web-1')
    world.network.serve({ address: '127.0.0.1', port }, server.accept)
    const { address = '', port: servicePort = 0 } = (await world.getService()).status ?? {}
    const client = new Peer(world.network.connect({ address, port: servicePort }))
    await world.plane.advance(100)
    expect(client.received).toBe('web-1;')
    health = { isOk: false, output: 'refused' }
    await world.plane.advance(2000)
    await world.untilEndpoints(0)
    expect(client.hasEnded).toBe(false)
  })

  test('a number is a port in the container; a port for all addresses is reached on this one; UDP is none', async () => {
    const world = await startWired({ targetPort: 8080 })
    const ports = [
      { name: 'dns', containerPort: 8080, protocol: 'UDP' },
      { name: 'web', containerPort: 8080, hostPort: 18_080, hostIP: '0.0.0.0' },
    ]
    await world.createBackend('web-1', { ports })
    await world.untilEndpoints(1)
    expect(await world.endpoints()).toMatchObject([{ address: '127.0.0.1', port: 18_080 }])
  })

  test('one without the port is named, and a Process of the same name is another endpoint', async () => {
    const world = await startWired({ targetPort: 'http' })
    await world.createBackend('web', { ports: [{ name: 'admin', containerPort: 81 }] })
    await world.untilService('PortNotFound')
    expect(conditionOf((await world.getService()) as never, 'Ready')?.message).toBe(
      'Container web has no port "http" (it has admin): correct spec.targetPort, or add the port to the Container',
    )
    await world.remove('web')
    await world.untilGone('web')
    await world.createBackend('web', http)
    const metadata = { name: 'web', namespace: 'default', labels }
    await world.client.create(Process, { metadata, spec: { command: ['serve'], ports: [{ name: 'http' }] } } as never)
    await world.untilEndpoints(2)
    expect((await world.endpoints()).map(({ targetRef }) => `${targetRef?.kind} ${targetRef?.name}`)).toEqual([
      'Container web',
      'Process web',
    ])
  })
})

describe('variables of a Container with values elsewhere', () => {
  const url = { name: 'WEB_URL', valueFrom: { service: { name: 'web' } } }
  const envOf = (world: Awaited<ReturnType<typeof startWired>>, { status }: ContainerObject) =>
    world.runtime.planOf(status?.run?.containerName ?? '')?.env

  test('an address has the name by which the container reaches this machine; a key of a Secret is its value', async () => {
    const world = await startWired({ appProtocol: 'http' })
    const token = { name: 'TOKEN', valueFrom: { secret: { name: 'keys', key: 'token' } } }
    const host = { name: 'WEB_HOST', valueFrom: { service: { name: 'web', field: 'address' } } }
    await world.create('client', { ...app, env: [url, host, token, { name: 'MODE', value: 'test' }] })
    const waiting = await world.until('client', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Ready')?.message).toContain(
      'waits for Secret keys, which does not exist (spec.env[2].valueFrom)',
    )
    await world.client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'default' },
      stringData: { token: 's3cret' },
    })
    const ready = await world.until('client', isReady)
    const { port } = (await world.getService()).status ?? {}
    expect(envOf(world, ready)).toEqual({
      EVENKEEL_HOST: 'host.simulated.internal',
      WEB_URL: `http://host.simulated.internal:${port}`,
      WEB_HOST: `host.simulated.internal:${port}`,
      TOKEN: 's3cret',
      MODE: 'test',
    })
    expect(JSON.stringify([ready, await world.events('client')])).not.toContain('s3cret')
  })

  test('another value makes another container; an object that disappears does not', async () => {
    const world = await startWired({ port: 12_000 })
    await world.create('client', { ...app, env: [url] })
    await world.until('client', isReady)
    await world.client.patch(await world.getService(), { spec: { port: 12_001 } } as never)
    const changed = await world.until('client', isRun(2))
    expect(changed.status?.run?.cause).toBe('spec.env.valueFrom changed')
    expect(envOf(world, changed)?.['WEB_URL']).toBe('tcp://host.simulated.internal:12001')
    await world.remove('web', Service)
    await world.untilGone('web', Service)
    await world.plane.advance(10_000)
    expect((await world.get('client')).status?.run?.number).toBe(2)
  })
})

describe('what a Container waits for', () => {
  test('W15: a Task that has completed and a Service that is ready', async () => {
    const world = await startWired()
    const dependsOn = [
      { kind: 'Task', name: 'migrate', until: 'Completed' },
      { kind: 'Service', name: 'web' },
    ]
    await world.create('client', { ...app, dependsOn })
    const waiting = await world.until('client', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Ready')?.message).toMatch(
      /waits for Task migrate.*; waits for Service web|waits for Service web.*; waits for Task migrate/,
    )
    await world.createBackend('web-1', http)
    await world.untilEndpoints(1)
    await world.create('migrate', { template: { spec: { command: ['migrate'] } } }, Task)
    await world.plane.until(() => world.host.processes().length === 1)
    expect((await world.get('client')).status?.phase).toBe('Waiting')
    world.host.exit(world.host.processes()[0]?.pid ?? 0, { exitCode: 0 })
    await world.until('client', isReady)
  })

  test('a Service never completes: until says what to write instead', async () => {
    const world = await startContainers()
    const dependsOn = [{ kind: 'Service', name: 'web', until: 'Completed' }]
    await expect(world.create('client', { ...app, dependsOn })).rejects.toThrow(
      'a ProcessSet and a Service never complete',
    )
  })

  test('W40: at the end it goes before what is behind the Service whose address it has', async () => {
    const world = await startWired()
    await world.createBackend('web-1', http)
    await world.create('client', { ...app, env: [{ name: 'WEB', valueFrom: { service: { name: 'web' } } }] })
    await world.until('client', isReady)
    await world.untilEndpoints(1)
    const ending = world.work.shutdown()
    await world.plane.advance(1000)
    expect((await ending).outcomes.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      'client Stopped',
      'web-1 Stopped',
    ])
  })
})
