/** Ending a run on a simulated machine, step by step. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { markVariable } from './process-table.ts'
import { SimulatedHost } from './simulated-host.ts'
import type { ProcessEntry, ProcessIdentity } from './process-host.ts'
import { Termination } from './termination.ts'

const plan = { signal: 'SIGTERM', graceMs: 100 } as const

test('W7: a descendant that was seen is waited for, also when its environment cannot be read any more', async () => {
  const clock = new SimulatedClock()
  const host = new SimulatedHost({ clock })
  const mark = '5f0c1d2e/session/9b1d/1'
  const launched = await host.launch({ command: ['daemon'], cwd: '/', env: { [markVariable]: mark }, logFile: '/log' })
  if ('failure' in launched) throw new Error(launched.failure.message)
  const list = host.listProcesses.bind(host)
  const termination = new Termination({ host, clock, run: { identity: launched.identity, mark } })
  expect(await termination.step(plan)).toMatchObject({ isOver: false, survivors: [{}, {}] })
  // The kernel takes the environment of a process that ends before it closes its files.
  host.listProcesses = async (since) => (await list(since)).map(({ mark: _, ...entry }) => entry)
  expect(await termination.step(plan)).toMatchObject({ isOver: false, survivors: [{ command: 'daemon child' }] })
  await clock.advance(plan.graceMs)
  expect(await termination.step(plan)).toMatchObject({ killed: [{ command: 'daemon child' }] })
  expect(await termination.step(plan)).toMatchObject({ isOver: true, survivors: [] })
})

describe('W47: a run in a terminal', () => {
  const identity = { pid: 812, startTicks: 100, bootId: 'boot' }
  const member = (pid: number, parentPid: number, command: string): ProcessEntry => ({
    ...{ pid, parentPid, command, groupId: pid, sessionId: pid, startTicks: 100, mark: 's/session/u/1' },
  })
  const holder = member(812, 1, "script -qefc unset SHELL; exec 'sh' /dev/null")
  const program = member(813, 812, 'sh')

  /** The table at each step, and who gets a signal. */
  function open(...tables: readonly (readonly ProcessEntry[])[]) {
    const signals: string[] = []
    const left = [...tables]
    const host = Object.assign(new SimulatedHost({ clock: new SimulatedClock() }), {
      listProcesses: () => Promise.resolve(left.shift() ?? []),
      signalProcess: ({ pid }: ProcessIdentity, signal: string) => {
        signals.push(`${signal} ${pid}`)
        return Promise.resolve(true)
      },
    })
    const termination = new Termination({
      ...{ host, clock: new SimulatedClock(), run: { identity, mark: 's/session/u/1' } },
    })
    return { termination, signals }
  }

  test('its terminal gets no signal when the program has just ended: it would exit with 0', async () => {
    const { termination, signals } = open([holder, program], [holder], [])
    expect((await termination.step(plan)).afterMs).toBe(plan.graceMs)
    expect((await termination.step(plan)).isOver).toBe(false)
    expect(await termination.step(plan)).toMatchObject({ isOver: true, killed: [] })
    expect(signals).toEqual(['SIGTERM 813'])
  })

  test('a program that begins after the first look gets it soon', async () => {
    const { termination, signals } = open([holder], [holder, program])
    expect((await termination.step({ signal: 'SIGTERM', graceMs: 10_000 })).afterMs).toBeLessThan(100)
    await termination.step({ signal: 'SIGTERM', graceMs: 10_000 })
    expect(signals).toEqual(['SIGTERM 813'])
  })
})
