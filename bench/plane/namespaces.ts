/**
 * The time until a deleted namespace with ten thousand objects is gone.
 *
 * From the delete request to the DELETED event, with all controllers running: each object is deleted by its own
 * request, sends a watch event, and on files is durable. The peer starts with a wait of 5 s.
 */
import type { Client } from 'evenkeel/client'
import { ConfigMap, Namespace } from 'evenkeel/kinds/core/v1'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import { noPeer, onPeer, onPlane, storeNames } from './places.ts'

export async function namespacesBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 100 : 10_000
  const cases = storeNames
    .map((store) => ({ store, name: `delete namespace 10k ${store}` }))
    .filter(({ name }) => name.includes(only))
  if (cases.length === 0) return
  const ours = new Map(cases.map(({ name }) => [name, [] as number[]]))
  const peers: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const { store, name } of cases) ours.get(name)?.push(await onPlane(store, (client) => measure(client, count)))
    const peer = await onPeer((client) => measure(client, count))
    if (peer !== undefined) peers.push(peer)
  }
  const hasPeer = peers.length > 0
  for (const { name } of cases) {
    print({
      case: name,
      ours: median(ours.get(name) ?? []),
      peer: hasPeer ? median(peers) : undefined,
      peerName: hasPeer ? 'kube-controller-manager' : noPeer,
      unit: 'ms',
      lessIsBetter: true,
    })
  }
}

/** The first one warms up until the controllers have started, and is not counted. */
async function measure(client: Client, count: number): Promise<number> {
  await fillAndDelete(client, 1)
  return fillAndDelete(client, count)
}

async function fillAndDelete(client: Client, count: number): Promise<number> {
  const {
    metadata: { name, resourceVersion },
  } = await client.create(Namespace, { metadata: { generateName: 'bench-' } })
  await fill(client, name, count)
  const gone = untilGone(client, name, resourceVersion)
  const startedMs = performance.now()
  await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await gone
  return performance.now() - startedMs
}

async function fill(client: Client, namespace: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `object-${index}`).values()
  const work = async (): Promise<void> => {
    for (const name of names)
      await client.create(ConfigMap, { metadata: { name, namespace }, data: { text: 'x'.repeat(500) } })
  }
  await Promise.all(Array.from({ length: 64 }, work))
}

async function untilGone(client: Client, name: string, resourceVersion: string): Promise<void> {
  for (let version = resourceVersion; ;) {
    for await (const event of client.watch(Namespace, {
      fieldSelector: { 'metadata.name': name },
      resourceVersion: version,
    })) {
      if (event.type === 'ERROR') throw event.error
      version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
      if (event.type === 'DELETED') return
    }
  }
}
