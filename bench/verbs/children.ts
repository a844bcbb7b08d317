/**
 * The time until existing parents have three children each and a status, and the number of writes:
 * a controller with `children`, and a hand-written one on client-node, each in a separate process, in turn, against our
 * server over TLS.
 *
 * The time goes from the start of the controller, with empty caches, to the status of the last parent.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { crdOf } from 'evenkeel/unstable/api'
import { bearer, fixedCredential, httpTransport, withCredentials } from 'evenkeel/unstable/client'
import { Client } from 'evenkeel/client'
import { Namespace } from 'evenkeel/kinds/core/v1'
import { median, round } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import type { Address } from '../server/load/jobs.ts'
import { startOurs } from '../server/ours.ts'
import { countName } from '../server/plan.ts'
import { call } from '../server/target.ts'
import { benchFolder } from '../store/contender.ts'
import { Parent } from './kinds.ts'
import { childrenEach } from './parents.ts'
import { createAll, revisionOf } from './stage.ts'

/** The input of a step. */
export interface ChildrenJob {
  readonly address: Address
  readonly namespace: string
  readonly concurrency: number
}

interface Taken {
  readonly ms: number
  readonly cpuMs: number
  readonly writes: number
}

const concurrency = 16
const scripts = ['children-ours.ts', 'children-peer.ts'] as const

export async function childrenBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 100 : 10_000
  const name = `children of ${countName(count)} parents`
  if (!name.includes(only) && !`${name} writes`.includes(only)) return
  const { folder, remove } = benchFolder()
  const server = await startOurs(path.join(folder, 'verbs'))
  try {
    const taken: Record<(typeof scripts)[number], Taken[]> = { 'children-ours.ts': [], 'children-peer.ts': [] }
    for (let turn = 0; turn < rounds; turn++)
      for (const script of scripts) taken[script].push(await converge(script, server.address, count))
    const of = (key: keyof Taken): { ours: number; peer: number } => ({
      ours: median(taken['children-ours.ts'].map((one) => one[key])),
      peer: median(taken['children-peer.ts'].map((one) => one[key])),
    })
    const [cpu, writes] = [of('cpuMs'), of('writes')]
    print({
      case: name,
      ...of('ms'),
      peerName: 'by hand on client-node',
      unit: 'ms',
      lessIsBetter: true,
      more: { cpuMs: round(cpu.ours), cpuMsPeer: round(cpu.peer) },
    })
    print({
      case: `${name} writes`,
      ours: writes.ours / count,
      peer: writes.peer / count,
      peerName: 'by hand on client-node',
      unit: 'per parent',
      lessIsBetter: true,
      more: { minimum: childrenEach + 1 },
    })
  } finally {
    await server.stop()
    remove()
  }
}

async function converge(script: string, address: Address, count: number): Promise<Taken> {
  const { url, token, caPem } = address
  await call(address, 'POST', {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: crdOf(Parent),
  })
  const connection = httpTransport({ server: url, tls: caPem === undefined ? { insecureSkipVerify: true } : { caPem } })
  const client = new Client({
    transport: withCredentials(connection.transport, fixedCredential(bearer(token))),
    close: () => connection.close(),
  })
  try {
    const {
      metadata: { name: namespace },
    } = await client.create(Namespace, { metadata: { generateName: 'children-' } })
    await createAll(client, Parent, { namespace, count, spec: { text: 'x'.repeat(200) } })
    const before = await revisionOf(client, Parent, namespace)
    const job: ChildrenJob = { address, namespace, concurrency }
    const child = spawn(
      process.execPath,
      [...process.execArgv, fileURLToPath(new URL(script, import.meta.url)), JSON.stringify(job)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      await lines.next()
      const startedMs = performance.now()
      await untilMade(client, { namespace, count, since: before })
      const ms = performance.now() - startedMs
      const after = await untilStill(client, namespace)
      child.kill('SIGTERM')
      const { user, system } = JSON.parse(String((await lines.next()).value)) as NodeJS.CpuUsage
      return { ms, cpuMs: (user + system) / 1000, writes: after - before }
    } finally {
      await ended(child)
    }
  } finally {
    await client.close()
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

async function untilMade(
  client: Client,
  { namespace, count, since }: { namespace: string; count: number; since: number },
): Promise<void> {
  const made = new Set<string>()
  for (let resourceVersion = String(since); ;) {
    for await (const event of client.watch(Parent, { namespace, resourceVersion })) {
      if (event.type === 'ERROR') throw event.error
      resourceVersion = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
      if (event.type !== 'BOOKMARK' && event.object.status?.made === childrenEach) made.add(event.object.metadata.name)
      if (made.size >= count) return
    }
  }
}

/** Waits until the writes stop: those after the last status count as well. */
async function untilStill(client: Client, namespace: string): Promise<number> {
  for (let last = -1; ;) {
    const revision = await revisionOf(client, Parent, namespace)
    if (revision === last) return revision
    last = revision
    await new Promise((later) => {
      setTimeout(later, 1000)
    })
  }
}
