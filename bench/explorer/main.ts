/**
 * The Explorer: schedules per second on the scenario of the tutorial, on one core, with the real server code.
 *
 * It runs in a separate process on the built package, as users have it: tools that run sources keep the name of every
 * function, which costs more than the measured work. There is no comparable tool and therefore no peer; the nearest one
 * (Sieve) takes minutes for a schedule on a cluster.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../print.ts'
import type { Bench } from '../print.ts'

const run = promisify(execFile)

/**
 * About 2,600 schedules: until then CPU time per schedule falls from round to round (17, 11, 9, 8 … 5 ms), while the
 * compiler works in parallel; then it stays constant. Users wait for the first round, the time of the whole tier.
 */
const warmUpRounds = 12

interface Round {
  readonly perSecond: number
  readonly cpuMs: number
  readonly ms: number
  readonly schedules: number
}

export const explorerBench: Bench = {
  about: 'schedules per second and core on the scenario of the tutorial, and the time of the whole tier 1',
  async run({ rounds, only, quick, print }) {
    await run(process.execPath, [fileURLToPath(new URL('../../tools/build.mjs', import.meta.url))])
    const all = await measure({ rounds: rounds + warmUpRounds, tier: quick ? 0 : 1 })
    const runs = all.slice(warmUpRounds)
    const [cold] = all
    if ('schedules'.includes(only))
      print({
        case: 'schedules',
        ours: median(runs.map(({ perSecond }) => perSecond)),
        peer: undefined,
        peerName: 'no peer',
        unit: 'schedules/s',
        more: {
          goal: 200,
          cpuMs: round(median(runs.map(({ cpuMs }) => cpuMs))),
          coldPerSecond: round(cold?.perSecond ?? 0),
        },
      })
    if ('tier 1'.includes(only))
      print({
        case: 'tier 1',
        ours: cold?.ms ?? 0,
        peer: undefined,
        peerName: 'no peer',
        unit: 'ms',
        lessIsBetter: true,
        more: { goal: 5000, schedules: cold?.schedules ?? 0, warmMs: round(median(runs.map(({ ms }) => ms))) },
      })
  },
}

/** In a process without the `source` condition, so that it uses the built package. */
async function measure({ rounds, tier }: { rounds: number; tier: number }): Promise<readonly Round[]> {
  const file = fileURLToPath(new URL('./once.ts', import.meta.url))
  const { stdout } = await run(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), file, String(rounds), String(tier)],
    { timeout: 900_000, maxBuffer: 1 << 24 },
  )
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Round)
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
