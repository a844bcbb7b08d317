/**
 * Logs of processes: how fast programs write them, and how fast a client reads them.
 *
 *   in    `seq` writes lines as a Process, and a reader follows; time until the reader has the last line.
 *         The peer is `seq` that writes to a file without us.
 *   out   a client in a process of its own reads a log through the API over TLS. The peer is `readFile` of the same file.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { connect, loadConfig } from 'evenkeel/client'
import type { Client, ConnectionConfig } from 'evenkeel/client'
import { runControllers, type Ready } from 'evenkeel'
import { Process, workloads } from '@evenkeel/workloads'
import { median, type BenchOptions, type Figure } from '../print.ts'

interface BenchPlane {
  readonly client: Client
  readonly config: ConnectionConfig
  readonly folder: string
}

/** A control plane with Processes, and a client of it over TLS. */
async function withPlane(use: (plane: BenchPlane) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-bench-'))
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  try {
    const ready = await new Promise<Ready>((resolve, reject) => {
      const work = workloads({ folder: join(folder, 'workloads'), cwd: folder })
      running = runControllers(stop.signal, {
        ...work,
        embedded: true,
        memory: true,
        data: join(folder, 'data'),
        onReady: resolve,
      })
      running.catch(reject)
    })
    const config = await loadConfig({ kubeconfig: ready.embedded?.kubeconfig ?? '' })
    const client = await connect({ config })
    try {
      await use({ client, config, folder })
    } finally {
      await client.close()
    }
  } finally {
    stop.abort()
    await running
    await rm(folder, { recursive: true, force: true })
  }
}

export async function measureLogs({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const lines = quick ? 10_000 : 20_000_000
  if (!['log in', 'log out'].some((name) => name.includes(only))) return
  await withPlane(async (plane) => {
    const results: { in: number; bare: number; out: number; file: number; cpu: number }[] = []
    for (let round = 0; round < rounds; round++) results.push(await measureRound(plane, { lines, round }))
    const of = (name: keyof (typeof results)[number]): number => median(results.map((one) => one[name]))
    const figures: readonly Figure[] = [
      {
        case: 'log in',
        ours: of('in'),
        peer: of('bare'),
        peerName: 'seq to a file',
        unit: 'lines/s',
        more: { goal: 1_500_000 },
      },
      {
        case: 'log out',
        ours: of('out'),
        peer: of('file'),
        peerName: 'readFile',
        unit: 'MB/s',
        more: { goal: 200, 'MB per second of processor time': Math.round(of('cpu')) },
      },
    ]
    for (const figure of figures) if (figure.case.includes(only)) print(figure)
  })
}

interface RoundOptions {
  readonly lines: number
  readonly round: number
}

async function measureRound({ client, config, folder }: BenchPlane, { lines, round }: RoundOptions) {
  const bareMs = await timed(() => writeBare(join(folder, `bare-${round}`), lines))
  const name = `logs-${round}`
  const gate = join(folder, `go-${round}`)
  const shell = `while [ ! -e ${gate} ]; do sleep 0.01; done; seq 1 ${lines}; exec sleep 1000`
  const process = await client.create(Process, {
    metadata: { name, namespace: 'default' },
    spec: { shell, log: { maxBytes: 1e9 } },
  })
  await untilStarted(client, name)
  const inMs = await timed(async () => {
    closeSync(openSync(gate, 'w'))
    await followLast(client, process, lines)
  })
  const before = globalThis.process.cpuUsage()
  const { bytes, ms: outMs } = await readElsewhere(config, name)
  const { user, system } = globalThis.process.cpuUsage(before)
  const { status } = await client.get(Process, { name, namespace: 'default' })
  const fileMs = await timed(() => readFile(status?.run?.logFile ?? ''))
  await client.delete(process)
  return {
    in: (lines / inMs) * 1000,
    bare: (lines / bareMs) * 1000,
    out: bytes / 1000 / outMs,
    file: bytes / 1000 / fileMs,
    cpu: bytes / (user + system),
  }
}

const reader = fileURLToPath(new URL('log-reader.mjs', import.meta.url))

/** A client in a process of its own: its work is not ours. */
async function readElsewhere(
  config: ConnectionConfig,
  name: string,
): Promise<{ readonly bytes: number; readonly ms: number }> {
  const url = `${config.server}/apis/workloads.evenkeel.dev/v1/namespaces/default/processes/${name}/log`
  const [ca, token] = [textOf(config.ca), textOf(config.token)]
  const { stdout } = await promisify(execFile)(globalThis.process.execPath, [reader], {
    env: { ...globalThis.process.env, READER: JSON.stringify({ url, ca, token }) },
  })
  const { status, ...read } = JSON.parse(stdout) as {
    readonly status: number
    readonly bytes: number
    readonly ms: number
  }
  if (status !== 200) throw new Error(`the log was answered with ${status}`)
  return read
}

function textOf(source: ConnectionConfig['ca']): string | undefined {
  return source && 'text' in source ? source.text : undefined
}

/** The bytes of the numbers from 1 on, each with a line break. */
function bytesOf(lines: number): number {
  let bytes = 0
  for (let power = 1, digits = 1; power <= lines; power *= 10, digits++)
    bytes += (Math.min(lines, power * 10 - 1) - power + 1) * (digits + 1)
  return bytes
}

/** Every byte has to come, and the last line is the last number. */
async function followLast(client: Client, process: Parameters<Client['delete']>[0], lines: number): Promise<void> {
  const expected = bytesOf(lines)
  let [bytes, tail] = [0, '']
  for await (const piece of client.subresource('log').stream(process as never, { parameters: { follow: true } })) {
    bytes += piece.length
    tail = `${tail}${piece}`.slice(-20)
    if (bytes < expected) continue
    if (bytes === expected && tail.endsWith(`\n${lines}\n`)) return
    throw new Error(`lines were lost or torn: ${bytes} bytes instead of ${expected}`)
  }
}

async function untilStarted(client: Client, name: string): Promise<void> {
  const watch = client.watch(Process, { namespace: 'default', fieldSelector: `metadata.name=${name}` })
  for await (const event of watch) if ('object' in event && event.object.status?.phase === 'Running') return
}

async function writeBare(path: string, lines: number): Promise<void> {
  const file = openSync(path, 'a')
  const child = spawn('seq', ['1', String(lines)], { stdio: ['ignore', file, 'ignore'] })
  closeSync(file)
  await once(child, 'close')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
