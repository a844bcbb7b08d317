/**
 * A log with the time before each line, for readers that know nothing of offsets.
 *
 *   stored   `ready\n`        shown   `2030-01-31T12:00:00.000000Z ready\n`
 *
 * Invariants: `next` returns whole lines, and the rest of a line only when the log is final; at most one piece is in memory.
 */
import { formatMicroTime } from 'evenkeel/unstable/api'
import { LogCursor } from './log-cursor.ts'
import type { LogKeeper } from './log-keeper.ts'
import { prefixLines } from './log-lines.ts'

/** A log that is open for reading. Close it. */
export interface TimedLog {
  /** What comes next of what is stored; undefined when that is all. `isFinal`: nothing more will be written. */
  next(options: { readonly isFinal: boolean }): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/** Undefined if there is no such file. */
export async function openTimedLog(
  path: string,
  { keeper, now }: { readonly keeper: Pick<LogKeeper, 'open'>; readonly now: () => number },
): Promise<TimedLog | undefined> {
  const open = await keeper.open(path)
  if (!open) return undefined
  const cursor = new LogCursor(open, { offset: open.log.startBytes, end: Infinity, isByLines: true, now })
  return {
    async next({ isFinal }) {
      // What was written after the last look.
      if (cursor.offset >= open.log.sizeBytes) await open.log.look()
      const piece = await cursor.next({ isFinal })
      return piece && prefixLines(piece.bytes, () => `${formatMicroTime(piece.atMs)} `, { prefixMax: 32 })
    },
    close: () => open.close(),
  }
}
