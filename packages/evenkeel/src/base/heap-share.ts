/**
 * Limits that follow the memory of this process: a server in a small container must hold less than one on a large machine.
 */

let heapBytes: number | undefined

/** A share of the largest size of the heap, in bytes, up to `max`. */
export function heapShare(share: number, { max }: { max: number }): number {
  // Loaded on first use: most programs need no such limit.
  heapBytes ??= process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit
  return Math.min(max, Math.floor(heapBytes * share))
}
