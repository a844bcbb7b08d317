/**
 * A range scan of 100,000 keys, and the fan-out of one change to 100 watchers.
 */
import type { Store } from 'evenkeel/unstable/store'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

const value = Buffer.alloc(1024, 'v')
const scanKeys = 100_000
const watchers = 100
const watchedCommits = 2_000

export interface ReadPeer {
  readonly name: string
  readonly store: Store
}

/** `first` is ours, the other the peer; both have the same content. */
export async function scanBench(
  ours: ReadPeer,
  peer: ReadPeer | undefined,
  { rounds, only, print }: BenchOptions,
): Promise<void> {
  const name = 'range 100k keys'
  if (!name.includes(only)) return
  const stores = peer ? [ours, peer] : [ours]
  for (const { store } of stores) await fill(store)
  const times = new Map<ReadPeer, number[]>(stores.map((each) => [each, []]))
  for (let turn = 0; turn < rounds; turn++) {
    for (const each of stores) times.get(each)?.push(await scan(each.store))
  }
  print({
    case: name,
    ours: middle(times, ours),
    peer: peer && middle(times, peer),
    peerName: peer?.name ?? 'etcd is not installed',
    unit: 'keys/s',
  })
}

/** Changes delivered per second, summed over all watchers. */
export async function fanOutBench(
  ours: ReadPeer,
  peer: ReadPeer | undefined,
  { rounds, only, print }: BenchOptions,
): Promise<void> {
  const name = `watch fan-out w=${watchers}`
  if (!name.includes(only)) return
  const stores = peer ? [ours, peer] : [ours]
  const rates = new Map<ReadPeer, number[]>(stores.map((each) => [each, []]))
  for (let turn = 0; turn < rounds; turn++) {
    for (const each of stores) rates.get(each)?.push(await fanOut(each.store))
  }
  print({
    case: name,
    ours: middle(rates, ours),
    peer: peer && middle(rates, peer),
    peerName: peer?.name ?? 'etcd is not installed',
    unit: 'events/s',
  })
}

async function fill(store: Store): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: 256 }, async () => {
      while (next < scanKeys)
        await store.commit({ key: `/scan/default/object-${String(next++).padStart(7, '0')}`, value, expect: 0 })
    }),
  )
}

async function scan(store: Store): Promise<number> {
  const started = performance.now()
  const found = await store.range('/scan/')
  const seconds = (performance.now() - started) / 1000
  if (!found.ok || found.entries.length < scanKeys)
    throw new Error(`the scan found ${found.ok ? found.entries.length : found.reason}`)
  return found.entries.length / seconds
}

let run = 0

async function fanOut(store: Store): Promise<number> {
  const prefix = `/fan/${run++}/`
  const after = await store.head()
  const open = Array.from({ length: watchers }, () => store.watch(prefix, { after, backlogBytesMax: 1 << 30 }))
  const readers = open.map(async (watch) => {
    let seen = 0
    for await (const { changes } of watch) {
      seen += changes.length
      if (seen === watchedCommits) return seen
    }
    throw new Error(`a watch ended early: ${JSON.stringify(watch.end)}`)
  })
  const started = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < watchedCommits) await store.commit({ key: `${prefix}${next++}`, value, expect: 0 })
    }),
  )
  const seen = await Promise.all(readers)
  return seen.reduce((sum, count) => sum + count, 0) / ((performance.now() - started) / 1000)
}

function middle(measured: ReadonlyMap<ReadPeer, readonly number[]>, peer: ReadPeer): number {
  return median(measured.get(peer) ?? [])
}
