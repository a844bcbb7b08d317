/**
 * The files of this machine, watched: one watch of the system for each folder, so that ignored folders cost nothing.
 *
 *   /app/src            a watch: events name the entry, whether it was written, renamed, made or removed
 *   /app/src/lib        a watch of its own, made when the folder appears
 *   /app/node_modules   none
 *   /app                a watch for the entry `src` alone: the folder may be removed and made again
 *
 * A file is watched by its folder, because editors write another file and rename it. Symbolic links are followed once.
 *
 * Invariants: when the system refuses a watch (its limit is reached), that is reported once and the files are compared every
 * two seconds instead; `close` leaves no watch and no timer.
 */
import { existsSync, readdirSync, realpathSync, statSync, watch, type FSWatcher, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from 'evenkeel/unstable/base'
import type { FileChange, FileWatcher, WatchRequest } from './file-watcher.ts'
import { ignoreTest, type IgnoreTest } from './ignore-patterns.ts'

type WatchFolder = (path: string, call: (event: string, name: string | null) => void) => Pick<FSWatcher, 'close' | 'on'>

interface OsFileWatcherOptions {
  readonly clock: Clock
  /** @default that of the system */
  readonly watchFolder?: WatchFolder
}

type WatchListener = Parameters<FileWatcher['changes']['watch']>[1]

const pollMs = 2000
const [filesMax, depthMax] = [100_000, 40]

export class OsFileWatcher implements FileWatcher {
  readonly #options: Required<OsFileWatcherOptions>

  constructor({ clock, watchFolder = watchFolderOfSystem }: OsFileWatcherOptions) {
    this.#options = { clock, watchFolder }
  }

  findNewest(request: WatchRequest): Promise<FileChange | undefined> {
    let newest: FileChange | undefined
    for (const [path, { mtimeMs }] of scan(request)) {
      if (!newest || mtimeMs > newest.atMs) newest = { path, atMs: mtimeMs }
    }
    return Promise.resolve(newest)
  }

  readonly changes: FileWatcher['changes'] = {
    watch: (request, listener) => {
      const tree = new WatchedTree(request, listener, this.#options)
      return () => {
        tree.close()
      }
    },
  }
}

function watchFolderOfSystem(...[path, call]: Parameters<WatchFolder>): ReturnType<WatchFolder> {
  return watch(path, { persistent: false }, call)
}

/** One watch of one or more paths. */
class WatchedTree {
  readonly #request: WatchRequest
  readonly #listener: WatchListener
  readonly #options: Required<OsFileWatcherOptions>
  readonly #isIgnored: IgnoreTest
  /** By folder. */
  readonly #watchers = new Map<string, { readonly close: () => void }>()
  #cancelPoll: (() => void) | undefined
  #isClosed = false

  constructor(request: WatchRequest, listener: WatchListener, options: Required<OsFileWatcherOptions>) {
    this.#request = request
    this.#listener = listener
    this.#options = options
    this.#isIgnored = ignoreTest(request.paths, request.ignore)
    this.#addRoots()
  }

  close(): void {
    this.#isClosed = true
    this.#cancelPoll?.()
    this.#closeWatchers()
  }

  #closeWatchers(): void {
    for (const { close } of this.#watchers.values()) close()
    this.#watchers.clear()
  }

  #addRoots(): void {
    for (const path of this.#request.paths) this.#addRoot(path)
  }

  /** A path, and the folder in which it may be made again. */
  #addRoot(path: string): void {
    const real = realPathOf(path)
    if (statOf(real)?.isDirectory() === true) this.#addFolder(real, path, 0)
    for (const one of new Set([path, real])) this.#watchWay(existingParent(one))
  }

  /** @param shown the path of the folder as the request has it: a link may lead elsewhere */
  #addFolder(folder: string, shown: string, depth: number): void {
    if (this.#watchers.has(`tree ${folder}`) || depth > depthMax) return
    this.#watchTree(folder, shown, depth)
    for (const name of namesIn(folder)) {
      const path = join(shown, name)
      const real = realPathOf(join(folder, name))
      if (!this.#isIgnored(path) && statOf(real)?.isDirectory() === true) this.#addFolder(real, path, depth + 1)
    }
  }

  /** Every entry of the folder counts. */
  #watchTree(folder: string, shown: string, depth: number): void {
    this.#open(`tree ${folder}`, folder, (name) => {
      if (!existsSync(folder)) this.#forget(folder)
      const path = name === null ? shown : join(shown, name)
      if (this.#isIgnored(path)) return
      if (name !== null) {
        const real = realPathOf(join(folder, name))
        if (statOf(real)?.isDirectory() === true) this.#addFolder(real, path, depth + 1)
        else this.#forget(join(folder, name))
      }
      this.#listener.onChange(path)
    })
  }

  /** Only entries on the way to a watched path count: the folder is not watched itself. */
  #watchWay(folder: string): void {
    this.#open(`way ${folder}`, folder, (name) => {
      if (name === null) return
      const changed = join(folder, name)
      const concerned = this.#request.paths.filter((path) =>
        [path, realPathOf(path)].some((one) => one === changed || one.startsWith(`${changed}/`)),
      )
      for (const path of concerned) {
        const isFolder = statOf(path)?.isDirectory() === true
        // A folder that is there and was there reports its entries itself.
        const isNew = isFolder && !this.#watchers.has(`tree ${realPathOf(path)}`)
        this.#addRoot(path)
        if (!isFolder || isNew) this.#listener.onChange(path)
      }
    })
  }

  #open(key: string, folder: string, call: (name: string | null) => void): void {
    if (this.#isClosed || this.#cancelPoll || this.#watchers.has(key)) return
    try {
      const watcher = this.#options.watchFolder(folder, (_, name) => {
        if (!this.#isClosed) call(name)
      })
      watcher.on('error', () => {
        this.#watchers.delete(key)
        watcher.close()
      })
      this.#watchers.set(key, {
        close: () => {
          watcher.close()
        },
      })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Removed in between: its folder reports that.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#poll(folder, code ?? String(error))
    }
  }

  /** A folder that was removed: its watches see nothing any more. */
  #forget(folder: string): void {
    for (const [key, { close }] of this.#watchers) {
      const path = key.slice(key.indexOf(' ') + 1)
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      close()
      this.#watchers.delete(key)
    }
  }

  #poll(folder: string, code: string): void {
    this.#closeWatchers()
    let seen = scan(this.#request)
    const look = (): void => {
      const now = scan(this.#request)
      const changed = changedPaths(seen, now)
      seen = now
      this.#cancelPoll = this.#options.clock.after(pollMs, look)
      for (const path of changed) this.#listener.onChange(path)
    }
    this.#cancelPoll = this.#options.clock.after(pollMs, look)
    const reason =
      code === 'ENOSPC' || code === 'EMFILE' ? 'the limit of watches is reached (fs.inotify.max_user_watches)' : code
    this.#listener.onProblem(
      `cannot watch ${folder}: ${reason}. The files are compared every ${pollMs / 1000} s instead`,
    )
  }
}

function changedPaths(
  before: ReadonlyMap<string, FileState>,
  after: ReadonlyMap<string, FileState>,
): readonly string[] {
  const changed = [...after].filter(([path, { mtimeMs, size }]) => {
    const old = before.get(path)
    return old?.mtimeMs !== mtimeMs || old.size !== size
  })
  const removed = [...before.keys()].filter((path) => !after.has(path))
  return [...changed.map(([path]) => path), ...removed]
}

type FileState = Pick<Stats, 'mtimeMs' | 'size'>

/** All watched files. */
function scan({ paths, ignore }: WatchRequest): ReadonlyMap<string, FileState> {
  const isIgnored = ignoreTest(paths, ignore)
  const files = new Map<string, FileState>()
  const folders = new Set<string>()
  const add = (path: string, depth: number): void => {
    const real = realPathOf(path)
    const found = statOf(real)
    if (!found || files.size >= filesMax || depth > depthMax) return
    if (!found.isDirectory()) {
      files.set(path, { mtimeMs: Math.floor(found.mtimeMs), size: found.size })
      return
    }
    if (folders.has(real)) return
    folders.add(real)
    for (const name of namesIn(real)) if (!isIgnored(join(path, name))) add(join(path, name), depth + 1)
  }
  for (const path of paths) add(path, 0)
  return files
}

/** The nearest folder above a path that exists. */
function existingParent(path: string): string {
  const parent = dirname(path)
  return existsSync(parent) || parent === path || basename(parent) === '' ? parent : existingParent(parent)
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false }) ?? undefined
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
