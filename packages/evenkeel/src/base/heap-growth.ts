/**
 * How far the memory of a server grows between two garbage collections: its heap, and the buffers outside of it.
 *
 * V8 counts buffers outside of its heap as heap, and collects when both together have grown by a factor. With a heap
 * limit below 1 GiB that factor is 1.3 to 2: a server with 24 MB of live objects that reads 35 MB of bodies a second
 * collects three times a second, 5 to 30 ms each on a busy machine. So the heap gets the same headroom whatever its size:
 *
 *   live   24 MB ──▶ the next collection at  56 MB (a factor of 2.3)
 *   live  200 MB ──▶ the next collection at 260 MB (a factor of 1.3: V8's own)
 *
 * The factor counts from what is live after the next collection, not from what is live now. A factor that was chosen in
 * a quiet moment lets a burst of bodies grow far beyond the headroom: with the 2.7 of a heap of 20 MB, 150 MB of live
 * bodies grow to 400 MB before they are collected. So the factor follows the largest recent size, which it forgets slowly.
 *
 * Most buffers are those of requests, events and lists: they live for milliseconds, and V8 frees them only at its next
 * collection. A burst of large events makes 500 MB of them in a second, while V8 still marks the heap for that collection.
 * A collection of the young generation takes a millisecond or two and frees them: it is made when buffers have grown by 32 MiB.
 *
 *   buffers  40 ─▶ 72 MB: collects ─▶ 44 MB ─▶ 76 MB: collects ─▶ …        (V8 alone: 40 ─▶ 1,500 MB ─▶ 40)
 *
 * Both are settings of the process. Only a program that owns its process may change them: `evenkeel serve`, not a library.
 */
import type { Cancel, Clock } from './clock.ts'

const smallHeapBytes = 1_073_741_824
const headroomBytes = 33_554_432
const adjustMs = 250
/** Buffers are looked at more often while their size changes. */
const movingLookMs = 20
const movingBytes = 4_194_304
/** How far buffers grow until the young generation is collected. */
const youngBytes = 33_554_432
/** The share of the difference by which the remembered size follows a smaller one in a step: half of it in 11 s. */
const decay = 1 / 64
/** V8's own factor for a small heap. */
const leastPercent = 30
const mostPercent = 400

/** The part of V8 that is used, so that a test can stand in for it. */
export interface GrowingHeap {
  readonly limitBytes: number
  /** The heap, without buffers. */
  usedBytes(): number
  /** Memory outside of the heap that goes with its objects: buffers. */
  bufferBytes(): number
  setGrowingPercent(percent: number): void
  /** Frees the buffers that were made recently and are no longer used. */
  collectYoung(): void
}

/**
 * Makes full collections rarer, and bursts of buffers smaller, when the heap limit is below 1 GiB; larger heaps already
 * have room between collections. The returned function ends it.
 */
export function keepHeapHeadroom(clock: Clock, heap: GrowingHeap = v8Heap()): Cancel {
  if (heap.limitBytes >= smallHeapBytes) return () => undefined
  const cancels = [every(clock, headroomKeeper(heap)), every(clock, bufferKeeper(heap))]
  return () => {
    for (const cancel of cancels) cancel()
  }
}

/** Calls a function now, and again after as many milliseconds as it returns. */
function every(clock: Clock, call: () => number): Cancel {
  let cancel: Cancel = () => undefined
  const again = (): void => {
    cancel = clock.after(call(), again)
  }
  again()
  return () => {
    cancel()
  }
}

function headroomKeeper(heap: GrowingHeap): () => number {
  let recentBytes = 0
  return () => {
    recentBytes = recentPeak(recentBytes, heap.usedBytes() + heap.bufferBytes())
    heap.setGrowingPercent(growingPercent(recentBytes))
    return adjustMs
  }
}

/** Buffers are freed some time after a collection, by another thread: the smallest size since then is what was left. */
function bufferKeeper(heap: GrowingHeap): () => number {
  let leastBytes = heap.bufferBytes()
  let lastBytes = leastBytes
  return () => {
    const bytes = heap.bufferBytes()
    const isMoving = Math.abs(bytes - lastBytes) > movingBytes
    leastBytes = Math.min(leastBytes, bytes)
    lastBytes = bytes
    if (bytes - leastBytes > youngBytes) {
      heap.collectYoung()
      leastBytes = bytes
      return movingLookMs
    }
    return isMoving || bytes - leastBytes > youngBytes / 2 ? movingLookMs : adjustMs
  }
}

function v8Heap(): GrowingHeap {
  const v8 = process.getBuiltinModule('node:v8')
  const collect = collectorOf(v8)
  return {
    limitBytes: v8.getHeapStatistics().heap_size_limit,
    usedBytes: () => v8.getHeapStatistics().used_heap_size,
    bufferBytes: () => v8.getHeapStatistics().external_memory,
    setGrowingPercent(percent) {
      v8.setFlagsFromString(`--heap-growing-percent=${percent}`)
    },
    collectYoung() {
      collect({ type: 'minor' })
    },
  }
}

type Collector = (options: { readonly type: 'minor' }) => void

/** The function `gc` of V8, which exists only in a context that was made under its flag. */
function collectorOf({ setFlagsFromString }: { readonly setFlagsFromString: (flag: string) => void }): Collector {
  setFlagsFromString('--expose-gc')
  try {
    return process.getBuiltinModule('node:vm').runInNewContext('gc') as Collector
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/** The largest recent size: follows growth at once, and a smaller size step by step. */
export function recentPeak(before: number, bytes: number): number {
  return Math.max(bytes, before - (before - bytes) * decay)
}

/** By how many percent the memory may grow until the next collection. */
export function growingPercent(bytes: number): number {
  return Math.round(Math.min(mostPercent, Math.max(leastPercent, (100 * headroomBytes) / Math.max(1, bytes))))
}
