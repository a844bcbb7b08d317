/**
 * The work queue: keys per second through add, take and done, in sequence as a worker does, in one process.
 *
 * An operation is one cycle of add, take and done. The goal is 500,000 per second on one core. CPU time per
 * operation is printed too, because it is more reliable on a shared machine.
 */
import { Metrics } from 'evenkeel/unstable/base'
import { WorkQueue } from 'evenkeel/unstable/queue'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

interface QueueCase {
  readonly name: string
  /** The number of ready keys. */
  readonly depth: number
  readonly priorities: readonly number[]
  readonly metrics: boolean
}

const cases: readonly QueueCase[] = [
  { name: 'queue', depth: 0, priorities: [0], metrics: true },
  { name: 'queue no metrics', depth: 0, priorities: [0], metrics: false },
  { name: 'queue depth=1k priorities=2', depth: 1000, priorities: [0, -100], metrics: true },
  { name: 'queue depth=100k priorities=2', depth: 100_000, priorities: [0, -100], metrics: true },
]
const delayedName = 'queue delayed 100k'
const goalPerSecond = 500_000
const peerName = 'no peer'

export async function queueBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const operations = quick ? 10_000 : 500_000
  for (const one of cases.filter(({ name }) => name.includes(only))) {
    await measure(one, operations / 5)
    const measured: Measured[] = []
    for (let round = 0; round < rounds; round++) measured.push(await measure(one, operations))
    print({
      case: one.name,
      ours: middle(measured, 'perSecond'),
      peer: undefined,
      peerName,
      unit: 'ops/s',
      more: { goal: goalPerSecond, cpuUsPerOp: Number(middle(measured, 'cpuUs').toFixed(3)) },
    })
  }
  if (!delayedName.includes(only)) return
  const perSecond: number[] = []
  for (let round = 0; round < rounds; round++) perSecond.push(await measureDelayed(quick ? 1000 : 100_000))
  print({ case: delayedName, ours: median(perSecond), peer: undefined, peerName, unit: 'keys/s' })
}

interface Measured {
  readonly perSecond: number
  readonly cpuUs: number
}

function middle(measured: readonly Measured[], field: keyof Measured): number {
  return median(measured.map((one) => one[field]))
}

async function measure({ depth, priorities, metrics }: QueueCase, operations: number): Promise<Measured> {
  const queue = new WorkQueue({ name: 'bench', ...(metrics && { metrics: new Metrics() }) })
  const add = (key: string, priority = 0): void => {
    queue.add(key, { priority, reason: 'updated' })
  }
  for (let index = 0; index < depth; index++)
    add(`local/apps/Deployment/default/object-${index}`, priorities[index % priorities.length])
  // The finished key is added next, so that the depth stays constant.
  let idle: { key: string; priority: number } | undefined = { key: 'local/apps/Deployment/default/object', priority: 0 }
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  for (let index = 0; index < operations && idle; index++) {
    add(idle.key, idle.priority)
    idle = await queue.take()
    queue.done(idle?.key ?? '')
  }
  const [seconds, { user, system }] = [(performance.now() - started) / 1000, process.cpuUsage(cpu)]
  await queue.stop()
  return { perSecond: operations / seconds, cpuUs: (user + system) / operations }
}

/** Delayed keys per second that become ready together and are processed. */
async function measureDelayed(count: number): Promise<number> {
  const queue = new WorkQueue()
  const started = performance.now()
  for (let index = 0; index < count; index++) queue.add(`local/apps/Deployment/default/object-${index}`, { afterMs: 1 })
  for (let taken = 0; taken < count; taken++) queue.done((await queue.take())?.key ?? '')
  const seconds = (performance.now() - started) / 1000
  await queue.stop()
  return count / seconds
}
