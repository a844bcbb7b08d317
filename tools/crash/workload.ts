/**
 * The workload of the process that is killed, as a pure function of key and step: a later reader of the store can
 * compute the expected value of any step.
 */

/** The number of keys, each with its own writer. */
export const writers = 32

export function keyOf(writer: number): string {
  return `/kill/${String(writer).padStart(3, '0')}`
}

/** The value after a step; undefined when the step is a delete. Steps count from 1. */
export function valueOf(writer: number, step: number): Buffer | undefined {
  if (step % 9 === 0) return undefined
  return Buffer.alloc(16 + ((writer * 131 + step * 977) % 2_000), `${writer}:${step};`)
}
