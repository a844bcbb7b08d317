/**
 * The workloads of a namespace as rows, kept up to date by one watch per kind.
 *
 * Invariant: `onChange` is called after each change of a row; `rows` is sorted by kind and name.
 */
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { deferred, type Clock } from 'evenkeel/unstable/base'
import { watchObjects } from '../object-watch.ts'
import { withoutDoubt, type Doubtful } from './leftovers.ts'
import { rowOf, type WorkloadRow } from './workload-row.ts'

interface WorkloadWatchOptions {
  readonly resources: readonly DiscoveredResource[]
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly clock: Clock
  /** What earlier runs have left. @default nothing */
  readonly doubtful?: Doubtful
  /** Undefined: an object is gone. */
  readonly onChange: (row: WorkloadRow | undefined, previous: WorkloadRow | undefined) => void
}

export class WorkloadWatch {
  readonly #client: Client
  readonly #options: WorkloadWatchOptions
  readonly #rows = new Map<string, WorkloadRow>()
  /** By uid: those that are not settled. A thousand rows change several times each while they start. */
  readonly #unsettled = new Set<string>()
  readonly #listed = deferred<void>()
  #unlisted: number

  constructor(client: Client, options: WorkloadWatchOptions) {
    this.#client = client
    this.#options = options
    this.#unlisted = options.resources.length
    if (this.#unlisted === 0) this.#listed.resolve()
  }

  /** Resolves when every kind was listed once. */
  get listed(): Promise<void> {
    return this.#listed.promise
  }

  /** Whether every workload is ready, completed or stopped by a person. */
  get isSettled(): boolean {
    return this.#unsettled.size === 0
  }

  rows(): readonly WorkloadRow[] {
    const order = this.#options.resources.map(({ kind }) => kind)
    return [...this.#rows.values()].toSorted(
      (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
    )
  }

  /** Runs until the signal aborts. @throws what the server refuses */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.resources.map((resource) => this.#follow(resource, signal)))
  }

  async #follow(resource: DiscoveredResource, signal: AbortSignal): Promise<void> {
    const { namespace, clock } = this.#options
    let isListed = false
    try {
      for await (const change of watchObjects(this.#client, resource, { namespace, signal, clock })) {
        if (change.type === 'LISTED') {
          this.#replace(resource.kind, change.objects)
          isListed ||= this.#countListed()
        } else if (change.type === 'DELETED') this.#remove(change.object.metadata.uid ?? '')
        else this.#put(change.object)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #countListed(): true {
    this.#unlisted--
    if (this.#unlisted === 0) this.#listed.resolve()
    return true
  }

  /** All of a kind, after a gap. */
  #replace(kind: string, objects: readonly KubeObject[]): void {
    const seen = new Set(objects.map(({ metadata }) => metadata.uid))
    for (const [uid, row] of [...this.#rows]) if (row.kind === kind && !seen.has(uid)) this.#remove(uid)
    for (const object of objects) this.#put(object)
  }

  #put(object: KubeObject): void {
    const row = withoutDoubt(rowOf(object), this.#options.doubtful ?? new Map<string, string>())
    const previous = this.#rows.get(row.uid)
    this.#rows.set(row.uid, row)
    if (row.isSettled) this.#unsettled.delete(row.uid)
    else this.#unsettled.add(row.uid)
    this.#options.onChange(row, previous)
  }

  #remove(uid: string): void {
    const previous = this.#rows.get(uid)
    if (!previous) return
    this.#rows.delete(uid)
    this.#unsettled.delete(uid)
    this.#options.onChange(undefined, previous)
  }
}
