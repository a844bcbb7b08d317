/**
 * Changes of watched files, until a run answers them.
 *
 *   write ─▶ write ─▶ … ─▶ nothing for `debounceMs` ─▶ one change, with the first path and how many others
 *
 * A change that came while Evenkeel did not run is found by its time: a file that is newer than the run. So a change is not
 * lost when Evenkeel is killed between the change and the restart.
 *
 * Invariants: a change counts until a run that started later answers it; at most one timer for each object; memory for one
 * change of each object.
 */
import { relative } from 'node:path'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import type { RunOwner } from '../runs.ts'
import type { FileWatcher, WatchRequest } from './file-watcher.ts'

/** Why a process has to be started again. */
export interface RestartWish {
  readonly reason: 'FileChanged' | 'DependencyRestarted'
  /** `src/server.ts changed`. */
  readonly cause: string
  /** Which wishes a run has answered: those up to the number that it saw. */
  readonly sequence: number
}

interface FileChangesOptions {
  readonly watcher: FileWatcher
  readonly clock: Clock
  /** What shown paths begin at. */
  readonly cwd: string
  /** Called when there is something new about an object. */
  readonly onChange: (owner: RunOwner, note: string) => void
  readonly log?: Logger | undefined
}

interface WatchSettings extends WatchRequest {
  readonly debounceMs: number
  /** Of the run that is alive: newer files count as changes. */
  readonly startedAtMs: number | undefined
}

/** What is known about one object. */
interface Watched {
  readonly owner: RunOwner
  readonly key: string
  close: () => void
  cancel: () => void
  /** Paths that changed and are still changing. */
  readonly fresh: Set<string>
  problem?: string
}

/** Paths that are counted one by one. */
const pathsMax = 1000

export class FileChanges {
  readonly #options: FileChangesOptions
  readonly #watched = new Map<string, Watched>()
  readonly #wishes = new Map<string, RestartWish>()
  #sequence = 0

  constructor(options: FileChangesOptions) {
    this.#options = options
  }

  /** What an object watches from now on; does nothing when that is the same as before. */
  set(owner: RunOwner, settings: WatchSettings): void {
    const { paths, ignore, debounceMs, startedAtMs } = settings
    const key = JSON.stringify([paths, ignore, debounceMs])
    if (this.#watched.get(owner.uid)?.key === key) return
    this.#end(owner.uid)
    const watched: Watched = { owner, key, close: () => undefined, cancel: () => undefined, fresh: new Set() }
    this.#watched.set(owner.uid, watched)
    watched.close = this.#options.watcher.changes.watch(
      { paths, ignore },
      {
        onChange: (path) => {
          this.#add(watched, path, debounceMs)
        },
        onProblem: (message) => {
          watched.problem = message
          this.#options.onChange(owner, 'its files cannot be watched')
        },
      },
    )
    if (startedAtMs !== undefined) void this.#findMissed(watched, settings, startedAtMs)
  }

  /** What is wrong with the watch of an object. */
  problemOf(uid: string): string | undefined {
    return this.#watched.get(uid)?.problem
  }

  wishOf(uid: string): RestartWish | undefined {
    return this.#wishes.get(uid)
  }

  /** A process that this one depends on was restarted. */
  wish(owner: RunOwner, cause: string): void {
    this.#wish(owner, { reason: 'DependencyRestarted', cause })
  }

  /** A run was started that has seen a wish, or no run is wanted. */
  answer(uid: string, { sequence }: Pick<RestartWish, 'sequence'> = { sequence: Infinity }): void {
    const wish = this.#wishes.get(uid)
    if (wish && wish.sequence <= sequence) this.#wishes.delete(uid)
  }

  /** An object watches no files any more. */
  unwatch(uid: string): void {
    this.#end(uid)
  }

  /** An object is gone, or stopped. */
  forget(uid: string): void {
    this.#end(uid)
    this.#wishes.delete(uid)
  }

  close(): void {
    for (const uid of [...this.#watched.keys()]) this.forget(uid)
  }

  #end(uid: string): void {
    const watched = this.#watched.get(uid)
    this.#watched.delete(uid)
    watched?.cancel()
    watched?.close()
  }

  #add(watched: Watched, path: string, debounceMs: number): void {
    if (watched.fresh.size < pathsMax) watched.fresh.add(path)
    watched.cancel()
    const { clock } = this.#options
    let isCancelled = false
    const cancel = clock.after(debounceMs, () => {
      // When this program is late, changes may wait that came before the time was over.
      clock.soon(() => {
        if (!isCancelled) this.#settle(watched)
      })
    })
    watched.cancel = () => {
      isCancelled = true
      cancel()
    }
  }

  #settle(watched: Watched): void {
    const [first = '', ...others] = watched.fresh
    watched.fresh.clear()
    const shown = this.#shown(first)
    const isMore = others.length + 1 === pathsMax ? ' or more' : ''
    const cause =
      others.length === 0 ? `${shown} changed` : `${shown} and ${others.length}${isMore} other files changed`
    this.#wish(watched.owner, { reason: 'FileChanged', cause })
  }

  #wish(owner: RunOwner, wish: Omit<RestartWish, 'sequence'>): void {
    this.#wishes.set(owner.uid, { ...wish, sequence: ++this.#sequence })
    this.#options.onChange(owner, wish.cause)
  }

  async #findMissed(watched: Watched, request: WatchRequest, startedAtMs: number): Promise<void> {
    const { watcher, clock, log } = this.#options
    const { paths, ignore } = request
    const newest = await watcher.findNewest({ paths, ignore }).catch((error: unknown) => {
      log?.warn('cannot compare watched files with their run', { object: watched.owner.name, error })
      return undefined
    })
    const isMissed = newest && newest.atMs > startedAtMs && newest.atMs <= clock.now()
    if (!isMissed || this.#watched.get(watched.owner.uid) !== watched) return
    this.#wish(watched.owner, { reason: 'FileChanged', cause: `${this.#shown(newest.path)} changed` })
  }

  #shown(path: string): string {
    const below = relative(this.#options.cwd, path)
    return below === '' || below.startsWith('..') ? path : below
  }
}
