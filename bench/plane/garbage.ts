/**
 * The time until ten thousand dependents of one owner are collected (background, foreground) or orphaned.
 *
 * From the request that deletes the owner to the event of the last dependent (or, in the foreground, of the owner).
 * Each dependent is deleted or changed by its own request, sends a watch event, and on files is durable.
 */
import type { OwnerReference } from 'evenkeel'
import { metadataOnly } from 'evenkeel/client'
import type { Client } from 'evenkeel/client'
import { ConfigMap, Namespace } from 'evenkeel/kinds/core/v1'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'
import { noPeer, onPeer, onPlane, storeNames } from './places.ts'

type Propagation = 'Background' | 'Foreground' | 'Orphan'

interface Taken {
  readonly ms: number
  /** Of this process: for ours, server, collector and watchers. */
  readonly cpuMs: number
}

const propagations: readonly Propagation[] = ['Background', 'Foreground', 'Orphan']

export async function garbageBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 100 : 10_000
  for (const propagation of propagations) {
    const names = storeNames
      .map((store) => ({ store, name: `collect 10k ${propagation.toLowerCase()} ${store}` }))
      .filter(({ name }) => name.includes(only))
    if (names.length === 0) continue
    const taken = new Map<string, Taken[]>()
    const note = (key: string, one: Taken | undefined): void => {
      if (one) taken.set(key, [...(taken.get(key) ?? []), one])
    }
    for (let round = 0; round < rounds; round++) {
      for (const { store } of names)
        note(store, await onPlane(store, (client) => measure(client, { propagation, count })))
      note('peer', await onPeer((client) => measure(client, { propagation, count })))
    }
    const peer = taken.get('peer')
    const peerName = peer ? 'kube-controller-manager' : noPeer
    for (const { store, name } of names) {
      const ours = taken.get(store) ?? []
      const cpuUs = Math.round((median(ours.map(({ cpuMs }) => cpuMs)) * 1000) / count)
      print({
        case: name,
        ours: msOf(ours),
        peer: peer && msOf(peer),
        peerName,
        unit: 'ms',
        lessIsBetter: true,
        more: { 'cpu us per child': cpuUs },
      })
    }
  }
}

function msOf(taken: readonly Taken[]): number {
  return median(taken.map(({ ms }) => ms))
}

async function measure(
  client: Client,
  { propagation, count }: { propagation: Propagation; count: number },
): Promise<Taken> {
  const {
    metadata: { name: namespace },
  } = await client.create(Namespace, { metadata: { generateName: 'bench-' } })
  const owner = await client.create(ConfigMap, { metadata: { name: 'owner', namespace } })
  const {
    apiVersion,
    kind,
    metadata: { name, uid },
  } = owner
  const reference = { apiVersion, kind, name, uid, blockOwnerDeletion: true }
  await fill(client, { namespace, count, reference })
  await untilHeard(client, namespace)
  const {
    metadata: { resourceVersion = '' },
  } = await client.page(ConfigMap, { namespace, pageSize: 1 })
  // Orphaned dependents are changed; the owner comes last, as in the foreground.
  const isDone = propagation === 'Background' ? countTo(count + 1) : (deleted: string) => deleted === name
  const done = untilDeleted(client, { namespace, resourceVersion, isDone })
  const [startedMs, before] = [performance.now(), process.cpuUsage()]
  await client.delete(owner, { propagationPolicy: propagation })
  await done
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - startedMs, cpuMs: (user + system) / 1000 }
}

async function fill(
  client: Client,
  { namespace, count, reference }: { namespace: string; count: number; reference: OwnerReference },
): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `child-${at}`).values()
  const work = async (): Promise<void> => {
    for (const name of names)
      await client.create(ConfigMap, {
        metadata: { name, namespace, ownerReferences: [reference] },
        data: { text: 'x'.repeat(500) },
      })
  }
  await Promise.all(Array.from({ length: 64 }, work))
}

/** Waits until the collector has handled an object that was created after all dependents. */
async function untilHeard(client: Client, namespace: string): Promise<void> {
  const missingOwner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'nobody',
    uid: '00000000-0000-4000-8000-000000000000',
  }
  const {
    metadata: { resourceVersion },
  } = await client.create(ConfigMap, { metadata: { name: 'last', namespace, ownerReferences: [missingOwner] } })
  await untilDeleted(client, { namespace, resourceVersion, isDone: (name) => name === 'last' })
}

interface Deletions {
  readonly namespace: string
  readonly resourceVersion: string
  readonly isDone: (name: string) => boolean
}

async function untilDeleted(client: Client, { namespace, resourceVersion, isDone }: Deletions): Promise<void> {
  // A watcher that falls behind is disconnected and resumes.
  for (let version = resourceVersion; ;) {
    for await (const event of client.watch(metadataOnly(ConfigMap), { namespace, resourceVersion: version })) {
      if (event.type === 'ERROR') throw event.error
      version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
      if (event.type === 'DELETED' && isDone(event.object.metadata.name)) return
    }
  }
}

function countTo(wanted: number): () => boolean {
  let count = 0
  return () => ++count >= wanted
}
