/**
 * Threads with a limit on their memory.
 *
 * `--max-old-space-size` on the command line of Node replaces the limits of every thread: with 512 MB for the process, each
 * thread may take 512 MB more. The option is read when a thread starts, so it is taken back until then. The limit of
 * this thread was set when the process started, and stays.
 *
 * Invariant: after the start the option has its old value; threads of the program's own that start later have it.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'

interface LimitedThreadOptions extends Omit<WorkerOptions, 'resourceLimits'> {
  readonly megabytes: number
  readonly youngMegabytes: number
}

export function startLimitedThread(file: URL, { megabytes, youngMegabytes, ...options }: LimitedThreadOptions): Worker {
  const given = heapOption([...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)])
  if (given !== undefined) setHeapOption(0)
  const restore = (): void => {
    if (given !== undefined) setHeapOption(given)
  }
  try {
    // Loaded here: most programs start no thread.
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads')
    const worker = new Thread(file, {
      ...options,
      resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: youngMegabytes },
    })
    worker.once('online', restore)
    worker.once('error', restore)
    return worker
  } catch (error) {
    restore()
    throw error
  }
}

/** The megabytes of `--max-old-space-size`, as Node reads it: the last one counts, with dashes or underscores. */
export function heapOption(args: readonly string[]): number | undefined {
  const text = args.join(' ')
  const all = [...text.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)]
  const last = all.at(-1)?.[1]
  return last === undefined ? undefined : Number(last)
}

function setHeapOption(megabytes: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--max-old-space-size=${megabytes}`)
}
