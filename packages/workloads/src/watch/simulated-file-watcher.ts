/**
 * Files in memory that change when a test says so, for tests and for the Explorer.
 */
import type { FileChange, FileWatcher, WatchRequest } from './file-watcher.ts'
import { ignoreTest } from './ignore-patterns.ts'
import type { Clock } from 'evenkeel/unstable/base'

interface OpenWatch {
  readonly request: WatchRequest
  readonly listener: Parameters<FileWatcher['changes']['watch']>[1]
}

export class SimulatedFileWatcher implements FileWatcher {
  /** Why files cannot be watched. */
  problem: string | undefined
  readonly #clock: Clock
  readonly #changes: FileChange[] = []
  readonly #watches = new Set<OpenWatch>()

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock
  }

  findNewest(request: WatchRequest): Promise<FileChange | undefined> {
    return Promise.resolve(this.#changes.findLast(({ path }) => isWatched(path, request)))
  }

  readonly changes: FileWatcher['changes'] = {
    watch: (request, listener) => {
      const open = { request, listener }
      this.#watches.add(open)
      if (this.problem !== undefined) listener.onProblem(this.problem)
      return () => void this.#watches.delete(open)
    },
  }

  /** A file is written. */
  change(path: string): void {
    this.#changes.push({ path, atMs: this.#clock.now() })
    for (const { request, listener } of [...this.#watches]) if (isWatched(path, request)) listener.onChange(path)
  }

  /** How many watches are open. */
  get watchCount(): number {
    return this.#watches.size
  }
}

function isWatched(path: string, { paths, ignore }: WatchRequest): boolean {
  return paths.some((root) => path === root || path.startsWith(`${root}/`)) && !ignoreTest(paths, ignore)(path)
}
