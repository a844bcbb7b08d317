/**
 * Durable 1 KiB commits per second, by the number of writers that wait for the result.
 */
import { readFileSync } from 'node:fs'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import type { Contender } from './contender.ts'

const value = Buffer.alloc(1024, 'v')
const writerCounts = [1, 16, 64, 256] as const
const roundMs = 700

interface Rate {
  readonly perSecond: number
  readonly cpuUs: number
}

/** Every contender once per round, in turn, so that all run under the same conditions; the median counts. */
export async function commitBench(
  contenders: readonly Contender[],
  { rounds, only, print, missing }: BenchOptions & { missing: readonly string[] },
): Promise<void> {
  for (const writers of writerCounts) {
    const name = `commit 1KiB w=${writers}`
    if (!name.includes(only)) continue
    const rates = new Map<Contender, Rate[]>(contenders.map((contender) => [contender, []]))
    for (let turn = 0; turn < rounds; turn++) {
      for (const contender of contenders) rates.get(contender)?.push(await measure(contender, writers))
    }
    const [ours, ...peers] = contenders.map((contender) => ({ contender, rate: middle(rates.get(contender) ?? []) }))
    if (!ours) continue
    for (const { contender, rate } of peers) {
      print({
        case: name,
        ours: ours.rate.perSecond,
        peer: rate.perSecond,
        peerName: contender.name,
        unit: 'commits/s',
        more: { oursCpuUs: ours.rate.cpuUs, peerCpuUs: rate.cpuUs },
      })
    }
    for (const peerName of missing)
      print({
        case: name,
        ours: ours.rate.perSecond,
        peer: undefined,
        peerName,
        unit: 'commits/s',
        more: { oursCpuUs: ours.rate.cpuUs },
      })
  }
}

let sequence = 0

async function measure(contender: Contender, writers: number): Promise<Rate> {
  const started = performance.now()
  const cpuBefore = cpuOf(contender)
  let count = 0
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() - started < roundMs) {
        await contender.put(`/registry/bench/widgets/default/widget-${sequence++}`, value)
        count++
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  return { perSecond: count / seconds, cpuUs: Math.round(((cpuOf(contender) - cpuBefore) / count) * 10) / 10 }
}

/** CPU microseconds of the process that does the work; for a peer with a server, that of the server. */
function cpuOf({ processId }: Contender): number {
  if (processId === undefined) {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

function middle(rates: readonly Rate[]): Rate {
  return { perSecond: median(rates.map(({ perSecond }) => perSecond)), cpuUs: median(rates.map(({ cpuUs }) => cpuUs)) }
}
