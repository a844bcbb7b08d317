/**
 * Waits for the end of another process, by its id.
 *
 * An id is used again: on Linux the time at which the process was started is compared as well, in ticks since the start of
 * the machine. A process that has ended and whose parent has not asked for its exit code (state Z) counts as ended.
 *
 *   /proc/4711/stat   4711 (dotnet) S 1 4711 … 123456 …      state S, started at tick 123456
 */
import { readFile } from 'node:fs/promises'
import { sleep, type Clock } from 'evenkeel/unstable/base'

interface WaitOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** @default 500 */
  readonly intervalMs?: number
}

/** Resolves when the process has ended, at once if there is none; rejects when the signal aborts. */
export async function waitForEnd(pid: number, { clock, signal, intervalMs = 500 }: WaitOptions): Promise<void> {
  const first = await identityOf(pid)
  for (let now = first; now !== undefined && now === first; now = await identityOf(pid))
    await sleep(clock, intervalMs, { signal })
}

/** Something that another process of the same id does not have; undefined when there is no such process. */
async function identityOf(pid: number): Promise<string | undefined> {
  if (!isThere(pid)) return undefined
  if (process.platform !== 'linux') return 'there'
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may contain blanks and brackets.
    const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : rest[18]
  } catch {
    return isThere(pid) ? 'there' : undefined
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
