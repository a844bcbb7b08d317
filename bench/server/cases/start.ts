/**
 * The time until our server is ready, as a process and in process, and its memory when idle.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../../print.ts'
import type { Print } from '../../print.ts'
import { startOurs } from '../ours.ts'
import type { Peer } from '../peer.ts'
import type { Plan } from '../plan.ts'
import { rssBytesOf } from '../process-usage.ts'
import { noPeer } from '../race.ts'

const step = fileURLToPath(new URL('./start-step.mjs', import.meta.url))

export interface StartOptions {
  readonly folder: string
  readonly peer: Peer | undefined
  readonly plan: Plan
  readonly rounds: number
  readonly print: Print
  wants(name: string): boolean
}

export async function startBench(options: StartOptions): Promise<void> {
  if (['start process', 'start process first', 'idle rss'].some(options.wants)) await processBench(options)
  if (options.wants('start in process')) await inProcessBench(options)
}

/** The first start in a folder also creates keys and certificates; every later one is `start process`. */
async function processBench({ folder, peer, plan, rounds, print }: StartOptions): Promise<void> {
  const [first, later, rss]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    const data = path.join(folder, `start-${round}`)
    for (const times of [first, later]) {
      const server = await startOurs(data)
      times.push(server.startMs)
      if (times === later) await pause(plan.settleMs)
      if (times === later) rss.push(rssBytesOf([server.processId]) ?? NaN)
      await server.stop()
    }
  }
  const theirStart = {
    peer: peer?.startMs,
    peerName: peer
      ? peer.startMs === undefined
        ? `${peer.name}: give KUBE_APISERVER_START_MS`
        : `${peer.name} + etcd`
      : noPeer,
  }
  print({ case: 'start process', ours: median(later), ...theirStart, unit: 'ms', lessIsBetter: true })
  print({ case: 'start process first', ours: median(first), ...theirStart, unit: 'ms', lessIsBetter: true })
  const theirRss = peer?.idleRssBytes
  const peerName = peer
    ? theirRss === undefined
      ? `${peer.name}: give its processes, freshly started`
      : `${peer.name} + etcd`
    : noPeer
  if (!Number.isNaN(median(rss)))
    print({
      case: 'idle rss',
      ours: median(rss) / 1e6,
      peer: theirRss === undefined ? undefined : theirRss / 1e6,
      peerName,
      unit: 'MB',
      lessIsBetter: true,
    })
}

async function inProcessBench({ peer, rounds, print }: StartOptions): Promise<void> {
  const results: { ms: number; importMs: number; secondMs: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const { stdout } = await promisify(execFile)(process.execPath, [step])
    results.push(JSON.parse(stdout) as (typeof results)[number])
  }
  print({
    case: 'start in process',
    ours: median(results.map(({ ms }) => ms)),
    peer: undefined,
    peerName: peer ? 'a kube-apiserver cannot' : noPeer,
    unit: 'ms',
    lessIsBetter: true,
    more: {
      importMs: Math.round(median(results.map(({ importMs }) => importMs))),
      secondMs: Math.round(median(results.map(({ secondMs }) => secondMs)) * 10) / 10,
    },
  })
}
