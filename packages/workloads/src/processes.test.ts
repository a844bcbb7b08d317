/** Processes on a simulated machine, in simulated time. */
import { deferred, SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs, startSimulated, type SimulatedPlane } from './plane.fixture.ts'

const serve = { command: ['serve'] }
const commandsOf = ({ host }: SimulatedPlane): string[] => host.processes().map(({ command }) => command)

describe('a Process', () => {
  test('W1: runs, is Ready, and shows pid, start time and log; at rest nothing is written', async () => {
    const world = await startSimulated()
    await world.create('web', serve)
    const { status } = await world.until('web', isReady)
    const [only] = world.host.processes()
    expect(status).toMatchObject({
      phase: 'Running',
      run: { number: 1, pid: only?.pid, reason: 'Running', cause: 'it was created' },
      restarts: 0,
    })
    // The identity of a process is its pid and its start time.
    expect(await world.identityOf('web')).toMatchObject({ pid: only?.pid, startTicks: only?.startTicks })
    expect(status?.run?.startedAt).toMatch(/^2026-01-01T00:00:\d\dZ$/)
    expect(status?.run?.logFile).toMatch(/^\/data\/logs\/default\/web\/\w{8}\.1\.log$/)
    const before = (await world.get('web')).metadata.resourceVersion
    await world.plane.advance(3_600_000)
    expect((await world.get('web')).metadata.resourceVersion).toBe(before)
    expect(commandsOf(world)).toEqual(['serve'])
  })

  test('W2: a program that is not found: reason and PATH, no further attempt is reported, and it starts when the program exists', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['missing'] })
    const failed = await world.until('web', phaseIs('Failed'))
    expect(conditionOf(failed, 'Started')).toMatchObject({
      status: 'False',
      reason: 'NotFound',
      message: expect.stringContaining('PATH: /bin') as string,
    })
    await world.plane.advance(60_000)
    expect((await world.get('web')).metadata.resourceVersion).toBe(failed.metadata.resourceVersion)
    world.host.setFailure('missing', undefined)
    await world.plane.advance(5000)
    expect(await world.until('web', isReady)).toMatchObject({ status: { run: { number: 1 } } })
  })

  test('W2: one whose spec names another program is started at once', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['missing'] })
    await world.until('web', phaseIs('Failed'))
    await world.plane.advance(600_000)
    const before = world.plane.clock.monotonic()
    await world.patch('web', serve)
    await world.until('web', isReady)
    // Not by the look of every few seconds: time moved by the looks of `until` alone.
    expect(world.plane.clock.monotonic() - before).toBeLessThan(1000)
  })

  test('W3: a limit of processes is retried until one can be started', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['limit'] })
    const waiting = await world.until('web', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Started')).toMatchObject({ reason: 'ProcessLimit' })
    world.host.setFailure('limit', undefined)
    await world.plane.advance(5000)
    await world.until('web', isReady)
  })

  test('W5: a crash loop waits longer and longer, shows when the next run is due, and keeps the last five runs', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['exit', '3', '10'] })
    const first = await world.until('web', phaseIs('BackOff'))
    expect(first.status).toMatchObject({ run: { number: 1, exitCode: 3, message: 'exited with code 3' } })
    expect(first.status?.nextRestartAt).toMatch(/^2026-01-01T00:\d\d:\d\dZ$/)
    const starts: number[] = []
    for (let number = 2; number <= 8; number++) {
      await world.plane.advance(16_000)
      await world.until('web', ({ status }) => (status?.run?.number ?? 0) >= number && status?.phase === 'BackOff')
      starts.push(number)
    }
    const { status } = await world.get('web')
    expect(status?.runs).toHaveLength(5)
    expect(status?.restarts).toBe((status?.run?.number ?? 0) - 1)
    expect(status?.runs?.map(({ exitCode }) => exitCode)).toEqual([3, 3, 3, 3, 3])
    // In 112 s a program that ends at once runs about ten times, not hundreds of times.
    expect(status?.run?.number).toBeLessThan(14)
  })

  test('W7: a program that ignores SIGTERM is killed after the grace period, and the event names it', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['stubborn'], stop: { gracePeriodSeconds: 5 } })
    const { status } = await world.until('web', isReady)
    const pid = status?.run?.pid ?? 0
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopping'))
    await world.plane.advance(4900)
    expect(world.host.signalsOf(pid)).toEqual(['SIGTERM'])
    await world.plane.advance(2000)
    const stopped = await world.until('web', phaseIs('Stopped'))
    expect(world.host.signalsOf(pid)).toEqual(['SIGTERM', 'SIGKILL'])
    expect(stopped.status?.run).toMatchObject({ signal: 'SIGKILL', reason: 'Stopped' })
    expect(await world.events('web')).toContainEqual({
      reason: 'Killed',
      note: `run 1 did not end within 5 s: killed ${pid} (stubborn)`,
    })
  })

  test('W7: children that stay behind are ended before the next run, also those that left the group', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['fork'], stop: { gracePeriodSeconds: 1 } })
    await world.create('other', { command: ['daemon'], stop: { gracePeriodSeconds: 1 } })
    for (const name of ['web', 'other']) {
      const { status } = await world.until(name, isReady)
      world.host.exit(status?.run?.pid ?? 0, { exitCode: 1 })
    }
    await world.plane.advance(5000)
    for (const name of ['web', 'other'])
      await world.until(name, (object) => isReady(object) && object.status?.run?.number === 2)
    // One process and one child each: nothing of the first runs.
    expect(commandsOf(world).sort()).toEqual(['child', 'daemon', 'daemon child', 'fork'])
  })

  test('W10: a restart token is handled once; another one once more, in order', async () => {
    const world = await startSimulated()
    await world.create('web', serve)
    await world.until('web', isReady)
    await world.act('web', 'restart')
    const second = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(second.status?.run?.cause).toContain('a restart was requested by')
    // Other changes of the object do not repeat it.
    await world.client.patch(second, { metadata: { labels: { touched: 'yes' } } })
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
    await world.act('web', 'restart')
    await world.until('web', (object) => isReady(object) && object.status?.run?.number === 3)
    expect((await world.get('web')).status).toMatchObject({ restarts: 0, runs: [{ number: 1 }, { number: 2 }] })
    expect(commandsOf(world)).toEqual(['serve'])
  })

  test('W10: the same token twice is one request', async () => {
    const world = await startSimulated()
    await world.create('web', serve)
    await world.until('web', isReady)
    const request = async (token: string): Promise<void> => {
      const annotations = { 'action.evenkeel.dev/restart': token }
      await world.client.patch(await world.get('web'), { metadata: { annotations } } as never)
    }
    await request('one')
    await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    await world.client.patch(await world.get('web'), {
      metadata: { annotations: { 'action.evenkeel.dev/restart': null } },
    } as never)
    await request('one')
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
    await request('two')
    await world.until('web', (object) => isReady(object) && object.status?.run?.number === 3)
  })

  test('W10: a restart of a stopped process leaves it stopped, and an event says so', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, running: false })
    await world.until('web', phaseIs('Stopped'))
    await world.act('web', 'restart')
    await world.until('web', ({ status }) => status?.actions?.[0]?.state === 'Done')
    await world.patch('web', { running: true })
    const started = await world.until('web', isReady)
    expect(started.status?.run).toMatchObject({ number: 1, cause: 'it was created' })
    expect((await world.events('web')).map(({ reason }) => reason)).toContain('RestartIgnored')
    await world.plane.advance(60_000)
    expect((await world.get('web')).status?.run?.number).toBe(1)
  })

  test('W11: stopped and started again while it is stopping: one start, after the end', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['stubborn'], stop: { gracePeriodSeconds: 5 } })
    await world.until('web', isReady)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopping'))
    await world.patch('web', { running: true })
    await world.plane.advance(1000)
    expect(commandsOf(world)).toEqual(['stubborn'])
    expect((await world.get('web')).status).toMatchObject({ phase: 'Stopping', run: { number: 1 } })
    await world.plane.advance(20_000)
    await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    await world.plane.advance(60_000)
    expect(commandsOf(world)).toEqual(['stubborn'])
    expect((await world.get('web')).status?.run?.number).toBe(2)
  })

  test.each([
    ['running', serve, isReady],
    ['not ready yet', { ...serve, probes: { startup: { tcp: { port: '80' } } } }, phaseIs('Running')],
    ['back-off', { command: ['exit', '1', '5'] }, phaseIs('BackOff')],
    ['waiting', { ...serve, dependsOn: [{ name: 'missing' }] }, phaseIs('Waiting')],
    ['not startable', { command: ['missing'] }, phaseIs('Failed')],
    ['stopped', { ...serve, running: false }, phaseIs('Stopped')],
  ] as const)('W12: deleted while %s it goes, and nothing is started later', async (_, spec, state) => {
    const world = await startSimulated()
    world.probes.answer = () => ({ isOk: false, output: 'refused' })
    await world.create('web', spec)
    await world.until('web', state)
    await world.remove('web')
    await world.plane.advance(10_000)
    await world.untilGone('web')
    await world.plane.advance(120_000)
    expect(commandsOf(world)).toEqual([])
  })

  test('W12: deleted while stopping it is killed at the end of its grace period, and goes then', async () => {
    const world = await startSimulated()
    await world.create('web', { command: ['stubborn'], stop: { gracePeriodSeconds: 3 } })
    const { status } = await world.until('web', isReady)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopping'))
    await world.remove('web')
    await world.plane.advance(2000)
    expect((await world.get('web')).metadata.deletionTimestamp).toBeDefined()
    expect(commandsOf(world)).toEqual(['stubborn'])
    await world.plane.advance(2000)
    await world.untilGone('web')
    expect(world.host.signalsOf(status?.run?.pid ?? 0)).toEqual(['SIGTERM', 'SIGKILL'])
    await world.plane.advance(120_000)
    expect(commandsOf(world)).toEqual([])
  })

  test('W12: deleted while its program is being started it goes when that is known, and leaves no process', async () => {
    const world = await startSimulated()
    const held = deferred<undefined>()
    let hasBegun = false
    const launch = world.host.launch.bind(world.host)
    world.host.launch = async (plan) => {
      hasBegun = true
      await held.promise
      return launch(plan)
    }
    await world.create('web', serve)
    await world.plane.until(() => hasBegun)
    await world.remove('web')
    await world.plane.advance(1000)
    expect((await world.get('web')).metadata.deletionTimestamp).toBeDefined()
    held.resolve(undefined)
    await world.untilGone('web')
    await world.plane.advance(120_000)
    expect(commandsOf(world)).toEqual([])
  })

  test('a change of the command ends the run and starts another one; the cause names the field, not the value', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, env: [{ name: 'TOKEN', value: 'old-secret' }] })
    await world.until('web', isReady)
    await world.patch('web', { env: [{ name: 'TOKEN', value: 'new-secret' }] })
    const { status } = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(status?.run?.cause).toBe('spec.env changed')
    // Probes, the stop and the restart policy say nothing about the process that runs.
    await world.patch('web', { restart: { policy: 'OnFailure' }, stop: { gracePeriodSeconds: 1 } })
    await world.plane.advance(1000)
    expect((await world.get('web')).status?.run?.number).toBe(2)
  })

  test('W29: values of variables are in the spec and in the process, nowhere else', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, env: [{ name: 'TOKEN', value: 'hunter2-secret' }] })
    const object = await world.until('web', isReady)
    expect(world.host.launchOf(object.status?.run?.pid ?? 0)?.env['TOKEN']).toBe('hunter2-secret')
    await world.patch('web', { running: false })
    const { status } = await world.until('web', phaseIs('Stopped'))
    expect(status?.run?.env).toEqual(['TOKEN'])
    for (const seen of [status, await world.events('web'), world.files.contents])
      expect(JSON.stringify(seen)).not.toContain('hunter2')
  })

  test('W30, W31: ambient variables, files, spec and ports, in this order; a file that is missing is an error unless optional', async () => {
    const world = await startSimulated()
    await world.files.replaceText('/app/.env', 'HOME=file\nA=file\nB=file')
    await world.create('web', {
      ...serve,
      env: [
        { name: 'B', value: 'spec' },
        { name: 'B', value: 'last' },
      ],
      envFiles: [{ path: '.env' }, { path: 'no.env', optional: true }],
      ports: [{ name: 'http', env: 'PORT' }],
    })
    const { status } = await world.until('web', isReady)
    const port = status?.run?.ports?.[0]?.port
    expect(world.host.launchOf(status?.run?.pid ?? 0)?.env).toMatchObject({
      PATH: '/bin',
      HOME: 'file',
      A: 'file',
      B: 'last',
      PORT: String(port),
    })
    expect((await world.events('web')).map(({ reason }) => reason)).toContain('DuplicateVariables')
    await world.create('other', { ...serve, envFiles: [{ path: 'no.env' }] })
    const failed = await world.until('other', phaseIs('Failed'))
    expect(conditionOf(failed, 'Started')).toMatchObject({
      reason: 'InvalidEnvironment',
      message: 'the environment file no.env does not exist: create it, or set optional: true',
    })
  })
})

describe('Processes that depend on each other', () => {
  test('W13: one that waits names what it waits for, and starts by the event', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, dependsOn: [{ name: 'db' }] })
    const waiting = await world.until('web', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'DependenciesReady')).toMatchObject({ status: 'False', reason: 'NotFound' })
    expect(conditionOf(waiting, 'Ready')?.message).toContain('Process db')
    await world.plane.advance(60_000)
    expect(commandsOf(world)).toEqual([])
    const before = world.plane.clock.now()
    await world.create('db', serve)
    await world.until('web', isReady)
    // No timer: simulated time moved by the polls of `until` alone.
    expect(world.plane.clock.now() - before).toBeLessThan(1000)
  })

  test.each([
    ['Keep', 'Running', ['serve']],
    ['Stop', 'Waiting', []],
  ])('W13: a dependency that is deleted while it runs, with whenLost: %s', async (whenLost, phase, commands) => {
    const world = await startSimulated()
    await world.create('db', serve)
    await world.create('web', { ...serve, dependsOn: [{ name: 'db', whenLost }] })
    await world.until('web', isReady)
    await world.remove('db')
    await world.untilGone('db')
    await world.plane.advance(5000)
    await world.until('web', phaseIs(phase))
    expect(commandsOf(world)).toEqual(commands)
  })

  test('W13: an optional dependency does not delay the start', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, dependsOn: [{ name: 'db', optional: true }] })
    await world.until('web', isReady)
  })

  test('W14: of a cycle both say so, and neither starts', async () => {
    const world = await startSimulated()
    await world.create('a', { ...serve, dependsOn: [{ name: 'b' }] })
    await world.create('b', { ...serve, dependsOn: [{ name: 'a' }] })
    await world.create('self', { ...serve, dependsOn: [{ name: 'self' }] })
    for (const name of ['a', 'b', 'self']) {
      const object = await world.until(name, (one) => conditionOf(one, 'DependenciesReady')?.reason === 'Cycle')
      expect(object.status?.phase).toBe('Waiting')
    }
    expect(commandsOf(world)).toEqual([])
  })

  test('W15: until Completed waits for exit code 0, and a failure is reported at once', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, dependsOn: [{ name: 'migrate', until: 'Completed' }] })
    await world.create('late', { ...serve, dependsOn: [{ name: 'broken', until: 'Completed' }] })
    await world.create('broken', { command: ['exit', '2', '100'], restart: { policy: 'Never' } })
    await world.create('migrate', { command: ['exit', '0', '5000'], restart: { policy: 'Never' } })
    const late = await world.until('late', (object) => conditionOf(object, 'Ready')?.reason === 'FailedDependency')
    expect(conditionOf(late, 'Ready')?.message).toBe('Process broken has failed')
    expect((await world.get('web')).status?.phase).toBe('Waiting')
    await world.plane.advance(5000)
    await world.until('web', isReady)
    expect((await world.get('migrate')).status).toMatchObject({ phase: 'Succeeded', run: { exitCode: 0 } })
  })
})

describe('ports', () => {
  test('W17: a fixed port that is taken names its holder; freed, the process starts by itself', async () => {
    const world = await startSimulated()
    world.host.setListener(8080, { pid: 7, command: 'nginx -g' })
    await world.create('web', { ...serve, ports: [{ name: 'http', port: 8080 }] })
    const waiting = await world.until('web', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Started')).toMatchObject({
      reason: 'PortTaken',
      message: 'port 8080 is taken by process 7 (nginx -g): end it, or choose another port',
    })
    world.host.setListener(8080, undefined)
    await world.plane.advance(2000)
    await world.until('web', isReady)
  })

  test('W16: port 0 stays the same over restarts', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, ports: [{ name: 'http' }] })
    const { status } = await world.until('web', isReady)
    expect(status?.run?.ports?.[0]?.port).toBeGreaterThanOrEqual(10_000)
    await world.act('web', 'restart')
    const after = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(after.status?.run?.ports).toEqual(status?.run?.ports)
  })
})

describe('probes', () => {
  test('W22: three failures of the liveness probe restart it, with the cause and the last output', async () => {
    const world = await startSimulated()
    world.probes.answer = () => ({ isOk: false, output: `500 ${'x'.repeat(2000)} out of memory` })
    await world.create('web', { ...serve, probes: { liveness: { tcp: { port: '80' }, periodSeconds: 10 } } })
    await world.until('web', isReady)
    await world.plane.advance(19_000)
    expect((await world.get('web')).status?.run?.number).toBe(1)
    await world.plane.advance(2000)
    const { status } = await world.until('web', (object) => object.status?.run?.number === 2)
    expect(status?.runs?.[0]).toMatchObject({ number: 1, reason: 'ProbeFailed' })
    expect(status?.run?.cause).toBe('its program was ended by SIGTERM (ProbeFailed)')
    expect(status?.restarts).toBe(1)
    const stopping = (await world.events('web')).find(({ reason }) => reason === 'Stopping')
    expect(stopping?.note).toMatch(/^run 1 is stopped: its liveness probe failed: x+ out of memory$/)
    expect(status?.lastProbe?.output).toMatch(/^x+ out of memory$/)
    expect(status?.lastProbe?.output).toHaveLength(1024)
  })

  test('a readiness probe decides about Ready, both ways, and restarts nothing', async () => {
    const world = await startSimulated()
    world.probes.answer = () => ({ isOk: false, output: 'connection refused' })
    await world.create('web', {
      ...serve,
      ports: [{ name: 'http' }],
      probes: { readiness: { http: { port: 'http', path: '/ready' } } },
    })
    const starting = await world.until(
      'web',
      (object) => conditionOf(object, 'Ready')?.message === 'connection refused',
    )
    expect(conditionOf(starting, 'Started')?.status).toBe('True')
    expect(world.probes.checks[0]).toMatchObject({
      type: 'http',
      url: `http://127.0.0.1:${starting.status?.run?.ports?.[0]?.port}/ready`,
    })
    world.probes.answer = () => ({ isOk: true, output: '200' })
    await world.plane.advance(1000)
    await world.until('web', isReady)
    world.probes.answer = () => ({ isOk: false, output: '503' })
    await world.plane.advance(5000)
    await world.until('web', (object) => !isReady(object))
    expect((await world.get('web')).status).toMatchObject({ phase: 'Running', run: { number: 1 } })
  })

  test('W24: a log line makes it ready, and is not looked for any more', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, probes: { readiness: { logLine: { contains: 'listening' } } } })
    const { status } = await world.until('web', (object) => conditionOf(object, 'Ready')?.reason === 'NotReady')
    await world.files.appendText(status?.run?.logFile ?? '', 'now liste')
    await world.plane.advance(1000)
    expect(isReady(await world.get('web'))).toBe(false)
    await world.files.appendText(status?.run?.logFile ?? '', 'ning on 80\n')
    await world.plane.advance(1000)
    await world.until('web', isReady)
  })

  test('a startup probe holds back the others, and fails the run in the end', async () => {
    const world = await startSimulated()
    world.probes.answer = ({ type }) => ({ isOk: type !== 'tcp', output: type })
    const probes = { startup: { tcp: { port: '80' }, failureThreshold: 5 }, liveness: { exec: { command: ['check'] } } }
    await world.create('web', { ...serve, probes })
    await world.plane.advance(3000)
    expect(new Set(world.probes.checks.map(({ type }) => type))).toEqual(new Set(['tcp']))
    await world.plane.advance(2000)
    const { status } = await world.until('web', (object) => object.status?.run?.number === 2)
    expect(status?.runs?.[0]).toMatchObject({ reason: 'ProbeFailed' })
  })
})

describe('clocks', () => {
  test.each([3_600_000, -3_600_000])(
    'W44: a wall clock that jumps by %d ms restarts nothing and delays nothing',
    async (jumpMs) => {
      const world = await startSimulated()
      await world.create('web', serve)
      await world.create('loop', { command: ['exit', '1', '5'], restart: { initialSeconds: 20, maxSeconds: 20 } })
      await world.until('web', isReady)
      await world.until('loop', phaseIs('BackOff'))
      if (!(world.plane.clock instanceof SimulatedClock)) throw new Error('the clock is not simulated')
      world.plane.clock.jumpWall(jumpMs)
      await world.plane.advance(5000)
      expect((await world.get('web')).status?.run?.number).toBe(1)
      expect((await world.get('loop')).status?.run?.number).toBe(1)
      await world.plane.advance(16_000)
      await world.until('loop', ({ status }) => status?.run?.number === 2)
      expect((await world.get('web')).status?.run?.number).toBe(1)
    },
  )
})
