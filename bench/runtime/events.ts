/**
 * Events per second from the bytes of a watch through informer and handlers into a controller's queue.
 *
 * The server is a script: it returns an empty list, and then sends changes of 10,000 objects of about 1 KiB as fast as
 * they are read. No worker takes keys from the queue, as on a standby.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { declareKind } from 'evenkeel/unstable/api'
import type { ClientOptions } from 'evenkeel/client'
import { Manager } from 'evenkeel/controller'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

const Thing = declareKind({ group: 'bench.evenkeel.dev', version: 'v1', kind: 'Thing' })
const name = 'events informer to queue'
const objects = 10_000

export async function eventsBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  if (!name.includes(only)) return
  const events = quick ? 1000 : 200_000
  const chunks = [...changes(events)]
  await measure(chunks, events)
  const [perSecond, cpuUs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const measured = await measure(chunks, events)
    perSecond.push(measured.perSecond)
    cpuUs.push(measured.cpuUs)
  }
  print({
    case: name,
    ours: median(perSecond),
    peer: undefined,
    peerName: 'no peer',
    unit: 'events/s',
    more: { cpuUsPerEvent: Number(median(cpuUs).toFixed(2)) },
  })
}

async function measure(chunks: readonly Uint8Array[], events: number): Promise<{ perSecond: number; cpuUs: number }> {
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const manager = new Manager({
    name: 'bench',
    transport: script(chunks, begun),
    leaderElection: { identity: 'standby' },
  })
  manager.addController({ for: Thing, reconcile: () => undefined })
  const stopping = new AbortController()
  const running = manager.run(stopping.signal)
  await wait(100)
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  begin()
  while (manager.cache.states[0]?.version !== String(events)) await wait(1)
  const [ms, used] = [performance.now() - started, process.cpuUsage(cpu)]
  const queued = manager.controllers[0]?.health.queue.ready
  if (queued !== Math.min(objects, events)) throw new Error(`${queued} keys are in the queue`)
  stopping.abort()
  await running
  return { perSecond: (events / ms) * 1000, cpuUs: (used.user + used.system) / events }
}

/** Chunks of 64 KiB, as a socket delivers them. */
function* changes(events: number): Generator<Uint8Array> {
  let lines: string[] = []
  let size = 0
  for (let version = 1; version <= events; version++) {
    const line = `${JSON.stringify({ type: version <= objects ? 'ADDED' : 'MODIFIED', object: thing(version) })}\n`
    lines.push(line)
    size += line.length
    if (size < 65_536 && version < events) continue
    yield Buffer.from(lines.join(''))
    lines = []
    size = 0
  }
}

function thing(version: number): object {
  const name = `thing-${version % objects}`
  return {
    apiVersion: Thing.apiVersion,
    kind: Thing.kind,
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      resourceVersion: String(version),
      generation: version,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { version, text: 'x'.repeat(800) },
  }
}

function script(chunks: readonly Uint8Array[], begun: Promise<void>): ClientOptions['transport'] {
  const json = { 'content-type': 'application/json' }
  return ({ target, signal }) => {
    if (!target.includes('/things')) return Promise.resolve({ status: 500, headers: json, body: Buffer.from('{}') })
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(
        `${JSON.stringify({ type: 'BOOKMARK', object: { apiVersion: Thing.apiVersion, kind: Thing.kind, metadata: { resourceVersion: '0', annotations: { 'k8s.io/initial-events-end': 'true' } } } })}\n`,
      )
      await begun
      yield* chunks
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
      })
    }
    return Promise.resolve({ status: 200, headers: json, body: body() })
  }
}
