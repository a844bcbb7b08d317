/**
 * How far the heap of a server grows between two full garbage collections.
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
 * Most buffers are garbage as soon as they are read, but V8 frees them only with the next collection of the young
 * generation, which counts objects and not buffers. 8 MB of buffers are then enough for a full collection: V8 begins one
 * when what is left is less than the young generation. So a collection of the young generation (1 ms) follows each 4 MB of
 * new buffers. In an attack by 24 clients on a heap of 512 MB this took 2.6 instead of 3.6 full collections a second, and
 * the peak of the memory was 394 instead of 450 MB.
 *
 * The setting is one of the process. Only a program that owns its process may change it: `evenkeel serve`, not a library.
 */
import type { Cancel, Clock } from './clock.ts'

const smallHeapBytes = 1_073_741_824
const headroomBytes = 33_554_432
const adjustMs = 250
/** New buffers after which the young generation is collected. */
const youngBufferBytes = 4_194_304
/** Buffers are looked at so often while they come and go, and after a second in which none did. */
const busyMs = 10
const quietMs = 100
const quietLooks = 100
/** The share of the difference by which the remembered size follows a smaller one in a step: half of it in 11 s. */
const decay = 1 / 64
/** V8's own factor for a small heap. */
const leastPercent = 30
const mostPercent = 400

/** The part of V8 that is used, so that a test can stand in for it. */
export interface GrowingHeap {
  readonly limitBytes: number
  usedBytes(): number
  /** Buffers outside of the heap. */
  externalBytes(): number
  collectYoung(): void
  setGrowingPercent(percent: number): void
}

/**
 * Makes full collections rarer when the heap limit is below 1 GiB; larger heaps already have room between them. The
 * returned function ends it.
 */
export function keepHeapHeadroom(clock: Clock, heap: GrowingHeap = v8Heap()): Cancel {
  if (heap.limitBytes >= smallHeapBytes) return () => undefined
  const endPercent = followPercent(clock, heap)
  const endBuffers = collectBuffers(clock, heap)
  return () => {
    endPercent()
    endBuffers()
  }
}

function followPercent(clock: Clock, heap: GrowingHeap): Cancel {
  let cancel: Cancel = () => undefined
  let recentBytes = 0
  const adjust = (): void => {
    recentBytes = recentPeak(recentBytes, heap.usedBytes())
    heap.setGrowingPercent(growingPercent(recentBytes))
    cancel = clock.after(adjustMs, adjust)
  }
  adjust()
  return () => {
    cancel()
  }
}

/** Looks often only while there are new buffers, so that an idle server sleeps. */
function collectBuffers(clock: Clock, heap: GrowingHeap): Cancel {
  let cancel: Cancel = () => undefined
  let lowest = heap.externalBytes()
  let last = lowest
  let unchanged = quietLooks
  const look = (): void => {
    const bytes = heap.externalBytes()
    unchanged = bytes === last ? unchanged + 1 : 0
    last = bytes
    lowest = Math.min(lowest, bytes)
    if (bytes - lowest > youngBufferBytes) {
      heap.collectYoung()
      lowest = last = heap.externalBytes()
    }
    cancel = clock.after(unchanged < quietLooks ? busyMs : quietMs, look)
  }
  cancel = clock.after(quietMs, look)
  return () => {
    cancel()
  }
}

function v8Heap(): GrowingHeap {
  const v8 = process.getBuiltinModule('node:v8')
  let collect: ((options: { type: 'minor' }) => void) | undefined
  return {
    limitBytes: v8.getHeapStatistics().heap_size_limit,
    usedBytes() {
      const { used_heap_size: heap, external_memory: external } = v8.getHeapStatistics()
      return heap + external
    },
    externalBytes: () => v8.getHeapStatistics().external_memory,
    collectYoung() {
      collect ??= exposedCollector()
      collect({ type: 'minor' })
    },
    setGrowingPercent(percent) {
      v8.setFlagsFromString(`--heap-growing-percent=${percent}`)
    },
  }
}

/** The function `gc` of V8, which a new context has while the flag is set. */
function exposedCollector(): (options: { type: 'minor' }) => void {
  const v8 = process.getBuiltinModule('node:v8')
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = process.getBuiltinModule('node:vm').runInNewContext('globalThis.gc')
  v8.setFlagsFromString('--no-expose-gc')
  return typeof collect === 'function' ? (collect as (options: { type: 'minor' }) => void) : () => undefined
}

/** The largest recent size: follows growth at once, and a smaller size step by step. */
export function recentPeak(before: number, bytes: number): number {
  return Math.max(bytes, before - (before - bytes) * decay)
}

/** By how many percent the memory may grow until the next collection. */
export function growingPercent(bytes: number): number {
  return Math.round(Math.min(mostPercent, Math.max(leastPercent, (100 * headroomBytes) / Math.max(1, bytes))))
}
