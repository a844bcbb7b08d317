/**
 * `npm run soak -- --minutes 10 --json`: a plane under mixed load, compared between the start and the end of the run.
 *
 * 64 clients of 8 users, 200 watchers, namespaces that are created and deleted, a failing webhook: everything on
 * loopback. Clients, watchers and the plane, on a file store in a temporary folder, are separate processes. The history
 * of every watcher is compared with that of the store. Prints one line:
 * `{"case","events","lost","rssFirstMb","rssLastMb","p99FirstMs","p99LastMs","p99ByMinuteMs","errors"}` and more.
 *
 * Bounded memory fills first: the history of the store (one to two minutes, with the compaction here), the ledgers of
 * controllers, compiled code. So there is a warm-up under the same load; it is not compared, but its lost events and
 * errors count. Unbounded memory keeps growing after it. Exits with 1 when an event was lost or unexpected, on errors,
 * when memory grew, or when the 99th percentile climbed from minute to minute.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Caller } from './calls.ts'
import { runChurn } from './churn.ts'
import { runClients } from './clients.ts'
import { namespaceOf, plan } from './plan.ts'
import { report } from './soak-report.ts'
import type { Soaked } from './soak-report.ts'
import { ServerProcess } from './server-process.ts'
import type { Ready } from './server-process.ts'
import { Tally } from './tally.ts'
import { WatchersProcess } from './watchers/process.ts'
import { startWebhook } from './webhook.ts'

const help = `npm run soak -- [options]

  --minutes N  how long, after the warm-up (default 10); 0.2 is enough to see that it works
  --warm-up N  minutes under the same load before anything is compared (default 2, at most half of --minutes)
  --json       one JSON line
  --help
`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    'warm-up': { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
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
  const [server, watchers] = [new ServerProcess(folder), new WatchersProcess()]
  try {
    const ready = await server.ready()
    const soaked = await soak(ready, server, watchers)
    await server.stop()
    const verdict = await watchers.judge(join(folder, 'history'), soaked.until)
    return report({ ...soaked, faults: server.faults, verdict }, { minutes, warmUp, isJson: values.json })
  } finally {
    await watchers.stop()
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

async function soak(
  ready: Ready,
  server: ServerProcess,
  watchers: WatchersProcess,
): Promise<Omit<Soaked, 'faults' | 'verdict'> & { until: number }> {
  const admin = new Caller(ready, { sockets: 8 })
  const tally = new Tally(minutes * 60_000, { warmUpMs: warmUp * 60_000 })
  const webhook = await startWebhook(admin, tally)
  await prepare(admin)
  await watchers.watch(ready, await headOf(admin))
  tally.begin()
  const lateness = monitorEventLoopDelay({ resolution: 5 })
  lateness.enable()
  const ownLateMs: number[] = []
  const beat = setInterval(() => {
    ownLateMs.push(lateness.percentile(99) / 1e6)
    lateness.reset()
    process.stderr.write(
      `\r${tally.secondsLeft} s left, ${tally.counted('requests')} requests, ${tally.counted('namespaces')} namespaces, ${tally.counted('errors')} errors `,
    )
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
  const until = await lastChanges(admin)
  const watchersEnd = await watchers.end(until)
  await webhook.stop()
  admin.close()
  return { tally, watchersEnd, until, memory, live, ownLateMs: ownLateMs.slice(ownFrom) }
}

async function prepare(admin: Caller): Promise<void> {
  await admin.must('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    body: {
      metadata: { name: 'soak' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'soak' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    },
  })
  for (let index = 0; index < plan.namespaces; index++)
    await admin.must('POST', '/api/v1/namespaces', { body: { metadata: { name: namespaceOf(index) } } })
}

async function headOf(admin: Caller): Promise<number> {
  const { metadata } = await admin.must('GET', '/api/v1/configmaps?limit=1')
  return Number(metadata?.['resourceVersion'])
}

/** One last change in every watched namespace: a watcher that received it has received everything up to the result. */
async function lastChanges(admin: Caller): Promise<number> {
  const until = await headOf(admin)
  for (let index = 0; index < plan.namespaces; index++)
    await admin.must('POST', `/api/v1/namespaces/${namespaceOf(index)}/configmaps`, {
      body: { metadata: { name: 'the-end' } },
    })
  return until
}
