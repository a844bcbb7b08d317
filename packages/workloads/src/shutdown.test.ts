/** The end of a program on a simulated machine, in simulated time: order, bounds, and the report. */
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs, startSimulated, type SimulatedPlane } from './plane.fixture.ts'
import type { ShutdownOptions, ShutdownReport } from './shutdown.ts'

/** A shop: web needs api, api and worker need db. */
async function startShop(specs: Readonly<Record<string, object>> = {}): Promise<SimulatedPlane> {
  const world = await startSimulated()
  const dependsOn = (name: string) => ({ dependsOn: [{ name }] })
  await world.create('db', { command: ['serve', 'db'], ...specs['db'] })
  await world.create('api', { command: ['serve', 'api'], ...dependsOn('db'), ...specs['api'] })
  await world.create('worker', { command: ['serve', 'worker'], ...dependsOn('db'), ...specs['worker'] })
  await world.create('web', { command: ['serve', 'web'], ...dependsOn('api'), ...specs['web'] })
  for (const name of ['db', 'api', 'worker', 'web']) await world.until(name, isReady)
  return world
}

/** Who has been signalled, in order. */
function watchSignals({ host }: SimulatedPlane): readonly string[] {
  const seen: string[] = []
  const signal = host.signalProcess.bind(host)
  host.signalProcess = (identity, name, options) => {
    const command = host
      .processes()
      .find(({ pid }) => pid === identity.pid)
      ?.command.split(' ')
      .at(-1)
    seen.push(`${name} ${command}`)
    return signal(identity, name, options)
  }
  return seen
}

async function shutDown(
  world: SimulatedPlane,
  { options, advanceMs = 1000 }: { readonly options?: ShutdownOptions; readonly advanceMs?: number } = {},
): Promise<ShutdownReport> {
  const ending = world.work.shutdown(options)
  await world.plane.advance(advanceMs)
  return ending
}

const outcomes = ({ outcomes: all }: ShutdownReport): readonly string[] =>
  all.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`)

describe('W40: the end of a program', () => {
  test('ends consumers before providers, each once, and reports each', async () => {
    const world = await startShop()
    const seen = watchSignals(world)
    const report = await shutDown(world)
    expect(seen.slice(0, 2).toSorted()).toEqual(['SIGTERM web', 'SIGTERM worker'])
    expect(seen.slice(2)).toEqual(['SIGTERM api', 'SIGTERM db'])
    expect(outcomes(report).slice(-2)).toEqual(['Process api Stopped', 'Process db Stopped'])
    expect(report.outcomes).toHaveLength(4)
    expect(report.survivors).toEqual([])
    expect(world.host.processes()).toEqual([])
  })

  test('one that hangs delays only its providers, until its own grace period is over', async () => {
    const slow = { command: ['stubborn', 'worker'], stop: { gracePeriodSeconds: 5 } }
    const world = await startShop({ worker: slow })
    const seen = watchSignals(world)
    const ending = world.work.shutdown()
    await world.plane.advance(4000)
    expect(seen.toSorted()).toEqual(['SIGTERM api', 'SIGTERM web', 'SIGTERM worker'])
    await world.plane.advance(4000)
    expect(seen.slice(-2)).toEqual(['SIGKILL worker', 'SIGTERM db'])
    expect(outcomes(await ending)).toContain('Process worker Killed')
  })

  test('uses the signal of each', async () => {
    const world = await startShop({ db: { stop: { signal: 'SIGINT' } } })
    const seen = watchSignals(world)
    await shutDown(world)
    expect(seen.at(-1)).toBe('SIGINT db')
  })

  test('has a total bound: then everything that is left is killed at once', async () => {
    const endless = (name: string) => ({ command: ['stubborn', name], stop: { gracePeriodSeconds: 600 } })
    const world = await startShop({ web: endless('web'), db: endless('db') })
    const report = await shutDown(world, { options: { timeoutMs: 3000 }, advanceMs: 6000 })
    expect(outcomes(report).toSorted()).toEqual([
      'Process api Killed',
      'Process db Killed',
      'Process web Killed',
      'Process worker Stopped',
    ])
    expect(world.host.processes()).toEqual([])
  })

  test('is urgent after a second Ctrl-C: everything is killed, whatever the order', async () => {
    const endless = { command: ['stubborn', 'web'], stop: { gracePeriodSeconds: 600 } }
    const world = await startShop({ web: endless })
    const seen = watchSignals(world)
    const urgent = new AbortController()
    const ending = world.work.shutdown({ urgent: urgent.signal })
    await world.plane.advance(1000)
    urgent.abort()
    await world.plane.advance(1000)
    expect(outcomes(await ending)).toContain('Process web Killed')
    expect(seen).toContain('SIGKILL db')
    expect(world.host.processes()).toEqual([])
  })

  test('names what survives SIGKILL, and says that the shutdown has failed', async () => {
    const world = await startShop()
    const signal = world.host.signalProcess.bind(world.host)
    const db = await world.identityOf('db')
    world.host.signalProcess = (identity, ...rest) =>
      identity.pid === db.pid ? Promise.resolve(true) : signal(identity, ...rest)
    const report = await shutDown(world, { options: { timeoutMs: 2000 }, advanceMs: 20_000 })
    expect(report.survivors.map(({ owner }) => owner.name)).toEqual(['db'])
    expect(report.outcomes.at(-1)).toMatchObject({
      name: 'db',
      outcome: 'Survived',
      survivors: [{ pid: db.pid, command: 'serve db' }],
    })
  })

  test('leaves persistent ones, and says so', async () => {
    const world = await startShop({ db: { lifetime: 'Persistent' } })
    const report = await shutDown(world)
    expect(outcomes(report).at(-1)).toBe('Process db Kept')
    expect(world.host.processes().map(({ command }) => command)).toEqual(['serve db'])
  })

  test('requested twice is one shutdown', async () => {
    const world = await startShop()
    const [first, second] = [world.work.shutdown(), world.work.stop()]
    await world.plane.advance(1000)
    expect((await first).outcomes).toHaveLength(4)
    expect(await second).toEqual([])
  })
})

describe('W41: during the end of a program', () => {
  test('what is created is not started, and its condition says why; what was stopped says so as well', async () => {
    const slow = { command: ['stubborn', 'web'], stop: { gracePeriodSeconds: 60 } }
    const world = await startShop({ web: slow })
    const ending = world.work.shutdown({ timeoutMs: 120_000 })
    await world.plane.advance(100)
    await world.create('late', { command: ['serve', 'late'] })
    const late = await world.until('late', phaseIs('Waiting'))
    expect(conditionOf(late, 'Started')).toMatchObject({
      status: 'False',
      reason: 'ShuttingDown',
      message: 'Evenkeel is shutting down: nothing is started until it runs again',
    })
    expect(conditionOf(await world.until('worker', phaseIs('Stopped')), 'Ready')).toMatchObject({
      reason: 'ShuttingDown',
    })
    await world.plane.advance(120_000)
    expect((await ending).survivors).toEqual([])
    expect(world.host.processes()).toEqual([])
  })
})
