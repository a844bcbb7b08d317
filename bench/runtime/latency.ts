/**
 * The latency from creating an object until its child exists: create, watch, queue, reconcile, apply.
 *
 * Objects are created one after the other, and a watch on the children ends each measurement. Server, manager and
 * watcher share one process, so the figure over TLS includes both ends of every connection. The goal is a median of 2
 * ms, in process.
 */
import { EventEmitter, once } from 'node:events'
import { defineKind, setControllerReference } from 'evenkeel'
import { Client } from 'evenkeel/client'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { Manager } from 'evenkeel/controller'
import type { ManagerOptions } from 'evenkeel/controller'
import { startServer } from 'evenkeel/server'
import type { Server } from 'evenkeel/server'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

const Parent = defineKind({
  group: 'bench.evenkeel.dev',
  version: 'v1',
  kind: 'Parent',
  spec: { type: 'object', properties: { text: { type: 'string' } } },
})

const cases: readonly {
  readonly name: string
  readonly reach: (server: Server) => Pick<ManagerOptions, 'transport' | 'config'>
}[] = [
  { name: 'create-to-child in process', reach: ({ transport }) => ({ transport }) },
  { name: 'create-to-child tls', reach: overTls },
]
const peerName = 'no peer'

export async function latencyBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  for (const { name, reach } of cases.filter((each) => each.name.includes(only))) {
    const [p50, p99]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const times = (await measure(reach, quick ? 20 : 1000)).sort((a, b) => a - b)
      p50.push(times[Math.floor(times.length * 0.5)] ?? NaN)
      p99.push(times[Math.floor(times.length * 0.99)] ?? NaN)
    }
    print({
      case: `${name} p50`,
      ours: median(p50),
      peer: undefined,
      peerName,
      unit: 'ms',
      lessIsBetter: true,
      ...(name.endsWith('process') && { more: { goal: 2 } }),
    })
    print({ case: `${name} p99`, ours: median(p99), peer: undefined, peerName, unit: 'ms', lessIsBetter: true })
  }
}

async function measure(
  reach: (server: Server) => Pick<ManagerOptions, 'transport' | 'config'>,
  count: number,
): Promise<number[]> {
  const server = await startServer({ kinds: [Parent], listen: {} })
  const stopping = new AbortController()
  const manager = new Manager({ name: 'bench', ...reach(server), leaderElection: false })
  manager.addController({
    for: Parent,
    owns: [ConfigMap],
    async reconcile(parent, { client }) {
      const { name, namespace = 'default' } = parent.metadata
      await client.apply(
        setControllerReference(parent, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace },
          data: { text: parent.spec.text ?? '' },
        }),
      )
    },
  })
  const running = manager.run(stopping.signal)
  await manager.controllers[0]?.waitForSync()
  const seen = new EventEmitter()
  const watching = tell(new Client({ transport: server.transport }), seen, stopping.signal)
  const times: number[] = []
  const warmUp = Math.ceil(count / 5)
  for (let index = 0; index < count + warmUp; index++) {
    const started = performance.now()
    const child = once(seen, `object-${index}`)
    await manager.client.create(Parent, {
      metadata: { name: `object-${index}`, namespace: 'default' },
      spec: { text: 'x'.repeat(1000) },
    })
    await child
    if (index >= warmUp) times.push(performance.now() - started)
  }
  stopping.abort()
  await Promise.all([running, watching])
  await server.stop({ graceMs: 0 })
  return times
}

async function tell(client: Client, seen: EventEmitter, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of client.watch(ConfigMap, { namespace: 'default', signal })) {
      if (event.type === 'ADDED') seen.emit(event.object.metadata.name)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function overTls({ address }: Server): Pick<ManagerOptions, 'config'> {
  const { url = '', token = '', caPem = '' } = address ?? {}
  return {
    config: { origin: 'the benchmark', server: url, namespace: 'default', token: { text: token }, ca: { text: caPem } },
  }
}
