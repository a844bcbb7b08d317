/** Containers, networks, volumes and programs in containers, on a runtime in memory. */
import type { Stored, ObjectOf } from 'evenkeel'
import { expect, test } from 'vitest'
import { startApplication, stateIs } from '../controllers/plane.fixture.ts'
import { Container, ContainerExec, ContainerVolume } from '../kinds/container.ts'
import { ContainerNetwork, ContainerNetworkConnection, Endpoint, Service } from '../kinds/network.ts'

type Application = Awaited<ReturnType<typeof startApplication>>

const names = ({ runtime }: Application): readonly string[] =>
  runtime.containers().map(({ name, state }) => `${name} ${state}`)
const stranger = (name: string) => ({
  ...{ name, image: 'app:1', env: { FROM: 'elsewhere' }, labels: {}, ports: [], mounts: [], networks: [] },
  extraHosts: [],
})
const persistent = (env: string) => ({
  spec: { image: 'app:1', containerName: 'db', persistent: true, env: [{ name: 'A', value: env }] },
})

test('a Container runs, and its status has the names and fields of dcp', async () => {
  const app = await startApplication()
  await app.create(Container, 'web', {
    spec: { image: 'app:1', command: 'sleep', args: ['1000'], env: [{ name: 'A', value: 'b' }], lifecycleKey: 'key' },
  })
  const { status, metadata } = await app.until(Container, 'web', stateIs('Running'))
  const [container] = app.runtime.containers()
  expect(status).toEqual({
    observedGeneration: 1,
    state: 'Running',
    containerId: container?.id,
    containerName: `web-${metadata.uid.slice(0, 8)}`,
    startupTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/) as string,
    effectiveEnv: [{ name: 'A', value: 'b' }],
    effectiveArgs: ['1000'],
    networks: [],
    lifecycleKey: 'key',
    healthStatus: 'Healthy',
  })
})

test.each([
  { args: ['-c', 'sleep 1; exit 3'], exitCode: 3, healthStatus: 'Unhealthy' },
  { args: ['-c', 'sleep 1; exit 0'], exitCode: 0, healthStatus: 'Caution' },
])('a Container that exits with $exitCode is Exited and $healthStatus', async ({ args, exitCode, healthStatus }) => {
  const app = await startApplication()
  await app.create(Container, 'job', { spec: { image: 'app:1', command: 'sh', args } })
  const { status } = await app.until(Container, 'job', stateIs('Exited'))
  expect(status).toMatchObject({ exitCode, healthStatus, finishTimestamp: expect.any(String) as string })
  await app.plane.advance(60_000)
  // It is run once.
  expect(app.runtime.containers().map(({ state }) => state)).toEqual(['exited'])
})

test('a Container waits for spec.start, is paused by others, and is stopped by spec.stop', async () => {
  const app = await startApplication()
  const created = await app.create(Container, 'web', { spec: { image: 'app:1', start: false } })
  await app.plane.advance(5000)
  expect(app.runtime.calls()).toEqual([])
  await app.client.patch(created, { spec: { start: true } } as never)
  const { status } = await app.until(Container, 'web', stateIs('Running'))
  app.runtime.setPaused(status?.containerName ?? '', true)
  await app.until(Container, 'web', stateIs('Paused'))
  app.runtime.setPaused(status?.containerName ?? '', false)
  await app.until(Container, 'web', stateIs('Running'))
  await app.client.patch(created, { spec: { stop: true } } as never)
  expect((await app.until(Container, 'web', stateIs('Exited'))).status).toMatchObject({ exitCode: 143 })
})

test('a container that another program removes is Unknown, and is not made again', async () => {
  const app = await startApplication()
  await app.create(Container, 'web', { spec: { image: 'app:1' } })
  const { status } = await app.until(Container, 'web', stateIs('Running'))
  await app.runtime.removeContainer(status?.containerId ?? '')
  const lost = await app.until(Container, 'web', stateIs('Unknown'))
  expect(lost.status?.finishTimestamp).toBeDefined()
  await app.plane.advance(60_000)
  expect(names(app)).toEqual([])
  expect(app.systemLog(lost)).toContain('was removed by another program')
})

test.each([
  { what: 'an image that is not there', spec: { image: 'no/such:1' }, message: 'cannot pull no/such:1' },
  { what: 'a program that is not there', spec: { image: 'app:1', command: 'nothing' }, message: 'not found' },
  { what: 'a terminal', spec: { image: 'app:1', terminal: {} }, message: 'terminals are not supported' },
  { what: 'a word for a command', spec: { image: 'app:1', runArgs: ['--privileged'] }, message: '"--privileged"' },
  {
    what: 'a name that is taken',
    spec: { image: 'app:1', containerName: 'theirs' },
    message: 'the name theirs is taken',
  },
])('a Container with $what is FailedToStart, says why, and leaves nothing', async ({ spec, message }) => {
  const app = await startApplication()
  app.runtime.addStranger(stranger('theirs'))
  await app.create(Container, 'web', { spec })
  const failed = await app.until(Container, 'web', stateIs('FailedToStart'))
  expect(failed.status?.message).toContain(message)
  expect(app.systemLog(failed)).toContain(message)
  expect(failed.status?.healthStatus).toBe('Unhealthy')
  await app.plane.advance(60_000)
  expect(names(app)).toEqual(['theirs running'])
})

test('an image is pulled, and the log of the start names it', async () => {
  const app = await startApplication()
  app.runtime.setRegistry('far/app:2', 'present')
  await app.create(Container, 'web', { spec: { image: 'far/app:2' } })
  const { status } = await app.until(Container, 'web', stateIs('Running'))
  expect(app.files.contents[status?.startupStdOutFile ?? '']).toMatch(/^\S+Z pulls far\/app:2\n$/)
})

test('an image is built, with its tag and its labels', async () => {
  const app = await startApplication()
  await app.create(Container, 'web', { spec: { build: { context: '/src', tags: ['built:1'] } } })
  await app.until(Container, 'web', stateIs('Running'))
  expect(app.runtime.planOf(app.runtime.containers()[0]?.name ?? '')?.image).toBe('built:1')
  app.runtime.setBuildFailure('step 3 failed')
  await app.create(Container, 'api', { spec: { build: { context: '/src' } } })
  expect((await app.until(Container, 'api', stateIs('FailedToStart'))).status?.message).toContain('step 3 failed')
})

test('a Service in front of a Container is Ready while it runs, on a port that was chosen', async () => {
  const app = await startApplication()
  await app.create(Service, 'web', { spec: {} })
  await app.create(Container, 'web', {
    metadata: { name: 'web', annotations: { 'service-producer': '[{"serviceName":"web","port":80}]' } },
    spec: {
      image: 'app:1',
      ports: [{ containerPort: 80 }],
      env: [{ name: 'PORT', value: '{{ portForServing "web" }} {{ portFor "web" }}' }],
    },
  })
  const { status } = await app.until(Container, 'web', stateIs('Running'))
  const service = await app.until(Service, 'web', stateIs('Ready'))
  expect(status?.effectiveEnv).toEqual([{ name: 'PORT', value: `80 ${service.status?.effectivePort}` }])
  const [published] = app.runtime.containers()[0]?.ports ?? []
  expect(published?.hostPort).toBeGreaterThan(1024)
  expect(published?.hostPort).not.toBe(service.status?.effectivePort)
  const [endpoint] = (await app.client.list(Endpoint)).items
  expect(endpoint?.spec).toMatchObject({ serviceName: 'web', address: '127.0.0.1', port: published?.hostPort })
  app.runtime.exit(status?.containerName ?? '', 0)
  await app.until(Service, 'web', stateIs('NotReady'))
  expect((await app.client.list(Endpoint)).items).toEqual([])
})

test('a Container waits for its networks and volumes, and is in a network by its aliases', async () => {
  const app = await startApplication()
  await app.create(Container, 'web', {
    spec: {
      image: 'app:1',
      networks: [{ name: 'back', aliases: ['www'] }],
      volumeMounts: [{ type: 'volume', source: 'data', target: '/data' }],
    },
  })
  await app.until(Container, 'web', stateIs('Starting'))
  expect(names(app)).toEqual([])
  await app.create(ContainerVolume, 'data', { spec: { name: 'data', persistent: false } })
  await app.create(ContainerNetwork, 'back', { spec: {} })
  const { status } = await app.until(Container, 'web', stateIs('Running'))
  expect(status?.networks).toEqual(['/back'])
  const network = await app.until(ContainerNetwork, 'back', ({ status: one }) => (one?.containerIds ?? []).length > 0)
  expect(network.status).toMatchObject({ state: 'Running', driver: 'bridge', containerIds: [status?.containerId] })
  expect(app.runtime.planOf(status?.containerName ?? '')?.networks).toEqual([
    { name: network.status?.networkName, aliases: ['www'] },
  ])
  const [connection] = (await app.client.list(ContainerNetworkConnection)).items
  expect(connection?.spec).toEqual({
    containerNetworkName: 'back',
    containerID: status?.containerId,
    aliases: ['www'],
  })
  for (const [kind, name] of [
    [Container, 'web'],
    [ContainerNetwork, 'back'],
    [ContainerVolume, 'data'],
  ] as const) {
    await app.client.delete(await app.client.get(kind as typeof Container, { name }))
    await app.untilGone(kind, name)
  }
  expect([names(app), app.runtime.networks(), app.runtime.volumes()]).toEqual([[], [], []])
  expect((await app.client.list(ContainerNetworkConnection)).items).toEqual([])
})

test('networks that are added to a spec, and removed from it, are connected and disconnected', async () => {
  const app = await startApplication()
  for (const name of ['one', 'two']) await app.create(ContainerNetwork, name, { spec: { networkName: name } })
  const created = await app.create(Container, 'web', { spec: { image: 'app:1', networks: [{ name: 'one' }] } })
  await app.until(Container, 'web', stateIs('Running'))
  await app.client.patch(created, { spec: { networks: [{ name: 'two', aliases: ['b'] }] } } as never)
  const inIt = () => app.runtime.containers()[0]?.networks.map(({ name }) => name)
  await app.plane.until(() => inIt()?.join() === 'two', { timeoutMs: 60_000 })
})

test('a volume that was there before, and one that is persistent, are left', async () => {
  const app = await startApplication()
  app.runtime.addStranger(stranger('other'))
  await app.create(ContainerVolume, 'theirs', { spec: { name: 'theirs', persistent: false } })
  await app.create(ContainerVolume, 'kept', { spec: { name: 'kept' } })
  for (const name of ['theirs', 'kept']) {
    await app.client.delete(await app.until(ContainerVolume, name, stateIs('Ready')))
    await app.untilGone(ContainerVolume, name)
  }
  expect(app.runtime.volumes().map(({ name }) => name)).toEqual(['theirs', 'kept'])
})

test('networks: a name that is taken fails, one that exists is used and left, one that does not is NotFound', async () => {
  const app = await startApplication()
  await app.runtime.createNetwork({ name: 'theirs', labels: {}, internal: false, ipv6: false })
  await app.create(ContainerNetwork, 'own', { spec: { networkName: 'theirs' } })
  expect((await app.until(ContainerNetwork, 'own', stateIs('FailedToStart'))).status?.message).toContain(
    'exists already',
  )
  await app.create(ContainerNetwork, 'used', { spec: { networkName: 'theirs', mode: 'existing' } })
  const used = await app.until(ContainerNetwork, 'used', stateIs('Running'))
  await app.create(ContainerNetwork, 'missing', { spec: { networkName: 'later', mode: 'existing' } })
  await app.until(ContainerNetwork, 'missing', stateIs('NotFound'))
  await app.runtime.createNetwork({ name: 'later', labels: {}, internal: false, ipv6: false })
  await app.until(ContainerNetwork, 'missing', stateIs('Running'))
  for (const one of [used, await app.client.get(ContainerNetwork, { name: 'own' })]) {
    await app.client.delete(one)
    await app.untilGone(ContainerNetwork, one.metadata.name)
  }
  expect(app.runtime.networks().map(({ name }) => name)).toEqual(['theirs', 'later'])
})

test('a persistent Container stays, is found again by its name, and is replaced when its spec was another one', async () => {
  const app = await startApplication()
  const again = async (env: string): Promise<Stored<ObjectOf<typeof Container>>> => {
    await app.create(Container, 'db', persistent(env))
    const running = await app.until(Container, 'db', stateIs('Running'))
    await app.client.delete(running)
    await app.untilGone(Container, 'db')
    return running
  }
  const first = await again('one')
  expect(names(app)).toEqual(['db running'])
  const second = await again('one')
  expect(second.status?.containerId).toBe(first.status?.containerId)
  const third = await again('two')
  expect(third.status?.containerId).not.toBe(first.status?.containerId)
  expect(third.status?.lifecycleKey).not.toBe(first.status?.lifecycleKey)
  expect(names(app)).toEqual(['db running'])
  // It outlives the session as well.
  await app.parts.stop()
  expect(names(app)).toEqual(['db running'])
})

test('a container of another program is used and left in mode existing, and removed in mode cleanup', async () => {
  const app = await startApplication()
  await app.create(Container, 'used', { spec: { containerName: 'theirs', mode: 'existing' } })
  await app.until(Container, 'used', stateIs('NotFound'))
  app.runtime.addStranger(stranger('theirs'))
  const used = await app.until(Container, 'used', stateIs('Running'))
  expect(used.status?.effectiveEnv).toEqual([{ name: 'FROM', value: 'elsewhere' }])
  // Its events are known by its id: its labels name no object.
  app.runtime.setPaused('theirs', true)
  await app.until(Container, 'used', stateIs('Paused'))
  await app.client.delete(used)
  await app.untilGone(Container, 'used')
  expect(names(app)).toEqual(['theirs paused'])
  await app.create(Container, 'gone', { spec: { containerName: 'theirs', mode: 'cleanup' } })
  await app.client.delete(await app.until(Container, 'gone', stateIs('Paused')))
  await app.untilGone(Container, 'gone')
  expect(names(app)).toEqual([])
})

test('a runtime that sleeps is waited for; a Container that was never made goes without it', async () => {
  const app = await startApplication()
  app.runtime.setAsleep(true)
  await app.create(Container, 'web', { spec: { image: 'app:1' } })
  await app.create(ContainerVolume, 'data', { spec: { name: 'data' } })
  const waiting = await app.until(Container, 'web', stateIs('RuntimeUnhealthy'))
  await app.until(ContainerVolume, 'data', stateIs('RuntimeUnhealthy'))
  await app.client.delete(waiting)
  await app.untilGone(Container, 'web')
  await app.create(Container, 'api', { spec: { image: 'app:1' } })
  app.runtime.setAsleep(false)
  await app.until(Container, 'api', stateIs('Running'))
  await app.until(ContainerVolume, 'data', stateIs('Ready'))
})

test('the end of the session removes what ends with it', async () => {
  const app = await startApplication()
  await app.create(ContainerNetwork, 'back', { spec: {} })
  await app.create(ContainerVolume, 'data', { spec: { name: 'data', persistent: false } })
  await app.create(Container, 'web', {
    spec: { image: 'app:1', networks: [{ name: 'back' }], volumeMounts: [{ source: 'data', target: '/d' }] },
  })
  await app.until(Container, 'web', stateIs('Running'))
  await app.until(ContainerVolume, 'data', stateIs('Ready'))
  await app.parts.stop()
  expect([names(app), app.runtime.networks(), app.runtime.volumes()]).toEqual([[], [], []])
})

test('a ContainerExec waits for its Container, runs once in it, and has its output in files', async () => {
  const app = await startApplication()
  await app.create(ContainerExec, 'migrate', {
    spec: { containerName: 'db', command: 'sh', args: ['-c', 'echo done; echo bad >&2; exit 4'] },
  })
  await app.until(ContainerExec, 'migrate', stateIs('Starting'))
  const db = await app.create(Container, 'db', { spec: { image: 'app:1' } })
  const { status } = await app.until(ContainerExec, 'migrate', stateIs('Finished'))
  expect(status).toMatchObject({ exitCode: 4, effectiveArgs: ['-c', 'echo done; echo bad >&2; exit 4'] })
  expect(app.files.contents[status?.stdOutFile ?? '']).toMatch(/^\S+Z done\n$/)
  expect(app.files.contents[status?.stdErrFile ?? '']).toMatch(/^\S+Z bad\n$/)
  await app.client.patch(db, { spec: { stop: true } } as never)
  await app.until(Container, 'db', stateIs('Exited'))
  await app.create(ContainerExec, 'late', { spec: { containerName: 'db', command: 'sh' } })
  await app.until(ContainerExec, 'late', stateIs('FailedToStart'))
})

test('health follows the probes of a Container that runs', async () => {
  const app = await startApplication()
  app.probes.answer = () => ({ isOk: false, output: 'no answer yet' })
  const http = { url: 'http://localhost:8080/health' }
  await app.create(Container, 'api', {
    spec: {
      image: 'app:1',
      healthProbes: [{ name: 'live', type: 'HTTP', httpProbe: http, schedule: { interval: '2s' } }],
    },
  })
  const failed = await app.until(Container, 'api', ({ status }) => status?.healthStatus === 'Unhealthy')
  expect(failed.status?.healthProbeResults).toMatchObject([{ outcome: 'Failure', probeName: 'live' }])
  app.probes.answer = () => ({ isOk: true, output: '' })
  await app.until(Container, 'api', ({ status }) => status?.healthStatus === 'Healthy')
})
