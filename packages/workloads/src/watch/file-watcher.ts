/**
 * The seam to files that change: what a Process watches, and the changes of its files.
 *
 * Invariants: a change of a path that is watched and not ignored is reported, at least once; `find…` only reads; a
 * watch that is closed calls back no more.
 */

export interface WatchRequest {
  /** Absolute paths of files and folders; what does not exist is waited for. */
  readonly paths: readonly string[]
  /** Names and patterns: see `ignore-patterns.ts`. */
  readonly ignore: readonly string[]
}

export interface FileChange {
  readonly path: string
  readonly atMs: number
}

interface WatchListener {
  onChange(path: string): void
  /** The system cannot watch: the files are looked at every few seconds from now on. */
  onProblem(message: string): void
}

export interface FileWatcher {
  /** The newest of the watched files. */
  findNewest(request: WatchRequest): Promise<FileChange | undefined>
  /** What is no plain data. */
  readonly changes: {
    /** Returns a function that ends the watch. */
    watch(request: WatchRequest, listener: WatchListener): () => void
  }
}
