/** Ending a run on a simulated machine, step by step. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { markVariable } from './process-table.ts'
import { SimulatedHost } from './simulated-host.ts'
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
