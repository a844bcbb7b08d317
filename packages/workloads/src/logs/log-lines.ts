/**
 * Lines in the bytes of a log: where they begin, and what is put before each.
 *
 * Bytes are kept as they are; only the byte 10 counts. A line of more than `lineBytesMax` bytes is sent in parts of at most twice as many, each but the
 * last with {@link splitMark} at its end, so that neither a reader nor we need memory for a line without an end.
 */
import type { LogHandle } from './log-files.ts'

export const lineBytesMax = 1024 * 1024

/** At the end of a part of a line, when the line goes on. */
export const splitMark = Buffer.from(' [evenkeel: the line goes on]\n')

const newline = 10
const chunkBytes = 262_144

interface LinesOptions {
  /** What follows is before this offset. */
  readonly end: number
  /** Nothing is before this offset. */
  readonly start: number
}

/**
 * Where the last lines begin, read from the end. A rest without a line break counts as a line.
 *
 *   'a\nb\nc'  1 → 4 ('c'), 2 → 2 ('b\nc'), 0 → 5
 */
export async function offsetOfLastLines(
  handle: LogHandle,
  count: number,
  { start, end }: LinesOptions,
): Promise<number> {
  if (count === 0) return end
  let left = count
  for (let to = end; to > start;) {
    const from = Math.max(start, to - chunkBytes)
    const bytes = await handle.read({ offset: from, length: to - from })
    for (let index = bytes.length - 1; index >= 0; index--) {
      // The line break at the very end belongs to the last line.
      if (bytes[index] !== newline || from + index === end - 1) continue
      if (--left === 0) return from + index + 1
    }
    to = from
  }
  return start
}

/** How many lines there are; a rest without a line break counts. */
export async function countLines(handle: LogHandle, { start, end }: LinesOptions): Promise<number> {
  let count = 0
  let last: number | undefined = newline
  for (let from = start; from < end;) {
    const bytes = await handle.read({ offset: from, length: Math.min(chunkBytes, end - from) })
    if (bytes.length === 0) break
    count += countBreaks(bytes)
    last = bytes.at(-1)
    from += bytes.length
  }
  return last === newline ? count : count + 1
}

/** The first line that begins at or after an offset. */
export async function lineStartFrom(handle: LogHandle, offset: number, { start, end }: LinesOptions): Promise<number> {
  if (offset <= start) return start
  for (let from = offset - 1; from < end;) {
    const bytes = await handle.read({ offset: from, length: Math.min(chunkBytes, end - from) })
    const index = bytes.indexOf(newline)
    if (index >= 0) return from + index + 1
    if (bytes.length === 0) break
    from += bytes.length
  }
  return end
}

/** Lines with a text before each, which may depend on where the line begins and ends. */
export function prefixLines(
  bytes: Uint8Array,
  prefixOf: (from: number, to: number) => string,
  { prefixMax }: { readonly prefixMax: number },
): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const target = Buffer.allocUnsafe(bytes.length + (countBreaks(bytes) + 1) * prefixMax)
  let at = 0
  for (let from = 0; from < bytes.length;) {
    const found = source.indexOf(newline, from)
    const to = found < 0 ? bytes.length : found + 1
    at += target.write(prefixOf(from, to), at, 'latin1')
    at += source.copy(target, at, from, to)
    from = to
  }
  return target.subarray(0, at)
}

function countBreaks(bytes: Uint8Array): number {
  let count = 0
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === newline) count++
  return count
}

/** Bytes without their first lines, and how many of these lines are still to be left out. */
export function withoutLines(bytes: Uint8Array, count: number): { readonly rest: Uint8Array; readonly left: number } {
  let left = count
  let from = 0
  while (left > 0 && from < bytes.length) {
    const found = bytes.indexOf(newline, from)
    from = found < 0 ? bytes.length : found + 1
    left--
  }
  return { rest: bytes.subarray(from), left }
}
