/**
 * `npm run soak -- --minutes 10 --json`: a plane under mixed load for a while, and whether it is as good at the end as at the beginning.
 *
 * 64 clients of 8 users, 200 watchers, namespaces that come and go, a webhook that fails: everything on loopback, the plane in a process of its own on a
 * file store in a temporary folder. Every watcher's history is compared with that of the store. One line:
 * `{"case","events","lost","rssFirstMb","rssLastMb","p99FirstMs","p99LastMs","p99ByMinuteMs","errors"}` and what else was counted.
 *
 * Memories with a bound fill first: the history of the store (one to two minutes, as it is compacted here), what controllers remember of their runs, code
 * that is compiled. So there is a warm-up under the same load; nothing of it is compared, but what is lost or goes wrong in it counts. What has no
 * bound goes on growing after it, and shows. Ends with 1 when something was lost, made up or went wrong, or when memory grew.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Caller } from './calls.ts'
import { runChurn } from './churn.ts'
import { runClients } from './clients.ts'
import { growthOf } from './growth.ts'
import { judge } from './judge.ts'
import type { Verdict } from './judge.ts'
import { namespaceOf, plan } from './plan.ts'
import { ServerProcess } from './server-process.ts'
import type { Memory, Ready } from './server-process.ts'
import { quantile, Tally } from './tally.ts'
import { startWatchers } from './watchers.ts'
import type { Watcher } from './watchers.ts'
import { startWebhook } from './webhook.ts'

const settleMsMax = 60_000

const help = `npm run soak -- [options]

  --minutes N  how long, after the warm-up (default 10); 0.2 is enough to see that it works
  --warm-up N  minutes under the same load before anything is compared (default 2, at most half of --minutes)
  --json       one JSON line
  --help
`

const { values } = parseArgs({ options: { 'minutes': { type: 'string', default: '10' }, 'warm-up': { type: 'string' }, 'json': { type: 'boolean', default: false }, 'help': { type: 'boolean', default: false } } })
const minutes = Number(values.minutes)
const warmUp = values['warm-up'] === undefined ? Math.min(2, minutes / 2) : Number(values['warm-up'])

if (values.help) process.stdout.write(help)
else if (!(minutes > 0 && minutes <= 24 * 60)) {
  process.stderr.write(`--minutes takes a number above 0, got ${values.minutes}\n`)
  process.exitCode = 2
} else if (!(warmUp >= 0 && warmUp <= 60)) {
  process.stderr.write(`--warm-up takes a number from 0 to 60, got ${String(values['warm-up'])}\n`)
  process.exitCode = 2
} else process.exitCode = await main()

async function main(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-soak-'))
  const server = new ServerProcess(folder)
  try {
    const ready = await server.ready()
    const soaked = await soak(ready, server)
    await server.stop()
    const history = (await readFile(join(folder, 'history'), 'utf8')).split('\n').filter(Boolean)
    return report(soaked, server.faults, judge(soaked.watchers, history, soaked.until))
  } finally {
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

interface Soaked {
  readonly tally: Tally
  readonly watchers: readonly Watcher[]
  /** Everything up to this version has to have been heard. */
  readonly until: number
  /** Of the server, once a second while the time counted. */
  readonly memory: readonly Memory[]
  /** What the server held after garbage was collected, when the time began to count and when it was over. */
  readonly live: readonly [first: Memory, last: Memory]
  /** How late the clients' own event loop was, every two seconds: what they measure contains it. */
  readonly ownLateMs: readonly number[]
}

async function soak(ready: Ready, server: ServerProcess): Promise<Soaked> {
  const admin = new Caller(ready, { sockets: 8 })
  const tally = new Tally(minutes * 60_000, { warmUpMs: warmUp * 60_000 })
  const webhook = await startWebhook(admin, tally)
  await prepare(admin)
  const watchers = startWatchers(ready, tally, await headOf(admin))
  await listening(watchers)
  tally.begin()
  const lateness = monitorEventLoopDelay({ resolution: 5 })
  lateness.enable()
  const ownLateMs: number[] = []
  const beat = setInterval(() => {
    ownLateMs.push(lateness.percentile(99) / 1e6)
    lateness.reset()
    process.stderr.write(`\r${tally.secondsLeft} s left, ${tally.counted('requests')} requests, ${tally.counted('namespaces')} namespaces, ${tally.counted('errors')} errors `)
  }, 2000)
  const load = Promise.all([runClients(ready, tally), runChurn(ready, tally)])
  await sleep(warmUp * 60_000)
  const first = await server.live()
  const [from, ownFrom] = [server.memory.length, ownLateMs.length]
  await load
  const memory = server.memory.slice(from)
  const live = [first, await server.live()] as const
  clearInterval(beat)
  process.stderr.write('\r\u001b[K')
  const until = await allHeard(admin, watchers, tally)
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  await webhook.stop()
  admin.close()
  return { tally, watchers, until, memory, live, ownLateMs: ownLateMs.slice(ownFrom) }
}

async function prepare(admin: Caller): Promise<void> {
  await admin.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: { metadata: { name: 'soak' }, subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'soak' }], roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' } } })
  for (let index = 0; index < plan.namespaces; index++) await admin.must('POST', '/api/v1/namespaces', { body: { metadata: { name: namespaceOf(index) } } })
}

/** Two hundred handshakes take a while, and are not what is measured. */
async function listening(watchers: readonly Watcher[]): Promise<void> {
  const begun = performance.now()
  while (!watchers.every(({ isListening }) => isListening)) {
    if (performance.now() - begun > settleMsMax) throw new Error('not all watchers were answered')
    await sleep(50)
  }
}

async function headOf(admin: Caller): Promise<number> {
  const { metadata } = await admin.must('GET', '/api/v1/configmaps?limit=1')
  return Number(metadata?.['resourceVersion'])
}

/** One last change in every namespace that is watched; when all watchers have heard of it they have heard all. */
async function allHeard(admin: Caller, watchers: readonly Watcher[], tally: Tally): Promise<number> {
  const until = await headOf(admin)
  for (let index = 0; index < plan.namespaces; index++) await admin.must('POST', `/api/v1/namespaces/${namespaceOf(index)}/configmaps`, { body: { metadata: { name: 'the-end' } } })
  const begun = performance.now()
  while (watchers.some(({ version }) => version <= until)) {
    if (performance.now() - begun > settleMsMax) {
      tally.error(`${watchers.filter(({ version }) => version <= until).length} watchers did not hear of the end`)
      break
    }
    await sleep(50)
  }
  return until
}

function report({ tally, memory, live, ownLateMs }: Soaked, faults: readonly string[], { events, lost, extra, examples }: Verdict): number {
  const { firstMs, lastMs, byMinuteMs } = tally.p99()
  const third = Math.max(1, Math.floor(memory.length / 3))
  const [rssFirstMb, rssLastMb] = [middle(memory.slice(0, third)), middle(memory.slice(-third))]
  const [liveFirstMb, liveLastMb] = [mebibytes(live[0].heapUsed), mebibytes(live[1].heapUsed)]
  const growth = [...growthOf('RSS', rssFirstMb, rssLastMb), ...growthOf('the live heap', liveFirstMb, liveLastMb)]
  for (const text of [...tally.errors, ...faults.slice(0, 10), ...examples, ...growth]) process.stderr.write(`${text}\n`)
  const errors = tally.counted('errors') + faults.length
  const row = {
    case: `soak ${minutes} min c=${plan.clients} w=${plan.watchers}`, warmUpMinutes: warmUp, events, lost, rssFirstMb, rssLastMb, p99FirstMs: round(firstMs), p99LastMs: round(lastMs), p99ByMinuteMs: byMinuteMs.map(round), p99ReadsByMinuteMs: tally.p99({ ofReads: true }).byMinuteMs.map(round), ...lateness('server', memory.map(({ lateMs }) => lateMs)), ...lateness('client', ownLateMs), errors, extra, liveFirstMb, liveLastMb,
    requests: tally.counted('requests'), namespaces: tally.counted('namespaces'), watchesEnded: tally.counted('watchesEnded'), webhookCalls: tally.counted('webhookCalls'), webhookFaults: tally.counted('webhookFaults'),
  }
  process.stdout.write(values.json ? `${JSON.stringify(row)}\n` : `${Object.entries(row).map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n')}\n`)
  return errors + lost + extra + growth.length === 0 ? 0 : 1
}

/** The middle of the first and of the last third. */
function lateness(who: string, samplesMs: readonly number[]): Record<string, number> {
  const third = Math.max(1, Math.floor(samplesMs.length / 3))
  return { [`${who}LateFirstMs`]: round(quantile(samplesMs.slice(0, third), 0.5)), [`${who}LateLastMs`]: round(quantile(samplesMs.slice(-third), 0.5)) }
}

/** The median, in MiB. */
function middle(samples: readonly Memory[]): number {
  return mebibytes(quantile(samples.map(({ rss }) => rss), 0.5))
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
