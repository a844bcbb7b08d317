/**
 * The garbage collector: objects whose owners are gone go too, and owners wait for what they own when they are told to.
 *
 * It runs on any server, ours or another's, through its public API alone: list and watch of metadata, get, patch, delete.
 * Deletions in the background need nobody but it; those in the foreground and those that orphan stay unfinished while none
 * runs. Two at the same time do no harm, only work twice.
 *
 * @example
 * new Manager({ ..., runnables: [garbageCollector({ clock, random, log })] })
 */
import { silentLogger, SystemClock, SystemRandom } from '#base'
import type { Clock, Logger, Metrics, Random } from '#base'
import type { Client } from '#client'
import type { PolicyRule } from '#controller'
import { CollectorRun } from './collection.ts'

export interface GarbageCollectorOptions {
  /** @default the one it is run with: a manager's, which writes only while it leads */
  readonly client?: Client | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: Random | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  /** @default nothing is counted */
  readonly metrics?: Metrics | undefined
  /** How many objects are worked on at a time. @default 20 */
  readonly concurrency?: number | undefined
  /** How often the server is asked which kinds it has, when nothing tells of a change. @default 30_000 */
  readonly discoveryMs?: number | undefined
  /** How long to wait at the start until everything was heard of. @default 30_000 */
  readonly syncMs?: number | undefined
}

export interface GarbageCollector {
  readonly name: string
  /** What it must be allowed to do. */
  readonly rbac: readonly PolicyRule[]
  /** Whether it runs, has heard of everything and has nothing to do now; what waits for a time is left to it. */
  readonly isIdle: () => boolean
  /** Collects until the signal aborts; then it resolves. It may be run again, and begins with nothing each time. */
  readonly run: (signal: AbortSignal, context: { readonly client: Client }) => Promise<void>
}

/** Kinds come and go, so it must be allowed to do this to all of them. */
const rbac: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
]

export function garbageCollector({
  client: given,
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  metrics,
  concurrency = 20,
  discoveryMs = 30_000,
  syncMs = 30_000,
}: GarbageCollectorOptions = {}): GarbageCollector {
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`concurrency must be a whole number of 1 or more, got ${concurrency}`)
  if (!(discoveryMs >= 1000)) throw new RangeError(`discoveryMs must be at least 1000, got ${discoveryMs}`)
  if (!(syncMs >= 0)) throw new RangeError(`syncMs must be 0 or more, got ${syncMs}`)
  const name = 'garbage-collector'
  let running: CollectorRun | undefined
  return {
    name,
    rbac,
    isIdle: () => running?.isIdle ?? false,
    async run(signal, { client }) {
      const collection = new CollectorRun({
        client: given ?? client,
        clock,
        random,
        log: log.child({ controller: name }),
        metrics,
        concurrency,
        discoveryMs,
        syncMs,
      })
      running = collection
      await collection.run(signal).finally(() => {
        if (running === collection) running = undefined
      })
    },
  }
}
