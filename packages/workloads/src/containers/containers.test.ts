/** Containers on a runtime in memory, in simulated time. */
import { describe, expect, test } from 'vitest'
import {
  conditionOf,
  isReady,
  isRun,
  phaseIs,
  reasonIs,
  startContainers,
  type ContainerPlane,
} from './container-plane.fixture.ts'
import { ContainerNetwork, ContainerVolume } from './container-kind.ts'
import { labelOf } from './container-labels.ts'
import { Process } from '../process-kind.ts'

const app = { image: 'app:1' }
const sh = (script: string): object => ({ ...app, command: ['sh', '-c', script] })
const namesOf = ({ runtime }: ContainerPlane): string[] => runtime.containers().map(({ name }) => name)
const only = ({ runtime }: ContainerPlane) => {
  expect(runtime.containers()).toHaveLength(1)
  return runtime.containers()[0] as ReturnType<typeof runtime.containers>[number]
}
const stranger = (name: string) => ({
  ...{ name, image: 'app:1', env: {}, labels: {}, ports: [], mounts: [], networks: [] },
  ...{ stopSignal: 'SIGTERM', extraHosts: [] },
})

describe('a Container', () => {
  test('runs, is Ready, and shows container and image; at rest nothing is written and nothing is asked', async () => {
    const world = await startContainers()
    await world.create('web', app)
    const { status, metadata } = await world.until('web', isReady)
    const { id, name, labels } = only(world)
    expect(name).toBe(`default-web-${metadata.uid?.slice(0, 8)}`)
    expect(status).toMatchObject({
      phase: 'Running',
      run: { number: 1, containerId: id, containerName: name, reason: 'Running', cause: 'it was created' },
      restarts: 0,
    })
    expect(labels).toMatchObject({
      [labelOf.uid]: metadata.uid,
      [labelOf.object]: 'default/web',
      [labelOf.lifetime]: 'session',
    })
    await world.plane.advance(5000)
    const before = (await world.get('web')).metadata.resourceVersion
    const calls = world.runtime.calls().length
    await world.plane.advance(3_600_000)
    expect((await world.get('web')).metadata.resourceVersion).toBe(before)
    expect(world.runtime.calls().length).toBe(calls)
  })

  test('without a Container the runtime is never asked, also when the program stops', async () => {
    const world = await startContainers()
    await world.plane.advance(60_000)
    expect(await world.work.stop()).toEqual([])
    expect(world.runtime.calls()).toEqual([])
  })

  test('W36: an image that does not exist, one that is denied, and one that is not on this machine have reasons of their own', async () => {
    const world = await startContainers()
    world.runtime.setRegistry('secret:1', 'denied')
    await world.create('missing', { image: 'missing:1' })
    await world.create('denied', { image: 'secret:1' })
    await world.create('never', { image: 'local:1', pullPolicy: 'Never' })
    for (const [name, reason] of [
      ['missing', 'ImageNotFound'],
      ['denied', 'PullDenied'],
      ['never', 'ImageNotFound'],
    ] as const) {
      const failed = await world.until(name, phaseIs('Failed'))
      expect(conditionOf(failed, 'ImageReady')).toMatchObject({ status: 'False', reason })
      expect(conditionOf(failed, 'Started')).toMatchObject({ status: 'False', reason })
    }
    expect(conditionOf(await world.get('never'), 'Started')?.message).toContain('pullPolicy is Never')
    // It appears in the registry: the next attempt finds it.
    world.runtime.setRegistry('missing:1', 'present')
    await world.plane.advance(20_000)
    await world.until('missing', isReady)
  })

  test('an image is pulled once with IfNotPresent, and for each requested run with Always', async () => {
    const world = await startContainers()
    world.runtime.setRegistry('app:2', 'present')
    await world.create('web', { image: 'app:2' })
    await world.create('fresh', { image: 'app:2', pullPolicy: 'Always' })
    await world.until('web', isReady)
    await world.until('fresh', isReady)
    const pulls = () => world.runtime.calls().filter((call) => call === 'pullImage').length
    const before = pulls()
    for (const name of ['web', 'fresh']) {
      await world.act(name, 'restart')
      await world.until(name, isRun(2))
    }
    expect(pulls() - before).toBe(1)
  })

  test('W36: a name that a stranger has: the condition names it, and the stranger is left alone', async () => {
    const world = await startContainers()
    const { id } = await world.runtime.createContainer(stranger('postgres'))
    await world.runtime.startContainer(id)
    await world.create('db', { ...app, containerName: 'postgres' })
    const waiting = await world.until('db', reasonIs('NameTaken'))
    expect(conditionOf(waiting, 'Started')?.message).toContain(`the name postgres is taken by the container ${id}`)
    await world.plane.advance(60_000)
    expect(world.runtime.containers()).toMatchObject([{ id, state: 'running' }])
    await world.remove('db')
    await world.untilGone('db')
    expect(world.runtime.containers()).toMatchObject([{ id, state: 'running' }])
    // It goes by itself: the name is free.
    await world.create('db', { ...app, containerName: 'postgres' })
    await world.until('db', reasonIs('NameTaken'))
    await world.runtime.removeContainer(id)
    await world.plane.advance(5000)
    await world.until('db', isReady)
  })

  test('W36: a container that is removed behind our back is made again, at once', async () => {
    const world = await startContainers()
    await world.create('web', app)
    await world.until('web', isReady)
    const before = world.plane.clock.now()
    await world.runtime.removeContainer(only(world).id)
    const { status } = await world.until('web', isRun(2))
    expect(world.plane.clock.now() - before).toBeLessThan(1000)
    expect(status?.run?.cause).toBe('its container was removed by another program')
    expect(status?.runs?.[0]).toMatchObject({ number: 1, reason: 'RemovedExternally' })
    expect(status?.restarts).toBe(0)
  })

  test('W36: a container that is paused is neither ready nor restarted, and is ready when it goes on', async () => {
    const world = await startContainers()
    await world.create('web', { ...app, probes: { liveness: { tcp: { port: '80' } } } })
    await world.until('web', isReady)
    const { name } = only(world)
    world.probes.answer = () => ({ isOk: false, output: 'no answer' })
    world.runtime.setPaused(name, true)
    const paused = await world.until('web', phaseIs('Paused'))
    expect(conditionOf(paused, 'Ready')).toMatchObject({ status: 'False', reason: 'Paused' })
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(1)
    world.probes.answer = () => ({ isOk: true, output: 'fine' })
    world.runtime.setPaused(name, false)
    await world.until('web', isRun(1))
    // One that is paused can be stopped.
    world.runtime.setPaused(name, true)
    await world.until('web', phaseIs('Paused'))
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
  })

  test('W36: the end of a program, its exit code, and the end of its memory are told apart', async () => {
    const world = await startContainers()
    const never = { restart: { policy: 'Never' } }
    await world.create('three', { ...sh('exit 3'), ...never })
    await world.create('fat', { ...app, command: ['oom'], limits: { memory: '16Mi' }, ...never })
    await world.create('fine', { ...sh('exit 0'), ...never })
    const three = await world.until('three', phaseIs('Failed'))
    expect(three.status?.run).toMatchObject({ exitCode: 3, reason: 'Exited', message: 'exited with code 3' })
    expect(conditionOf(three, 'Started')?.reason).toBe('ExitCode')
    const fat = await world.until('fat', phaseIs('Failed'))
    expect(fat.status?.run).toMatchObject({ exitCode: 137, reason: 'OOMKilled' })
    expect(conditionOf(fat, 'Started')).toMatchObject({ reason: 'OOMKilled' })
    expect(conditionOf(fat, 'Started')?.message).toContain('raise spec.limits.memory')
    const fine = await world.until('fine', phaseIs('Succeeded'))
    expect(conditionOf(fine, 'Completed')?.status).toBe('True')
    await world.plane.advance(60_000)
    expect((await world.get('three')).status?.run?.number).toBe(1)
  })

  test('a crash loop waits longer and longer, and keeps the last five runs', async () => {
    const world = await startContainers()
    await world.create('web', sh('sleep 0.01; exit 3'))
    await world.until('web', phaseIs('BackOff'))
    for (let number = 2; number <= 7; number++) {
      await world.plane.advance(16_000)
      await world.until('web', ({ status }) => (status?.run?.number ?? 0) >= number && status?.phase === 'BackOff')
    }
    const { status } = await world.get('web')
    expect(status?.runs).toHaveLength(5)
    expect(status?.restarts).toBe((status?.run?.number ?? 0) - 1)
    expect(status?.run?.number).toBeLessThan(14)
    expect(only(world).state).toBe('exited')
  })

  test('W36: a port that is taken names its holder, and the container starts when it is free', async () => {
    const world = await startContainers()
    world.host.setListener(5432, { pid: 77, command: 'postgres' })
    await world.create('db', { ...app, ports: [{ name: 'sql', containerPort: 5432, hostPort: 5432 }] })
    const waiting = await world.until('db', reasonIs('PortTaken'))
    expect(conditionOf(waiting, 'Started')?.message).toBe(
      'port 5432 is taken by process 77 (postgres): end it, or choose another hostPort',
    )
    expect(waiting.status?.phase).toBe('Waiting')
    world.host.setListener(5432, undefined)
    await world.plane.advance(2000)
    await world.until('db', isReady)
  })

  test('W36: a port that only the runtime knows to be taken is PortTaken as well, and nothing is left of the attempt', async () => {
    const world = await startContainers()
    const { id } = await world.runtime.createContainer({
      ...stranger('other'),
      ports: [{ containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1', protocol: 'tcp' }],
    })
    await world.runtime.startContainer(id)
    await world.create('web', { ...app, ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }] })
    await world.until('web', reasonIs('PortTaken'))
    await world.plane.advance(1)
    expect(namesOf(world)).toEqual(['other'])
    await world.runtime.removeContainer(id)
    await world.plane.advance(6000)
    await world.until('web', isReady)
  })

  test('ports that are left open are distinct from those of Processes, stable over runs, and in the status', async () => {
    const world = await startContainers()
    const ports = [{ name: 'http', containerPort: 80 }]
    await world.client.create(Process, {
      metadata: { name: 'api', namespace: 'default' },
      spec: { command: ['serve'], ports: [{ name: 'http' }] },
    } as never)
    await world.create('web', { ...app, ports })
    await world.create('other', { ...app, ports })
    const { status } = await world.until('web', isReady)
    const other = await world.until('other', isReady)
    const port = status?.run?.ports?.[0]?.port ?? 0
    expect(port).toBeGreaterThanOrEqual(10_000)
    const api = await world.client.get(Process, { name: 'api', namespace: 'default' })
    expect(new Set([port, other.status?.run?.ports?.[0]?.port, api.status?.run?.ports?.[0]?.port]).size).toBe(3)
    expect(world.runtime.planOf(status?.run?.containerName ?? '')?.ports).toEqual([
      { containerPort: 80, hostPort: port, hostIP: '127.0.0.1', protocol: 'tcp' },
    ])
    await world.act('web', 'restart')
    expect((await world.until('web', isRun(2))).status?.run?.ports?.[0]?.port).toBe(port)
  })

  test('a change of the spec makes another container; the cause names the fields and never values', async () => {
    const world = await startContainers()
    await world.create('web', { ...app, env: [{ name: 'TOKEN', value: 'old-secret' }] })
    await world.until('web', isReady)
    await world.patch('web', { env: [{ name: 'TOKEN', value: 'new-secret' }], user: '1000' })
    const { status } = await world.until('web', isRun(2))
    expect(status?.run?.cause).toBe('spec.env, spec.user changed')
    expect(world.runtime.planOf(only(world).name)).toMatchObject({ user: '1000', env: { TOKEN: 'new-secret' } })
    expect(status?.run?.env).toEqual(['TOKEN'])
    const labels = world.runtime.containers().map((one) => one.labels)
    for (const seen of [status, await world.events('web'), labels, world.files.contents])
      expect(JSON.stringify(seen)).not.toContain('-secret')
    await world.patch('web', { restart: { policy: 'OnFailure' }, stop: { gracePeriodSeconds: 1 } })
    await world.plane.advance(1000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
  })

  test('a program that ignores SIGTERM is killed after the grace period', async () => {
    const world = await startContainers()
    await world.create('web', { ...sh('trap "" TERM; sleep 10000'), stop: { gracePeriodSeconds: 5 } })
    await world.until('web', isReady)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopping'))
    await world.plane.advance(4900)
    expect(only(world).state).toBe('running')
    await world.plane.advance(2000)
    const stopped = await world.until('web', phaseIs('Stopped'))
    expect(stopped.status?.run).toMatchObject({ exitCode: 137, reason: 'Stopped' })
    expect((await world.events('web')).map(({ reason }) => reason)).toContain('Killed')
  })

  test('a restart is performed once, and one of a stopped container says that it is ignored', async () => {
    const world = await startContainers()
    await world.create('web', app)
    await world.until('web', isReady)
    await world.act('web', 'restart')
    const { status } = await world.until('web', isRun(2))
    expect(status?.run?.cause).toContain('a restart was requested by')
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
    expect(namesOf(world)).toHaveLength(1)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    await world.act('web', 'restart')
    await world.plane.until(async () => (await world.events('web')).some(({ reason }) => reason === 'RestartIgnored'))
    await world.patch('web', { running: true })
    await world.until('web', isRun(3))
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(3)
  })

  test.each([
    ['running', app, isReady],
    ['stopping', { ...sh('trap "" TERM; sleep 10000'), stop: { gracePeriodSeconds: 3 } }, isReady],
    ['back-off', sh('exit 1'), phaseIs('BackOff')],
    ['waiting', { ...app, dependsOn: [{ name: 'missing' }] }, phaseIs('Waiting')],
    ['without an image', { image: 'missing:1' }, phaseIs('Failed')],
    ['not startable', { ...app, command: ['nosuch'] }, phaseIs('Failed')],
    ['stopped', { ...app, running: false }, phaseIs('Stopped')],
  ] as const)('deleted while %s it goes with its container, and nothing is started later', async (_, spec, state) => {
    const world = await startContainers()
    await world.create('web', spec)
    await world.until('web', state)
    await world.remove('web')
    await world.plane.advance(10_000)
    await world.untilGone('web')
    await world.plane.advance(120_000)
    expect(namesOf(world)).toEqual([])
  })

  test('a program that is not in the image is CommandNotFound, and its container is not left', async () => {
    const world = await startContainers()
    await world.create('web', { ...app, command: ['nosuch'] })
    await world.until('web', (object) => conditionOf(object, 'Started')?.reason === 'CommandNotFound')
    expect(namesOf(world)).toEqual([])
  })

  test('W38: an image is built, and a failing build shows its last lines', async () => {
    const world = await startContainers()
    world.runtime.setBuildFailure('the command failed: 7\nstep 2: RUN make\nmake: *** no rule')
    await world.create('web', { build: { context: 'web', args: [{ name: 'V', value: '1' }] } })
    const failed = await world.until('web', phaseIs('Failed'))
    expect(conditionOf(failed, 'ImageReady')).toMatchObject({ status: 'False', reason: 'BuildFailed' })
    expect(conditionOf(failed, 'ImageReady')?.message).toContain('make: *** no rule')
    world.runtime.setBuildFailure(undefined)
    // Another spec is another attempt, without a wait.
    await world.patch('web', { build: { context: 'web', args: [{ name: 'V', value: '2' }] } })
    await world.until('web', isReady)
    expect(world.runtime.planOf(only(world).name)?.image).toBe('evenkeel.local/default/web:latest')
  })

  test('waits for networks, volumes and other workloads, and starts by the event', async () => {
    const world = await startContainers()
    await world.create('web', {
      ...app,
      networks: [{ name: 'back', aliases: ['www'] }],
      volumeMounts: [
        { volume: 'data', target: '/data' },
        { bind: 'static', target: '/static', readOnly: true },
      ],
      dependsOn: [{ kind: 'Process', name: 'migrate', until: 'Completed' }],
    })
    await world.until('web', phaseIs('Waiting'))
    await world.create('back', {}, ContainerNetwork)
    await world.create('data', {}, ContainerVolume)
    await world.plane.advance(1000)
    expect(conditionOf(await world.get('web'), 'Ready')?.message).toMatch(/waits for (?:Process|Container) migrate/)
    await world.client.create(Process, {
      metadata: { name: 'migrate', namespace: 'default' },
      spec: { command: ['exit', '0', '10'], restart: { policy: 'Never' } },
    } as never)
    await world.until('web', isReady)
    const plan = world.runtime.planOf(only(world).name)
    expect(plan?.networks).toEqual([{ name: world.runtime.networks()[0]?.name, aliases: ['web', 'www'] }])
    expect(plan?.mounts).toEqual([
      { type: 'volume', source: 'default-data', target: '/data', readOnly: false },
      { type: 'bind', source: '/app/static', target: '/static', readOnly: true },
    ])
    expect(plan?.env['EVENKEEL_HOST']).toBe('host.simulated.internal')
  })

  test('probes run in the container and on its log', async () => {
    const world = await startContainers()
    await world.create('web', {
      ...sh('sleep 5; echo listening; sleep 1000'),
      probes: {
        startup: { logLine: { contains: 'listening' }, failureThreshold: 100 },
        readiness: { exec: { command: ['true'] } },
      },
    })
    const starting = await world.until('web', phaseIs('Running'))
    expect(conditionOf(starting, 'Ready')?.reason).toBe('Starting')
    await world.plane.advance(8000)
    await world.until('web', isReady)
    await world.create('sick', {
      ...app,
      probes: { liveness: { exec: { command: ['sh', '-c', 'echo broken; exit 1'] } } },
    })
    const { status } = await world.until('sick', ({ status: now }) => (now?.run?.number ?? 0) > 1)
    expect(status?.runs?.[0]).toMatchObject({ reason: 'ProbeFailed' })
    expect(status?.lastProbe).toEqual({ probe: 'liveness', output: 'broken\n (exit code 1)' })
  })
})

describe('the container runtime', () => {
  test('W36: asleep it is one condition and one event, asked less and less; awake, everything goes on', async () => {
    const world = await startContainers()
    world.runtime.setAsleep(true)
    await world.create('web', app)
    const waiting = await world.until('web', (object) => conditionOf(object, 'RuntimeReady')?.status === 'False')
    expect(conditionOf(waiting, 'RuntimeReady')).toMatchObject({
      reason: 'Unavailable',
      message: 'the simulated runtime is asleep. Wake it',
    })
    const calls = world.runtime.calls().length
    await world.plane.advance(3_600_000)
    expect((await world.get('web')).metadata.resourceVersion).toBe(waiting.metadata.resourceVersion)
    expect(world.runtime.calls().length - calls).toBeLessThan(130)
    expect((await world.events('web')).map(({ reason }) => reason)).toEqual(['RuntimeUnavailable'])
    world.runtime.setAsleep(false)
    await world.plane.advance(31_000)
    const ready = await world.until('web', isReady)
    expect(conditionOf(ready, 'RuntimeReady')).toMatchObject({ status: 'True', reason: 'simulated' })
  })

  test('W36: it stops and comes back: containers that ended with it are started again', async () => {
    const world = await startContainers()
    await world.create('web', app)
    await world.until('web', isReady)
    world.runtime.setAsleep(true)
    await world.until('web', (object) => conditionOf(object, 'RuntimeReady')?.status === 'False')
    expect(conditionOf(await world.get('web'), 'Ready')?.reason).toBe('RuntimeUnavailable')
    world.runtime.setAsleep(false)
    await world.plane.advance(60_000)
    await world.until('web', isRun(2))
    expect(namesOf(world)).toHaveLength(1)
  })

  test('a Container that never ran is deleted while the runtime sleeps; one that ran waits for it', async () => {
    const world = await startContainers()
    await world.create('web', app)
    await world.until('web', isReady)
    world.runtime.setAsleep(true)
    await world.create('never', app)
    await world.until('never', (object) => conditionOf(object, 'RuntimeReady')?.status === 'False')
    await world.remove('never')
    await world.untilGone('never')
    await world.remove('web')
    await world.plane.advance(5000)
    expect(await world.get('web')).toBeDefined()
    world.runtime.setAsleep(false)
    await world.plane.advance(31_000)
    await world.untilGone('web')
    expect(namesOf(world)).toEqual([])
  })
})

describe('networks and volumes', () => {
  test('a network is made, shown with its subnet, and goes with its object; an existing one stays', async () => {
    const world = await startContainers()
    await world.runtime.createNetwork({ name: 'shared', labels: {}, internal: false, ipv6: false })
    await world.create('back', {}, ContainerNetwork)
    await world.create('front', { existing: true, networkName: 'shared' }, ContainerNetwork)
    await world.create('clash', { networkName: 'shared' }, ContainerNetwork)
    const get = (name: string) => world.client.get(ContainerNetwork, { name, namespace: 'default' })
    await world.plane.until(async () => (await get('back')).status?.subnets !== undefined)
    await world.plane.until(async () => (await get('front')).status?.networkName === 'shared')
    await world.plane.until(async () => (await get('clash')).status?.conditions?.[0]?.reason === 'NameTaken')
    expect(world.runtime.networks()).toHaveLength(2)
    const patched = world.client.patch(await get('back'), { spec: { networkName: 'other' } } as never)
    await expect(patched).rejects.toThrow('cannot be changed: make another ContainerNetwork')
    for (const name of ['back', 'front', 'clash']) {
      await world.remove(name, ContainerNetwork)
      await world.untilGone(name, ContainerNetwork)
    }
    expect(world.runtime.networks().map(({ name }) => name)).toEqual(['shared'])
  })

  test('W36: a network whose name was taken is made when the name is free, at the next look after five seconds', async () => {
    const world = await startContainers()
    await world.runtime.createNetwork({ name: 'shared', labels: {}, internal: false, ipv6: false })
    await world.create('clash', { networkName: 'shared' }, ContainerNetwork)
    const conditionOf = async (): Promise<string | undefined> =>
      (await world.client.get(ContainerNetwork, { name: 'clash', namespace: 'default' })).status?.conditions?.[0]
        ?.reason
    await world.plane.until(async () => (await conditionOf()) === 'NameTaken')
    await world.runtime.removeNetwork('shared')
    await world.plane.advance(4000)
    expect(await conditionOf()).toBe('NameTaken')
    await world.plane.advance(1000)
    await world.plane.until(async () => (await conditionOf()) === 'Ready')
    expect(world.runtime.networks().map(({ name }) => name)).toEqual(['shared'])
  })

  test('W37: a volume that is not ours is used and never deleted; ours is, when the spec says so', async () => {
    const world = await startContainers()
    await world.runtime.createVolume({ name: 'theirs', labels: {} })
    await world.create('theirs', { volumeName: 'theirs', persistent: false }, ContainerVolume)
    await world.create('kept', {}, ContainerVolume)
    await world.create('scratch', { persistent: false }, ContainerVolume)
    const get = (name: string) => world.client.get(ContainerVolume, { name, namespace: 'default' })
    for (const name of ['theirs', 'kept', 'scratch'])
      await world.plane.until(async () => (await get(name)).status?.owned === (name !== 'theirs'))
    for (const name of ['theirs', 'kept', 'scratch']) {
      await world.remove(name, ContainerVolume)
      await world.untilGone(name, ContainerVolume)
    }
    expect(world.runtime.volumes().map(({ name }) => name)).toEqual(['theirs', 'default-kept'])
    // Made again, it finds its data.
    await world.create('kept', {}, ContainerVolume)
    const renamed = world.client.patch(await get('kept'), { spec: { volumeName: 'other' } } as never)
    await expect(renamed).rejects.toThrow('volumeName and persistent cannot be changed')
    await world.plane.until(async () => (await get('kept')).status?.owned === true)
    expect(world.runtime.volumes()).toHaveLength(2)
  })

  test('a network that is removed behind our back is made again when a container needs it', async () => {
    const world = await startContainers()
    await world.create('back', {}, ContainerNetwork)
    await world.create('web', { ...app, networks: [{ name: 'back' }] })
    await world.until('web', isReady)
    await world.runtime.removeContainer(only(world).id)
    await world.runtime.removeNetwork(world.runtime.networks()[0]?.name ?? '')
    await world.plane.advance(20_000)
    await world.until('web', isReady)
    expect(world.runtime.networks()).toHaveLength(1)
  })
})

describe('an Evenkeel that ends', () => {
  test('stops and removes what belongs to its session, and leaves what is persistent and what is not ours', async () => {
    const world = await startContainers()
    await world.runtime.createContainer(stranger('other'))
    await world.create('back', {}, ContainerNetwork)
    await world.create('web', { ...app, networks: [{ name: 'back' }] })
    await world.create('db', { ...app, lifetime: 'Persistent', containerName: 'db' })
    await world.until('web', isReady)
    await world.until('db', isReady)
    await world.work.stop()
    expect(namesOf(world).sort()).toEqual(['db', 'other'])
    expect(world.runtime.networks()).toEqual([])
    expect(Object.keys(world.files.contents)).not.toContain('/data/containers')
  })

  test('the log of a container is read by its object', async () => {
    const world = await startContainers()
    await world.create('web', sh('echo one; echo two >&2; sleep 1000'))
    const object = await world.until('web', isReady)
    const read = async (options: object): Promise<string> => {
      const pieces: Uint8Array[] = []
      for await (const bytes of world.work.containerLog(object, options)) pieces.push(bytes)
      return Buffer.concat(pieces).toString()
    }
    expect(await read({})).toBe('one\ntwo\n')
    expect(await read({ tailLines: 1 })).toBe('two\n')
    expect(await read({ timestamps: true, tailLines: 1 })).toMatch(/^2026-01-01T\S+ two\n$/)
  })
})

test('A.4: a Container that cannot be right is refused, with the path of the field', async () => {
  const world = await startContainers()
  const cases: readonly (readonly [spec: object, expected: string])[] = [
    [{}, 'write image, or build, or both'],
    [{ ...app, ports: [{ name: 'a', containerPort: 70_000 }] }, 'containerPort'],
    [{ ...app, ports: [{ name: 'a', containerPort: 'http' }] }, 'containerPort'],
    [{ ...app, volumeMounts: [{ volume: 'a', bind: 'b', target: '/c' }] }, 'write either volume'],
    [{ ...app, volumeMounts: [{ volume: 'a', target: 'c' }] }, 'target'],
    [{ ...app, stop: { signal: 'SIGFOO' } }, 'spec.stop.signal'],
    [{ ...app, stop: { gracePeriodSeconds: -1 } }, 'gracePeriodSeconds'],
    [{ ...app, limits: { memory: 'much' } }, 'spec.limits.memory'],
    [{ ...app, env: [{ name: 'A=B' }] }, 'spec.env[0].name'],
    [{ ...app, containerName: '-x' }, 'spec.containerName'],
    [{ ...app, pullPolicy: 'Sometimes' }, 'spec.pullPolicy'],
  ]
  for (const [spec, expected] of cases) await expect(world.create('web', spec), expected).rejects.toThrow(expected)
})
