/** The end of a program with containers, in simulated time: order, bounds, and the report. */
import { deferred } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { Process } from '../process-kind.ts'
import type { ShutdownOptions, ShutdownReport } from '../shutdown.ts'
import { conditionOf, isReady, phaseIs, startContainers, type ContainerPlane } from './container-plane.fixture.ts'
import { lostRun } from './container-runs.ts'
import type { ContainerPlan } from './container-runtime.ts'

const app = { image: 'app:1' }
/** Ignores SIGTERM. */
const stubborn = { ...app, command: ['sh', '-c', 'trap "" TERM; sleep 100000'] }

/** Container web needs Process api, api and Container worker need Container db. */
async function startShop(specs: Readonly<Record<string, object>> = {}) {
  const world = await startContainers()
  const needsDb = { dependsOn: [{ kind: 'Container', name: 'db' }] }
  await world.create('db', { ...app, ...specs['db'] })
  await world.create('api', { command: ['serve', 'api'], ...needsDb, ...specs['api'] }, Process)
  await world.create('worker', { ...app, ...needsDb, ...specs['worker'] })
  await world.create('web', { ...app, dependsOn: [{ kind: 'Process', name: 'api' }], ...specs['web'] })
  for (const name of ['db', 'worker', 'web']) await world.until(name, isReady)
  return world
}

async function shutDown(
  world: ContainerPlane,
  { options, advanceMs = 2000 }: { readonly options?: ShutdownOptions; readonly advanceMs?: number } = {},
): Promise<ShutdownReport> {
  const ending = world.work.shutdown(options)
  await world.plane.advance(advanceMs)
  return ending
}

const outcomes = ({ outcomes: all }: ShutdownReport): readonly string[] =>
  all.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`)

const running = ({ runtime }: ContainerPlane): readonly string[] =>
  runtime.containers().flatMap(({ name, state }) => (state === 'running' ? [name.replace(/-\w{8}$/, '')] : []))

describe('W40: the end of a program with containers', () => {
  test('ends consumers before providers, whatever their kind, and reports each once', async () => {
    const world = await startShop()
    const report = await shutDown(world)
    const [first, second, ...rest] = outcomes(report)
    expect([first, second].toSorted()).toEqual(['Container web Stopped', 'Container worker Stopped'])
    expect(rest).toEqual(['Process api Stopped', 'Container db Stopped'])
    expect(report.survivors).toEqual([])
    expect(world.runtime.containers()).toEqual([])
    expect(world.host.processes()).toEqual([])
  })

  test('one that ignores its signal is killed after its grace period, and delays only its providers', async () => {
    const world = await startShop({ worker: { ...stubborn, stop: { gracePeriodSeconds: 5 } } })
    const ending = world.work.shutdown()
    await world.plane.advance(4000)
    expect(running(world)).toEqual(['default-db', 'default-worker'])
    expect(world.host.processes()).toEqual([])
    await world.plane.advance(4000)
    const report = await ending
    expect(outcomes(report).slice(-2)).toEqual(['Container worker Killed', 'Container db Stopped'])
    expect(report.outcomes.at(-2)?.tookMs).toBeGreaterThanOrEqual(5000)
  })

  test('uses the signal of the spec, also when that was changed after the start', async () => {
    const world = await startShop()
    await world.patch('db', { stop: { signal: 'SIGINT', gracePeriodSeconds: 1 } })
    await world.until('db', ({ status, metadata }) => status?.observedGeneration === metadata.generation)
    const signals: string[] = []
    const kill = world.runtime.killContainer.bind(world.runtime)
    world.runtime.killContainer = (id, signal) => {
      signals.push(`${signal} ${world.runtime.planOf(id)?.name.replace(/-\w{8}$/, '')}`)
      return kill(id, signal)
    }
    await shutDown(world)
    expect(signals.at(-1)).toBe('SIGINT default-db')
  })

  test('one that is paused goes on first, because it receives no signal', async () => {
    const world = await startShop()
    world.runtime.setPaused((await world.get('worker')).status?.run?.containerName ?? '', true)
    await world.until('worker', phaseIs('Paused'))
    expect(outcomes(await shutDown(world))).toContain('Container worker Stopped')
  })

  test('has a total bound: then everything that is left is killed at once', async () => {
    const endless = { ...stubborn, stop: { gracePeriodSeconds: 600 } }
    const world = await startShop({ web: endless, db: endless })
    const report = await shutDown(world, { options: { timeoutMs: 3000 }, advanceMs: 6000 })
    expect(outcomes(report).toSorted()).toEqual([
      'Container db Killed',
      'Container web Killed',
      'Container worker Stopped',
      'Process api Killed',
    ])
    expect(world.runtime.containers()).toEqual([])
  })

  test('is urgent after a second Ctrl-C', async () => {
    const world = await startShop({ web: { ...stubborn, stop: { gracePeriodSeconds: 600 } } })
    const urgent = new AbortController()
    const ending = world.work.shutdown({ urgent: urgent.signal })
    await world.plane.advance(1000)
    expect(running(world)).toEqual(['default-db', 'default-web'])
    urgent.abort()
    await world.plane.advance(1000)
    expect(outcomes(await ending)).toEqual(
      expect.arrayContaining(['Container web Killed', 'Process api Killed', 'Container db Killed']),
    )
    expect(world.runtime.containers()).toEqual([])
  })

  test('a runtime that does not answer any more is bounded as well: its containers have survived, and why', async () => {
    const world = await startShop()
    const silence = deferred<void>()
    world.runtime.findContainer = async () => {
      await silence.promise
      return undefined
    }
    const ending = world.work.shutdown({ timeoutMs: 3000 })
    await world.plane.advance(10_000)
    const report = await ending
    expect(outcomes(report)).toEqual(expect.arrayContaining(['Container db Survived', 'Process api Killed']))
    expect(report.outcomes.find(({ name }) => name === 'db')?.message).toBe('the container runtime does not answer')
    silence.resolve()
  })

  test('leaves persistent ones, and says so', async () => {
    const world = await startShop({ db: { lifetime: 'Persistent', containerName: 'db' } })
    expect(outcomes(await shutDown(world)).at(-1)).toBe('Container db Kept')
    expect(running(world)).toEqual(['db'])
  })
})

describe('W41: during the end of a program with containers', () => {
  test('what is created is not started, and its condition says why; what was stopped says so as well', async () => {
    const world = await startShop({ web: { ...stubborn, stop: { gracePeriodSeconds: 60 } } })
    const ending = world.work.shutdown({ timeoutMs: 120_000 })
    await world.plane.advance(100)
    await world.create('late', app)
    const late = await world.until('late', phaseIs('Waiting'))
    expect(conditionOf(late, 'Started')).toMatchObject({
      status: 'False',
      reason: 'ShuttingDown',
      message: 'Evenkeel is shutting down: nothing is started until it runs again',
    })
    const worker = await world.until('worker', phaseIs('Stopped'))
    expect(conditionOf(worker, 'Ready')).toMatchObject({ reason: 'ShuttingDown' })
    // The next Evenkeel with these objects starts it again, whatever its restart policy.
    expect(worker.status?.run?.reason).toBe('SessionClosed')
    const lost = lostRun(worker, { memory: undefined, clock: world.clock })
    expect(lost?.stopReason).toBe('SessionClosed')
    await world.plane.advance(120_000)
    await ending
    expect(world.runtime.containers()).toEqual([])
  })

  test('a start that is under way is waited for, and its container ended', async () => {
    const world = await startContainers()
    const answer = deferred<void>()
    let isAsked = false
    const create = world.runtime.createContainer.bind(world.runtime)
    world.runtime.createContainer = async (plan: ContainerPlan) => {
      isAsked = true
      await answer.promise
      return create(plan)
    }
    await world.create('web', app)
    await world.plane.until(() => isAsked)
    const ending = world.work.shutdown()
    await world.plane.advance(1000)
    answer.resolve()
    await world.plane.advance(2000)
    expect(outcomes(await ending)).toEqual(['Container web Stopped'])
    expect(world.runtime.containers()).toEqual([])
  })

  test('an image that arrives too late starts nothing', async () => {
    const world = await startContainers()
    const answer = deferred<void>()
    let isAsked = false
    world.runtime.setRegistry('app:2', 'present')
    const pull = world.runtime.pullImage.bind(world.runtime)
    world.runtime.pullImage = async (reference: string) => {
      isAsked = true
      await answer.promise
      return pull(reference)
    }
    await world.create('web', { image: 'app:2' })
    await world.plane.until(() => isAsked)
    const ending = world.work.shutdown()
    answer.resolve()
    await world.plane.advance(2000)
    expect(outcomes(await ending)).toEqual([])
    expect(world.runtime.containers()).toEqual([])
    expect(world.runtime.calls()).not.toContain('createContainer')
  })
})
