/**
 * How long a cache takes to have a whole collection, and how much memory it takes: ours and client-node's informer, each
 * in a process of its own, in turns, against our server over TLS.
 *
 * The time goes from asking until every object is there. Memory is that of the whole process half a second later; what
 * is left after a garbage collection, the peak, and CPU time are beside it.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median, round } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import { Generator } from '../server/load/generator.ts'
import type { Address } from '../server/load/jobs.ts'
import { startOurs } from '../server/ours.ts'
import { countName } from '../server/plan.ts'
import { ensureNamespaces, kindsOf } from '../server/target.ts'
import { benchFolder } from '../store/contender.ts'

interface Synced {
  readonly objects: number
  readonly ms: number
  readonly cpuMs: number
  readonly rssBytes: number
  readonly collectedBytes: number
  readonly grownBytes: number
  readonly peakBytes: number
}

/** How objects can be kept: with managed fields, without, or metadata alone. */
const forms = ['full', 'stripped', 'metadata'] as const

interface SyncJob {
  readonly address: Address
  readonly namespace: string
  readonly count: number
  readonly form?: (typeof forms)[number]
}

const namespace = 'sync'
const peerName = 'client-node'

export async function syncBench(given: BenchOptions): Promise<void> {
  const options: BenchOptions = { ...given, print: (figure) => { if (figure.case.includes(given.only)) given.print(figure) } }
  const count = options.quick ? 500 : 100_000
  const names = [`sync ${countName(count)} vs client-node`, `sync rss ${countName(count)} vs client-node`, ...forms.map((form) => `memory per cached object ${form}`)]
  if (!names.some((name) => name.includes(options.only))) return
  const { folder, remove } = benchFolder()
  const server = await startOurs(path.join(folder, 'sync'))
  try {
    const job = { address: server.address, namespace, count }
    await fill(server.address, count)
    if (names.slice(0, 2).some((name) => name.includes(options.only))) await race(job, options)
    if (forms.some((form) => `memory per cached object ${form}`.includes(options.only))) await memory(job, options)
  } finally {
    await server.stop()
    remove()
  }
}

async function fill(address: Address, count: number): Promise<void> {
  await kindsOf(address)
  await ensureNamespaces(address, [namespace])
  const generator = new Generator()
  const place = { address, processIds: [], kind: 'custom', namespace } as const
  await generator.run({ type: 'requests', operation: 'create', connections: 64, run: 'sync', place, bounds: { durationMs: Infinity, countMax: count } })
  await generator.stop()
}

async function race(job: SyncJob, { rounds, print }: BenchOptions): Promise<void> {
  const [ours, theirs]: [Synced[], Synced[]] = [[], []]
  for (let turn = 0; turn < rounds; turn++) {
    ours.push(await step('sync-ours.mjs', job))
    theirs.push(await step('sync-peer.mjs', job))
  }
  const both = (of: (synced: Synced) => number): { ours: number, peer: number } => ({ ours: median(ours.map(of)), peer: median(theirs.map(of)) })
  const size = countName(job.count)
  print({ case: `sync ${size} vs client-node`, ...both(({ ms }) => ms), peerName, unit: 'ms', lessIsBetter: true, more: beside('cpuMs', both(({ cpuMs }) => cpuMs)) })
  print({
    case: `sync rss ${size} vs client-node`, ...both(({ rssBytes }) => rssBytes / 1e6), peerName, unit: 'MB', lessIsBetter: true,
    more: { ...beside('collectedMb', both(({ collectedBytes }) => collectedBytes / 1e6)), ...beside('peakMb', both(({ peakBytes }) => peakBytes / 1e6)) },
  })
}

/** What one object adds to the process, in each form a cache can keep it in. */
async function memory(job: SyncJob, { rounds, print }: BenchOptions): Promise<void> {
  for (const form of forms) {
    const bytes: number[] = []
    for (let turn = 0; turn < rounds; turn++) bytes.push((await step('sync-ours.mjs', { ...job, form })).grownBytes / job.count)
    print({ case: `memory per cached object ${form}`, ours: median(bytes), peer: undefined, peerName: 'no peer', unit: 'bytes', lessIsBetter: true })
  }
}

async function step(script: string, job: SyncJob): Promise<Synced> {
  const file = fileURLToPath(new URL(`./${script}`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', file, JSON.stringify(job)])
  const synced = JSON.parse(stdout) as Synced
  if (synced.objects !== job.count) throw new Error(`${script} has ${synced.objects} of ${job.count} objects`)
  return synced
}

function beside(name: string, { ours, peer }: { ours: number, peer: number }): Record<string, number> {
  return { [name]: round(ours), [`${name}Peer`]: round(peer) }
}
