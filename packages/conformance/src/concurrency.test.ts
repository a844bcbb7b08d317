import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeEngines } from './targets/index.ts'
import { onTarget } from './targets/target.ts'
import type { RunningEngine } from './targets/target.ts'
import { runClients } from './validate/clients.ts'
import { linearizabilityFaults } from './validate/linearizable.ts'
import { positionOf, watchFaults } from './validate/watch.ts'
import type { Session } from './validate/watch.ts'
import { runWorkload } from './validate/workload.ts'
import { plainChange } from './model/store-model.ts'

/** The number of rounds; EVENKEEL_RUNS overrides it. */
const runs = (usual: number): number => Number(process.env['EVENKEEL_RUNS'] ?? usual)

const usual: Readonly<Record<string, { rounds: number; commits: number }>> = {
  memory: { rounds: 8, commits: 60 },
  'file-simulated': { rounds: 6, commits: 60 },
  file: { rounds: 1, commits: 30 },
  etcd: { rounds: 2, commits: 25 },
}

for (const engine of storeEngines) {
  const unavailable = engine.unavailable()
  const { rounds, commits } = usual[engine.name] ?? { rounds: 2, commits: 25 }
  describe.skipIf(unavailable !== undefined)(engine.name, () => {
    let running: RunningEngine
    beforeAll(async () => {
      running = await engine.start()
    })
    afterAll(() => running.stop())

    test('gives concurrent clients results that fit into one order', async () => {
      for (let seed = 0; seed < runs(rounds); seed++) {
        await onTarget(running, async (target) => {
          const store = await target.open()
          const start = await store.head()
          const operations = await runClients(store, { clients: 6, rounds: 30, seed })
          expect(linearizabilityFaults(operations, start)).toEqual([])
          expect(operations.filter(({ type }) => type === 'lost').length).toBeGreaterThan(0)
        })
      }
    })

    test('keeps the nine guarantees of a watch during continuous compaction', async () => {
      for (let seed = 0; seed < runs(rounds); seed++) {
        await onTarget(running, async (target) => {
          const store = await target.open()
          const { truth, watchers, compactions } = await runWorkload(store, { seed, writers: 3, commits, watchers: 8 })
          for (const sessions of watchers) expect(watchFaults(sessions, truth)).toEqual([])
          expect(compactions).toBeGreaterThan(0)
          const ends = watchers.flat().map(({ end }) => end?.reason)
          expect(ends.every((reason) => [undefined, 'compacted', 'overflow'].includes(reason))).toBe(true)
          expect(
            new Set(
              watchers.map((sessions) => positionOf(sessions.at(-1) as Session) >= (truth.at(-1)?.revision ?? 0)),
            ),
          ).toEqual(new Set([true]))
        })
      }
    })

    test('can be watched from each revision', async () => {
      await onTarget(running, async (target) => {
        const store = await target.open()
        const { truth } = await runWorkload(store, { seed: 'each', writers: 2, commits: 20, watchers: 0 })
        const [head, compacted] = [await store.head(), await store.compacted()]
        const revisions = [compacted, ...truth.map(({ revision }) => revision)].filter(
          (revision) => revision >= compacted,
        )
        expect(revisions.length).toBeGreaterThan(2)
        const sessions = await Promise.all(
          revisions.map(async (after) => {
            const session: Session = { prefix: '', after, isResumed: false, batches: [] }
            const watch = store.watch('', { after })
            watch.requestProgress()
            for await (const { revision, changes } of watch) {
              session.batches.push({
                revision,
                changes: changes.map((change) => plainChange(change)),
                headThen: await store.head(),
                compactedThen: compacted,
              })
              if (revision >= head) break
            }
            return session
          }),
        )
        expect(watchFaults(sessions, truth)).toEqual([])
      })
    })
  })
}
