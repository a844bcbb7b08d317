/**
 * The Explorer: schedules per second on the scenario of the tutorial, on one core, with the real server code.
 *
 * Nobody else has such a thing, so there is no peer; the nearest one (Sieve) takes minutes for a schedule on a cluster.
 */
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import { fixed } from '../../examples/finalizer/fixed.ts'
import { scenario } from '../../examples/finalizer/scenario.ts'
import { median } from '../print.ts'
import type { Bench } from '../print.ts'

const clock = new SystemClock()

export const explorerBench: Bench = {
  about: 'schedules per second and core on the scenario of the tutorial, and the time of the whole tier 1',
  async run({ rounds, only, quick, print }) {
    const runs: { readonly perSecond: number, readonly cpuMs: number, readonly ms: number, readonly schedules: number }[] = []
    // The first one is for the compiler.
    await once(quick)
    for (let round = 0; round < rounds; round++) runs.push(await once(quick))
    const [first] = runs
    if ('schedules'.includes(only)) print({ case: 'schedules', ours: median(runs.map(({ perSecond }) => perSecond)), peer: undefined, peerName: 'no peer', unit: 'schedules/s', more: { goal: 200, cpuMs: round(median(runs.map(({ cpuMs }) => cpuMs))) } })
    if ('tier 1'.includes(only)) print({ case: 'tier 1', ours: median(runs.map(({ ms }) => ms)), peer: undefined, peerName: 'no peer', unit: 'ms', lessIsBetter: true, more: { goal: 5000, schedules: first?.schedules ?? 0 } })
  },
}

async function once(quick: boolean): Promise<{ perSecond: number, cpuMs: number, ms: number, schedules: number }> {
  const [startedAt, cpu] = [clock.monotonic(), process.cpuUsage()]
  const { schedules } = await explore({ controllers: fixed, scenario, tier: quick ? 0 : 1 })
  const ms = clock.monotonic() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: schedules / ms * 1000, cpuMs: (user + system) / 1000 / schedules, ms, schedules }
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
