/**
 * `spec.watch` of Processes: which files each watches, and what restarts because of a change.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ReconcileContext } from 'evenkeel'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import type { Process, ProcessObject } from '../process-kind.ts'
import type { Run, RunOwner } from '../runs.ts'
import { Cascades } from './cascade.ts'
import { FileChanges, type RestartWish } from './file-changes.ts'
import type { FileWatcher } from './file-watcher.ts'
import { defaultIgnored } from './ignore-patterns.ts'

interface ProcessWatchOptions {
  readonly watcher: FileWatcher
  readonly clock: Clock
  /** What relative paths begin at. */
  readonly cwd: string
  /** The folder of the session and the logs: what changes there means nothing. */
  readonly folder: string
  readonly onChange: (owner: RunOwner, note: string) => void
  readonly log?: Logger | undefined
}

export class ProcessWatch {
  readonly #options: ProcessWatchOptions
  readonly #changes: FileChanges
  readonly #cascades = new Cascades()
  /** The members of cascades, by uid. */
  readonly #owners = new Map<string, RunOwner>()
  /** By uid: watched paths outside of the project. That is allowed, and a person should know. */
  readonly #outside = new Map<string, readonly string[]>()

  constructor(options: ProcessWatchOptions) {
    this.#options = options
    this.#changes = new FileChanges(options)
  }

  /** Watches what the spec asks for. Returns why the process has to be started again, if it has to. */
  look(process: ProcessObject, run: Run | undefined): RestartWish | undefined {
    const { metadata, spec } = process
    const { uid } = metadata
    if (spec.running === false) {
      this.#changes.forget(uid)
      return undefined
    }
    if (spec.watch) {
      const cwd = resolve(this.#options.cwd, spec.cwd ?? '.')
      const { paths, ignore = [], debounceSeconds = 0.2 } = spec.watch
      const absolute = paths.map((path) => resolve(cwd, path))
      this.#outside.set(
        uid,
        absolute.filter((path) => isOutside(path, this.#options.cwd)),
      )
      this.#changes.set(ownerOf(process), {
        paths: absolute,
        ignore: [...defaultIgnored, this.#options.folder, ...ignore],
        debounceMs: debounceSeconds * 1000,
        startedAtMs: run && !run.isOver ? run.startedAtMs : undefined,
      })
    } else {
      this.#outside.delete(uid)
      this.#changes.unwatch(uid)
    }
    return this.#changes.wishOf(uid)
  }

  /** A run was started that has seen a wish. */
  started(process: ProcessObject, wish: RestartWish | undefined, all: readonly ProcessObject[]): void {
    const { metadata, spec } = process
    if (wish) this.#changes.answer(metadata.uid, wish)
    this.#cascades.started(metadata.uid)
    if (!wish || wish.reason !== 'FileChanged' || !spec.watch?.cascade) return
    const near = all.filter((one) => one.metadata.namespace === metadata.namespace && one.spec.running !== false)
    const uids = new Map(near.map((one) => [one.metadata.name, one.metadata.uid]))
    const members = near.map((one) => ({
      key: one.metadata.uid,
      dependsOn: (one.spec.dependsOn ?? []).flatMap(({ name }) => uids.get(name) ?? []),
    }))
    for (const one of near) this.#owners.set(one.metadata.uid, ownerOf(one))
    this.#cascades.begin(metadata.uid, members, `Process ${metadata.name} was restarted because ${wish.cause}`)
  }

  /** A process is ready: what follows it in a cascade restarts. */
  ready(uid: string): void {
    for (const { key, cause } of this.#cascades.ready(uid)) {
      const owner = this.#owners.get(key)
      if (owner) this.#changes.wish(owner, cause)
    }
  }

  forget(uid: string): void {
    this.#changes.forget(uid)
    this.#owners.delete(uid)
    this.#outside.delete(uid)
  }

  close(): void {
    this.#changes.close()
  }

  report(status: ReconcileContext<typeof Process>['status'], uid: string): void {
    const problem = this.#changes.problemOf(uid)
    const outside = this.#outside.get(uid) ?? []
    if (problem !== undefined) status.condition('FilesWatched', false, { reason: 'Polling', message: problem })
    else if (outside.length > 0)
      status.condition('FilesWatched', true, {
        reason: 'OutsideOfProject',
        message: `outside of ${this.#options.cwd}: ${outside.join(', ')}`,
      })
    else status.removeCondition('FilesWatched')
  }
}

function isOutside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
}

function ownerOf({ metadata: { uid, namespace = 'default', name } }: ProcessObject): RunOwner {
  return { uid, namespace, name }
}
