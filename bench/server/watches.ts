/**
 * One change told to many: events that arrive per second while objects are created as fast as they are taken.
 */
import { printPairs, race, wantsAny } from './race.ts'
import type { Reading } from './race.ts'
import { namespaces } from './stage.ts'
import type { Stage } from './stage.ts'

export async function watchBench(stage: Stage): Promise<void> {
  for (const watchers of stage.plan.watchers) await watchCase(stage, watchers)
}

async function watchCase({ pairs, generator, plan, rounds, run, wants, print }: Stage, watchers: number): Promise<void> {
  const name = `watch ${watchers} watchers`
  const readings: Reading[] = [
    { case: name, unit: 'events/s', isMain: true, of: ({ perSecond }) => perSecond },
    { case: `${name} p99`, unit: 'ms', lessIsBetter: true, of: ({ p99Ms }) => p99Ms },
    { case: `cpu per event w=${watchers}`, unit: 'us', lessIsBetter: true, of: ({ serverCpuUs }) => serverCpuUs },
  ]
  if (!wantsAny(pairs, readings.map(({ case: reading }) => reading), wants)) return
  const { durationMs, eventsMax, writesMax } = plan.watch
  const results = await race(pairs, rounds, ({ target, kind }, round) => generator.run({
    type: 'watch', watchers, writers: plan.watchWriters,
    bounds: { durationMs, countMax: Math.min(writesMax, Math.floor(eventsMax / watchers)) },
    place: { address: target.address, processIds: target.processIds, kind, namespace: namespaces.watch },
    run: `${run}-watch-${watchers}-${round}`,
  }))
  printPairs(pairs, readings, { results, print })
}
