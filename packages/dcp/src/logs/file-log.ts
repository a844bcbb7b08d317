/**
 * A log in a file that another process writes.
 *
 * The file is read again at an interval, because notifications about files differ between systems and get lost on
 * network drives. The file may not exist yet. A reader that follows ends once the log is over and nothing new has come
 * for a moment: its writer may be another process, which flushes when it likes.
 */
import { open, type FileHandle } from 'node:fs/promises'
import type { TimedLog } from '@evenkeel/workloads'
import { sleep, type Clock } from 'evenkeel/unstable/base'
import { caughtUp, type LogBytes } from './log-lines.ts'

const intervalMs = 100
/** How long nothing may come after the end of a log. */
const quietMs = 1_500
const chunkBytes = 65_536

export interface FollowOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly follow: boolean
  /** Whether nothing more will be written. */
  isOver(): boolean
}

/** The bytes of a file; nothing when there is none, and with `follow` as soon as there is one. */
export async function* readLogFile(path: string, options: FollowOptions): LogBytes {
  const { clock, signal, follow } = options
  const file = await openWhenThere(path, options)
  if (!file) return
  try {
    let lastMs = clock.monotonic()
    let isFirst = true
    while (!signal.aborted) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes) })
      if (bytesRead > 0) {
        lastMs = clock.monotonic()
        yield buffer.subarray(0, bytesRead)
        continue
      }
      if (isFirst) yield caughtUp
      isFirst = false
      if (!follow || (options.isOver() && clock.monotonic() - lastMs >= quietMs)) return
      await sleep(clock, intervalMs, { signal })
    }
  } finally {
    await file.close()
  }
}

async function openWhenThere(
  path: string,
  { clock, signal, follow, isOver }: FollowOptions,
): Promise<FileHandle | undefined> {
  while (!signal.aborted) {
    try {
      return await open(path, 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    if (!follow || isOver()) return undefined
    await sleep(clock, intervalMs, { signal })
  }
  return undefined
}

/** The same for a log of a program that runs here. Its writer holds nothing back, so its end is known at once. */
export async function* readTimedLog(file: TimedLog, options: FollowOptions): LogBytes {
  const { clock, signal, follow } = options
  try {
    let isFirst = true
    while (!signal.aborted) {
      // Asked before the read: what was written until then is read.
      const isFinal = !follow || options.isOver()
      const bytes = await file.next({ isFinal })
      if (bytes) {
        yield bytes
        continue
      }
      if (isFirst) yield caughtUp
      isFirst = false
      if (isFinal) return
      await sleep(clock, intervalMs, { signal })
    }
  } finally {
    await file.close()
  }
}
