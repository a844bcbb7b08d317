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
 * The setting is one of the process. Only a program that owns its process may change it: `evenkeel serve`, not a library.
 */
import type { Cancel, Clock } from './clock.ts'

const smallHeapBytes = 1_073_741_824
const headroomBytes = 33_554_432
const adjustMs = 1_000
/** V8's own factor for a small heap. */
const leastPercent = 30
const mostPercent = 400

/**
 * Makes full collections rarer when the heap limit is below 1 GiB; larger heaps already have room between them. The
 * returned function ends it.
 */
export function keepHeapHeadroom(clock: Clock): Cancel {
  const v8 = process.getBuiltinModule('node:v8')
  if (v8.getHeapStatistics().heap_size_limit >= smallHeapBytes) return () => undefined
  let cancel: Cancel = () => undefined
  const adjust = (): void => {
    const { used_heap_size: heap, external_memory: external } = v8.getHeapStatistics()
    v8.setFlagsFromString(`--heap-growing-percent=${growingPercent(heap + external)}`)
    cancel = clock.after(adjustMs, adjust)
  }
  adjust()
  return () => {
    cancel()
  }
}

/** By how many percent the memory may grow until the next collection. */
export function growingPercent(bytes: number): number {
  return Math.round(Math.min(mostPercent, Math.max(leastPercent, (100 * headroomBytes) / Math.max(1, bytes))))
}
