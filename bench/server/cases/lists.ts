/**
 * Whole collections: the time to list one, and the memory that each of its objects takes.
 *
 * A list is requested without compression, and once more like Go clients do, which accept a compressed response if
 * the server offers one.
 *
 * Memory is the growth of the server's processes while the collection was created, so it counts everything: indexes,
 * history, and memory that the garbage collector has not returned.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { rssBytesOf } from '../process-usage.ts'
import { countName } from '../plan.ts'
import { noPeer, printPairs, race, sideKey, sidesOf, wantsAny } from '../race.ts'
import type { Pair, Reading, Side } from '../race.ts'
import type { Stage } from './stage.ts'
import { countObjects, ensureNamespaces } from '../target.ts'

/** Bytes per object by side and size; undefined for a collection from before the run. */
type Growth = Map<string, { size: number; bytes: number }[]>

const memoryName = 'memory per object'

export async function listBench(stage: Stage): Promise<void> {
  const growth: Growth = new Map()
  for (const size of stage.plan.lists) {
    const pairs = pairsFor(stage, size)
    const lists = [false, true].map((gzip) => ({ size, gzip, readings: readingsOf(size, gzip) }))
    const listNames = lists.flatMap(({ readings }) => readings.map(({ case: name }) => name))
    if (!wantsAny(pairs, [...listNames, memoryName, `${memoryName} ${countName(size)}`], stage.wants)) continue
    for (const side of sidesOf(pairs)) await fill(stage, { side, size, growth })
    for (const pair of pairs) printMemory(stage, pair, { name: `${memoryName} ${countName(size)}`, growth, size })
    for (const list of lists) await timeLists(stage, pairs, list)
  }
  for (const pair of stage.pairs) printMemory(stage, pair, { name: memoryName, growth })
}

function readingsOf(size: number, gzip: boolean): Reading[] {
  const name = `list ${countName(size)}${gzip ? ' gzip' : ''}`
  return [
    { case: name, unit: 'ms', lessIsBetter: true, isMain: true, of: ({ p50Ms }) => p50Ms },
    { case: `cpu per ${name}`, unit: 'us', lessIsBetter: true, of: ({ serverCpuUs }) => serverCpuUs },
  ]
}

/** The peer takes part only if its collection is created. */
function pairsFor({ pairs, plan }: Stage, size: number): readonly Pair[] {
  return size <= plan.peerListMax
    ? pairs
    : pairs
        .filter(({ suffix }) => suffix === '')
        .map((pair) => ({ ...pair, peer: undefined, whyNoPeer: pair.peer ? 'not loaded (--peer-100k)' : noPeer }))
}

async function timeLists(
  { generator, plan, rounds, wants, print }: Stage,
  pairs: readonly Pair[],
  { size, gzip, readings }: { size: number; gzip: boolean; readings: readonly Reading[] },
): Promise<void> {
  if (
    !wantsAny(
      pairs,
      readings.map(({ case: name }) => name),
      wants,
    )
  )
    return
  const results = await race(pairs, rounds, ({ target, kind }) =>
    generator.run({
      type: 'list',
      items: size,
      gzip,
      bounds: plan.list,
      place: { address: target.address, processIds: target.processIds, kind, namespace: namespaceOf(size) },
    }),
  )
  printPairs(pairs, readings, { results, print })
}

/** Creates the collection, or its missing part: an earlier run may have left some. */
async function fill(
  { generator, plan, run }: Stage,
  { side, size, growth }: { side: Side; size: number; growth: Growth },
): Promise<void> {
  const {
    target: { address, processIds },
    kind,
  } = side
  const namespace = namespaceOf(size)
  await ensureNamespaces(address, [namespace])
  const there = await countObjects(address, kind, namespace)
  if (there >= size) return
  const before = rssBytesOf(processIds)
  const place = { address, processIds, kind, namespace }
  await generator.run({
    type: 'requests',
    operation: 'create',
    connections: 64,
    run: `${run}-fill`,
    place,
    bounds: { durationMs: Infinity, countMax: size - there },
  })
  await pause(plan.settleMs)
  const after = rssBytesOf(processIds)
  if (there > 0 || before === undefined || after === undefined) return
  growth.set(sideKey(side), [...(growth.get(sideKey(side)) ?? []), { size, bytes: (after - before) / size }])
}

/** Of one size, or by default of the largest that each side has. */
function printMemory(
  { print }: Stage,
  { suffix, ours, peer, whyNoPeer = noPeer }: Pair,
  { name, growth, size }: { name: string; growth: Growth; size?: number },
): void {
  const of = (side: Side | undefined): { size: number; bytes: number } | undefined => {
    const found = side && growth.get(sideKey(side))
    return size === undefined ? found?.at(-1) : found?.find((one) => one.size === size)
  }
  const [mine, theirs] = [of(ours), of(peer)]
  if (!mine) return
  const peerName = theirs
    ? `${peer?.target.name}${suffix === '' ? '' : ' cr'}`
    : peer
      ? 'no processes given, or loaded before this run'
      : whyNoPeer
  print({
    case: `${name}${suffix}`,
    ours: mine.bytes,
    peer: theirs?.bytes,
    peerName,
    unit: 'bytes',
    lessIsBetter: true,
    more: { oursObjects: mine.size, ...(theirs && { peerObjects: theirs.size }) },
  })
}

function namespaceOf(size: number): string {
  return `bench-list-${countName(size)}`
}
