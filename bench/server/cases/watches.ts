/**
 * Watch fan-out: events delivered per second while objects are created as fast as the server accepts them.
 *
 * A server may disconnect watchers that fall behind. Such a server is measured again with fewer writers, and keeps that
 * number: the figure is what a server delivers, not what it drops.
 */
import type { LoadResult, WatchJob } from '../load/jobs.ts'
import { printPairs, race, sideKey, wantsAny } from '../race.ts'
import type { Reading, Side } from '../race.ts'
import { namespaces } from './stage.ts'
import type { Stage } from './stage.ts'

const cutOff = /ended a watch|closed a connection|not a new object/
/** The average number of events that watchers may be behind, per writer. */
const lagPerWriter = 6

export async function watchBench(stage: Stage): Promise<void> {
  for (const watchers of stage.plan.watchers) await watchCase(stage, watchers)
}

async function watchCase(stage: Stage, watchers: number): Promise<void> {
  const { pairs, rounds, wants, print } = stage
  const readings = readingsOf(watchers)
  if (
    !wantsAny(
      pairs,
      readings.map(({ case: reading }) => reading),
      wants,
    )
  )
    return
  const writers = new Map<string, number>()
  const results = await race(pairs, rounds, (side, round) => deliver(stage, side, { watchers, round, writers }))
  const countOf = (side: Side | undefined): number => (side ? (writers.get(sideKey(side)) ?? NaN) : NaN)
  printPairs(pairs, readings, {
    results,
    print,
    more: ({ ours, peer }) => ({ oursWriters: countOf(ours), ...(peer && { peerWriters: countOf(peer) }) }),
  })
}

function readingsOf(watchers: number): Reading[] {
  const name = `watch ${watchers} watchers`
  return [
    { case: name, unit: 'events/s', isMain: true, of: ({ perSecond }) => perSecond },
    { case: `${name} p99`, unit: 'ms', lessIsBetter: true, of: ({ p99Ms }) => p99Ms },
    { case: `cpu per event w=${watchers}`, unit: 'us', lessIsBetter: true, of: ({ serverCpuUs }) => serverCpuUs },
  ]
}

async function deliver(
  stage: Stage,
  side: Side,
  { watchers, round, writers }: { watchers: number; round: number; writers: Map<string, number> },
): Promise<LoadResult> {
  for (let most = writers.get(sideKey(side)) ?? stage.plan.watchWriters; ; most = most >> 1) {
    writers.set(sideKey(side), most)
    try {
      return await stage.generator.run(
        jobFor(stage, side, { watchers, writers: most, run: `${stage.run}-watch-${watchers}-${round}-${most}` }),
      )
    } catch (error) {
      if (most < 2 || !cutOff.test((error as Error).message)) throw error
    }
  }
}

function jobFor(
  { plan: { watch } }: Stage,
  { target, kind }: Side,
  { watchers, writers, run }: Pick<WatchJob, 'watchers' | 'writers' | 'run'>,
): WatchJob {
  return {
    type: 'watch',
    watchers,
    writers,
    run,
    lagMax: writers * lagPerWriter,
    bounds: {
      durationMs: watch.durationMs,
      countMax: Math.min(watch.writesMax, Math.floor(watch.eventsMax / watchers)),
    },
    place: { address: target.address, processIds: target.processIds, kind, namespace: namespaces.watch },
  }
}
