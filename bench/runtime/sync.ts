/**
 * The time and the memory that a cache needs for a whole collection: ours, client-node's informer and, if Go is
 * installed, client-go's, each in a separate process, alternating, against our server over TLS.
 *
 * The time goes from the request until every object is cached. Memory is that of the whole process half a second later;
 * memory after a garbage collection, the peak, and CPU time are printed too.
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
import { buildClientGo } from './client-go.ts'

interface Synced {
  readonly objects: number
  readonly ms: number
  readonly cpuMs: number
  readonly rssBytes: number
  readonly collectedBytes: number
  readonly grownBytes: number
  readonly peakBytes: number
}

/** Representations of cached objects: with managed fields, without, or metadata only. */
const forms = ['full', 'stripped', 'metadata'] as const

interface SyncJob {
  readonly address: Address
  readonly namespace: string
  readonly count: number
  readonly form?: (typeof forms)[number]
}

/** A peer: a script for Node, or a program, or why it cannot run. */
interface Peer {
  readonly name: string
  readonly run: ((job: SyncJob) => Promise<Synced>) | { readonly missing: string }
}

const namespace = 'sync'
const peerNames = ['client-node', 'client-go'] as const

export async function syncBench(given: BenchOptions): Promise<void> {
  const options: BenchOptions = {
    ...given,
    print: (figure) => {
      if (figure.case.includes(given.only)) given.print(figure)
    },
  }
  const count = options.quick ? 500 : 100_000
  const wanted = peerNames.filter((peer) => caseNames(peer, count).some((name) => name.includes(options.only)))
  const wantedForms = forms.filter((form) => formCase(form).includes(options.only))
  if (wanted.length + wantedForms.length === 0) return
  const { folder, remove } = benchFolder()
  const server = await startOurs(path.join(folder, 'sync'))
  try {
    const job = { address: server.address, namespace, count }
    await fill(server.address, count)
    await race(job, await Promise.all(wanted.map((peer) => peerOf(peer, folder))), options)
    await memory(job, wantedForms, options)
  } finally {
    await server.stop()
    remove()
  }
}

function caseNames(peer: string, count: number): [time: string, memory: string] {
  return [`sync ${countName(count)} vs ${peer}`, `sync rss ${countName(count)} vs ${peer}`]
}

function formCase(form: string): string {
  return `memory per cached object ${form}`
}

async function peerOf(name: (typeof peerNames)[number], folder: string): Promise<Peer> {
  if (name === 'client-node') return { name, run: (job) => step('sync-peer.mjs', job) }
  const built = await buildClientGo(folder)
  return { name, run: 'missing' in built ? built : (job) => measure(built.program, [], job) }
}

async function fill(address: Address, count: number): Promise<void> {
  await kindsOf(address)
  await ensureNamespaces(address, [namespace])
  const generator = new Generator()
  const place = { address, processIds: [], kind: 'custom', namespace } as const
  await generator.run({
    type: 'requests',
    operation: 'create',
    connections: 64,
    run: 'sync',
    place,
    bounds: { durationMs: Infinity, countMax: count },
  })
  await generator.stop()
}

async function race(job: SyncJob, peers: readonly Peer[], { rounds, print }: BenchOptions): Promise<void> {
  if (peers.length === 0) return
  const ours: Synced[] = []
  const theirs = new Map<string, Synced[]>()
  for (let turn = 0; turn < rounds; turn++) {
    ours.push(await step('sync-ours.mjs', job))
    for (const { name, run } of peers)
      if (typeof run === 'function') theirs.set(name, [...(theirs.get(name) ?? []), await run(job)])
  }
  for (const { name, run } of peers)
    tell(caseNames(name, job.count), {
      name: typeof run === 'function' ? name : run.missing,
      ours,
      theirs: theirs.get(name),
      print,
    })
}

function tell(
  [time, memory]: readonly [string, string],
  {
    name,
    ours,
    theirs,
    print,
  }: { name: string; ours: readonly Synced[]; theirs: readonly Synced[] | undefined; print: BenchOptions['print'] },
): void {
  const both = (of: (synced: Synced) => number): { ours: number; peer: number | undefined } => ({
    ours: median(ours.map(of)),
    peer: theirs && median(theirs.map(of)),
  })
  print({
    case: time,
    ...both(({ ms }) => ms),
    peerName: name,
    unit: 'ms',
    lessIsBetter: true,
    more: beside(
      'cpuMs',
      both(({ cpuMs }) => cpuMs),
    ),
  })
  print({
    case: memory,
    ...both(({ rssBytes }) => rssBytes / 1e6),
    peerName: name,
    unit: 'MB',
    lessIsBetter: true,
    more: {
      ...beside(
        'collectedMb',
        both(({ collectedBytes }) => collectedBytes / 1e6),
      ),
      ...beside(
        'peakMb',
        both(({ peakBytes }) => peakBytes / 1e6),
      ),
    },
  })
}

/** Memory per object, in each representation. */
async function memory(
  job: SyncJob,
  wanted: readonly (typeof forms)[number][],
  { rounds, print }: BenchOptions,
): Promise<void> {
  for (const form of wanted) {
    const bytes: number[] = []
    for (let turn = 0; turn < rounds; turn++)
      bytes.push((await step('sync-ours.mjs', { ...job, form })).grownBytes / job.count)
    print({
      case: formCase(form),
      ours: median(bytes),
      peer: undefined,
      peerName: 'no peer',
      unit: 'bytes',
      lessIsBetter: true,
    })
  }
}

function step(script: string, job: SyncJob): Promise<Synced> {
  return measure(process.execPath, ['--expose-gc', fileURLToPath(new URL(`./${script}`, import.meta.url))], job)
}

async function measure(program: string, args: readonly string[], job: SyncJob): Promise<Synced> {
  const { stdout } = await promisify(execFile)(program, [...args, JSON.stringify(job)])
  const synced = JSON.parse(stdout) as Synced
  if (synced.objects !== job.count)
    throw new Error(`${path.basename(args.at(-1) ?? program)} has ${synced.objects} of ${job.count} objects`)
  return synced
}

function beside(name: string, { ours, peer }: { ours: number; peer: number | undefined }): Record<string, number> {
  return { [name]: round(ours), ...(peer !== undefined && { [`${name}Peer`]: round(peer) }) }
}
