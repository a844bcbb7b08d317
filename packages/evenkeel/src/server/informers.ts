/**
 * Informers: kinds that the server itself uses, parsed and in memory.
 *
 * RBAC, webhook configurations and policies are used by every request; reading them from the store each time would
 * cost more than the request. An informer is requested before the server starts; from then on one loop per kind
 * watches the store. A loop that lost its position (compaction, falling behind) lists again. A write to such a kind
 * is answered once its informer has it.
 *
 * Invariant: `version` grows with every change, so that code that computes something from an informer knows when to
 * repeat it.
 */
import type { UnstructuredObject } from '#api'
import { assert, deferred, LightAbortController, sleep, type Clock, type Deferred, type Logger } from '#base'
import type { Store, Watch } from '#store'
import type { Registry } from './registry/registry.ts'
import { keyPrefix } from './storage/storage.ts'
import { StoredObject } from './storage/stored-object.ts'

interface InformersOptions {
  readonly store: Store
  readonly registry: Registry
  readonly cluster: string
  readonly log: Logger
  readonly clock: Clock
}

interface RunningInformer {
  readonly view: Informer
  readonly prefix: string
  source: Watch | undefined
  seen: number
  readonly waiting: { readonly revision: number; readonly done: Deferred<undefined> }[]
}

/** The delay before a failed loop lists again. */
const retryMs = 1000

export class Informers {
  readonly #options: InformersOptions
  readonly #followed = new Map<string, RunningInformer>()
  readonly #stopped = new LightAbortController()
  #started = false

  constructor(options: InformersOptions) {
    this.#options = options
  }

  /** The informer of a kind. Each kind must be requested once before `start`. */
  forResource(group: string, plural: string): Informer {
    const known = this.#followed.get(`${group}/${plural}`)
    if (known) return known.view
    assert(!this.#started, `the informer of ${plural} is requested too late`)
    const resource = this.#options.registry.stored(group, plural)
    assert(resource, `there is no built-in resource ${group}/${plural}`)
    const prefix = keyPrefix(this.#options.cluster, resource.storage)
    const followed: RunningInformer = {
      view: new Informer(group, plural),
      prefix,
      source: undefined,
      seen: 0,
      waiting: [],
    }
    this.#followed.set(`${group}/${plural}`, followed)
    return followed.view
  }

  /** Whether a kind has an informer, by its storage names. */
  has(group: string, plural: string): boolean {
    return this.#followed.has(`${group}/${plural}`)
  }

  /** Lists all kinds; then follows changes until `stop`. */
  async start(): Promise<void> {
    this.#started = true
    await Promise.all([...this.#followed.values()].map((followed) => this.#read(followed)))
    for (const followed of this.#followed.values()) {
      this.#follow(followed).catch((error: unknown) => {
        this.#options.log.error('informer stopped: the server keeps its last state', {
          resource: followed.view.plural,
          error,
        })
      })
    }
  }

  stop(reason = new Error('the server is stopping')): void {
    this.#stopped.abort(reason)
    for (const { source, waiting } of this.#followed.values()) {
      source?.close()
      for (const { done } of waiting.splice(0)) done.resolve(undefined)
    }
  }

  /** Resolves when every informer has reached a revision. */
  async waitForRevision(revision: number): Promise<void> {
    await Promise.all([...this.#followed.values()].map((followed) => this.#reach(followed, revision)))
  }

  async #reach({ seen, source, waiting }: RunningInformer, revision: number): Promise<void> {
    if (seen >= revision || this.#stopped.signal.aborted) return
    const done = deferred<undefined>()
    waiting.push({ revision, done })
    // The revision may belong to another key: then only a progress notification shows that it was reached.
    source?.requestProgress()
    await done.promise
  }

  async #read(followed: RunningInformer): Promise<void> {
    const range = await this.#options.store.range(followed.prefix)
    if (!range.ok) throw new Error(`cannot list ${followed.view.plural}`)
    followed.view.replace(range.entries)
    followed.source = this.#options.store.watch(followed.prefix, { after: range.revision })
    // A caller may already wait for a revision that only a progress notification reaches.
    if (followed.waiting.length > 0) followed.source.requestProgress()
    this.#reached(followed, range.revision)
  }

  async #follow(followed: RunningInformer): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#hear(followed)
      } catch (error) {
        this.#options.log.warn('informer watch failed; listing again', { resource: followed.view.plural, error })
      }
      if (this.#stopped.signal.aborted) return
      await this.#readAgain(followed)
    }
  }

  async #hear(followed: RunningInformer): Promise<void> {
    if (followed.source)
      for await (const { revision, changes } of followed.source) this.#take(followed, { revision, changes })
  }

  async #readAgain(followed: RunningInformer): Promise<void> {
    try {
      await this.#read(followed)
    } catch (error) {
      this.#options.log.error('informer cannot list; retrying', { resource: followed.view.plural, error })
      followed.source = undefined
      await sleep(this.#options.clock, retryMs, { signal: this.#stopped.signal }).catch(() => undefined)
    }
  }

  #take(
    followed: RunningInformer,
    {
      revision,
      changes,
    }: {
      revision: number
      changes: readonly {
        readonly key: string
        readonly entry?: { readonly value: Uint8Array; readonly revision: number } | undefined
      }[]
    },
  ): void {
    for (const { key, entry } of changes) {
      if (entry) {
        followed.view.put(entry.value, entry.revision)
        continue
      }
      const [namespace, name] = namespacedName(key.slice(followed.prefix.length))
      followed.view.remove({ namespace, name })
    }
    this.#reached(followed, revision)
  }

  #reached(followed: RunningInformer, revision: number): void {
    followed.seen = Math.max(followed.seen, revision)
    for (const waiting of followed.waiting.splice(0)) {
      if (waiting.revision <= followed.seen) waiting.done.resolve(undefined)
      else followed.waiting.push(waiting)
    }
  }
}

/** The namespace and name in the rest of a key. */
function namespacedName(rest: string): [namespace: string, name: string] {
  const at = rest.indexOf('/')
  const [namespace, name] = at < 0 ? ['', rest] : [rest.slice(0, at), rest.slice(at + 1)]
  return [decodeURIComponent(namespace), decodeURIComponent(name)]
}

/** Gets the old object, if any, and the new one, if any. */
type InformerListener = (old: UnstructuredObject | undefined, next: UnstructuredObject | undefined) => void

export class Informer {
  /** Group and plural, as in {@link Informers.forResource}. */
  readonly group: string
  readonly plural: string
  readonly #objects = new Map<string, UnstructuredObject>()
  readonly #listeners: InformerListener[] = []
  #version = 0
  #listed: { readonly version: number; readonly objects: readonly UnstructuredObject[] } | undefined

  constructor(group: string, plural: string) {
    this.group = group
    this.plural = plural
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  /** The object with that name; shared and read-only. */
  get(name: string, { namespace = '' }: { namespace?: string } = {}): UnstructuredObject | undefined {
    return this.#objects.get(`${namespace}/${name}`)
  }

  /** All objects, sorted by namespace and name; shared and read-only. */
  list(): readonly UnstructuredObject[] {
    if (this.#listed?.version !== this.#version) {
      const objects = [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
      this.#listed = { version: this.#version, objects }
    }
    return this.#listed.objects
  }

  /** Calls a listener synchronously for every later change: for values that are too costly to rebuild. */
  addEventHandler(listener: InformerListener): void {
    this.#listeners.push(listener)
  }

  /** Replaces the whole state by these entries. */
  replace(entries: Iterable<{ readonly value: Uint8Array; readonly revision: number }>): void {
    const gone = new Set(this.#objects.keys())
    for (const { value, revision } of entries) gone.delete(this.#put(new StoredObject(value, revision).object))
    for (const key of gone) this.#remove(key)
    this.#version++
  }

  put(value: Uint8Array, revision: number): void {
    this.#put(new StoredObject(value, revision).object)
    this.#version++
  }

  /** @param place namespace and name */
  remove(place: { readonly namespace: string; readonly name: string }): void {
    this.#remove(`${place.namespace}/${place.name}`)
    this.#version++
  }

  #put(object: UnstructuredObject): string {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`
    const old = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const listener of this.#listeners) listener(old, object)
    return key
  }

  #remove(key: string): void {
    const old = this.#objects.get(key)
    this.#objects.delete(key)
    if (old) for (const listener of this.#listeners) listener(old, undefined)
  }
}
