/**
 * The report of a soak, and its verdict.
 */
import { growthOf, slowerOf } from './growth.ts'
import type { Verdict } from './watchers/judge.ts'
import { firstThird, lastThird, quantile } from './latencies.ts'
import type { Latencies } from './latencies.ts'
import { plan } from './plan.ts'
import type { Memory } from './server-process.ts'
import type { Tally } from './tally.ts'
import type { WatchersEnd } from './watchers/process.ts'

export interface Soaked {
  readonly tally: Tally
  readonly watchersEnd: WatchersEnd
  readonly verdict: Verdict
  /** Log lines of the server that should never occur. */
  readonly faults: readonly string[]
  /** Of the server, once per second during the measured time. */
  readonly memory: readonly Memory[]
  /** The memory of the server after a garbage collection, at the start and at the end of the measured time. */
  readonly live: readonly [first: Memory, last: Memory]
  /** The event loop delay of the clients, every two seconds: their measurements include it. */
  readonly ownLateMs: readonly number[]
}

interface ReportOptions {
  readonly minutes: number
  readonly warmUp: number
  readonly isJson: boolean
}

/** Prints the report; returns the exit code. */
export function report(soaked: Soaked, { minutes, warmUp, isJson }: ReportOptions): number {
  const {
    tally,
    watchersEnd,
    faults,
    verdict: { events, lost, extra, examples },
  } = soaked
  const memory = memoryOf(soaked)
  const times = timesOf(tally.latencies, minutes)
  const growth = [
    ...growthOf('RSS', 'MiB', [memory.rssFirstMb, memory.rssLastMb]),
    ...growthOf('the live heap', 'MiB', [memory.liveFirstMb, memory.liveLastMb]),
    ...slowerOf('the 99th percentile', [times.p99FirstMs, times.p99LastMs], times.p99ByMinuteMs),
  ]
  for (const text of [...tally.errors, ...watchersEnd.examples, ...faults.slice(0, 10), ...examples, ...growth])
    process.stderr.write(`${text}\n`)
  const errors = tally.counted('errors') + watchersEnd.errors + faults.length
  const counted = Object.fromEntries(
    ['requests', 'namespaces', 'webhookCalls', 'webhookFaults'].map((name) => [name, tally.counted(name)]),
  )
  const late = {
    ...lateness(
      'server',
      soaked.memory.map(({ lateMs }) => lateMs),
    ),
    ...lateness('client', soaked.ownLateMs),
  }
  const row = {
    case: `soak ${minutes} min c=${plan.clients} w=${plan.watchers}`,
    warmUpMinutes: warmUp,
    events,
    lost,
    ...memory,
    ...times,
    ...late,
    errors,
    extra,
    watchesEnded: watchersEnd.watchesEnded,
    ...counted,
  }
  process.stdout.write(
    isJson
      ? `${JSON.stringify(row)}\n`
      : `${Object.entries(row)
          .map(([name, value]) => `${name.padEnd(16)} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
          .join('\n')}\n`,
  )
  return errors + lost + extra + growth.length === 0 ? 0 : 1
}

function memoryOf({ memory, live }: Soaked) {
  const third = Math.max(1, Math.floor(memory.length / 3))
  const middle = (samples: readonly Memory[]): number =>
    mebibytes(
      quantile(
        samples.map(({ rss }) => rss),
        0.5,
      ),
    )
  return {
    rssFirstMb: middle(memory.slice(0, third)),
    rssLastMb: middle(memory.slice(-third)),
    liveFirstMb: mebibytes(live[0].heapUsed),
    liveLastMb: mebibytes(live[1].heapUsed),
  }
}

/** By third, by minute (noise jumps, a leak climbs) and by kind of request. */
function timesOf(latencies: Latencies, minutes: number) {
  const thirds = (part: number, kind?: string): [number, number] => [
    round(latencies.quantile(part, firstThird, { ...(kind !== undefined && { kind }) })),
    round(latencies.quantile(part, lastThird, { ...(kind !== undefined && { kind }) })),
  ]
  const [p99FirstMs, p99LastMs] = thirds(0.99)
  const spans = Math.max(1, Math.round(minutes))
  return {
    p99FirstMs,
    p99LastMs,
    p99ByMinuteMs: Array.from({ length: spans }, (_, index) =>
      round(latencies.quantile(0.99, [index / spans, (index + 1) / spans])),
    ),
    p50Ms: thirds(0.5),
    p90Ms: thirds(0.9),
    p99ByKindMs: Object.fromEntries(latencies.kinds.map((kind) => [kind, thirds(0.99, kind)])),
  }
}

/** The medians of the first and of the last third. */
function lateness(who: string, samplesMs: readonly number[]): Record<string, number> {
  const third = Math.max(1, Math.floor(samplesMs.length / 3))
  return {
    [`${who}LateFirstMs`]: round(quantile(samplesMs.slice(0, third), 0.5)),
    [`${who}LateLastMs`]: round(quantile(samplesMs.slice(-third), 0.5)),
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
