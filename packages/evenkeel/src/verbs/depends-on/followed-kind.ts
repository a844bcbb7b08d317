/**
 * A kind of dependencies, watched through the cache while an object refers to it.
 *
 * The kind may be missing or unreadable: the referers report that, and nothing waits for it. When it becomes readable
 * later, all its referers are enqueued, whether it has objects or not.
 *
 * `KindFinder` resolves a group and kind to the version that the server prefers. A kind that is not installed is looked
 * up again, because its CRD may be created later, but not on every request.
 */
import { isForbidden, isNotFound, isUnauthorized, type Kind, type KubeObject, type TypeMeta } from '#api'
import type { AbortOptions, Clock } from '#base'
import type { CacheKind, CacheQuery, InformerHandle } from '#cache'
import { isUnknownKind, type Client } from '#client'
import { kindSource, type EventHandler, type SourceContext, type StartedSource } from '#controller'
import type { GroupKind, ObjectRef } from './reference.ts'

/** A kind: the full definition of the author, or what discovery says. */
export interface FollowedType extends TypeMeta {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /** The full kind, if the declaration has it. */
  readonly full: Kind | undefined
}

interface FollowOptions {
  readonly context: SourceContext
  readonly handler: EventHandler
  /** @default all */
  readonly namespaces: readonly string[] | undefined
  /** Each with an informer of its own. @default all */
  readonly names?: readonly string[] | undefined
  /** Whether to index objects by finalizer. @default false */
  readonly byFinalizer?: boolean
  /** Called when the kind becomes readable after a failure. @default nothing */
  readonly onLate?: () => void
}

// One function for all instances: informers share an index by function.
const finalizersOf = ({ metadata: { finalizers } }: KubeObject): readonly string[] | undefined => finalizers
const finalizerIndex = 'finalizers'

/** Whether a kind is readable; `unknown` before the first answer of the server. */
type KindState = 'listed' | 'missing' | 'refused' | 'unknown'

/** The watch of one name, or of all names. */
interface NamedWatch {
  readonly name: string | undefined
  readonly informer: InformerHandle<KubeObject>
  readonly source: StartedSource
}

export class FollowedKind {
  readonly type: FollowedType
  /** One for each name, or one for all. */
  readonly #watches: readonly NamedWatch[]
  readonly #stopping = new AbortController()

  constructor(
    type: FollowedType,
    { context, handler, namespaces, names, byFinalizer = false, onLate = () => undefined }: FollowOptions,
  ) {
    this.type = type
    const kind: CacheKind = type.full ?? { apiVersion: type.apiVersion, kind: type.kind }
    this.#watches = (names ?? [undefined]).map((name) => {
      const scope = {
        ...(namespaces !== undefined && type.namespaced && { namespaces }),
        ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
      }
      const informer = context.cache.getInformer(kind, scope) as InformerHandle<KubeObject>
      if (byFinalizer) informer.addIndex(finalizerIndex, finalizersOf)
      const source = kindSource(kind, { ...scope, name: `depends on ${type.kind}`, handler }).start(context)
      return { name, informer, source }
    })
    this.#notifyWhenLate(onLate).catch(() => undefined)
  }

  get state(): KindState {
    const errors = this.#watches.flatMap(({ informer }) => Object.values(informer.states).map(({ error }) => error))
    if (errors.some((error) => isNotFound(error) || isUnknownKind(error))) return 'missing'
    if (this.#hasSynced) return 'listed'
    return errors.some((error) => isForbidden(error) || isUnauthorized(error)) ? 'refused' : 'unknown'
  }

  get problem(): string | undefined {
    return this.state === 'refused' ? this.#watches.find(({ source }) => source.problem)?.source.problem : undefined
  }

  find({ name, namespace }: ObjectRef): KubeObject | undefined {
    const watch = this.#watches.find((one) => one.name === undefined || one.name === name)
    return watch?.informer.find({ name, ...(namespace !== '' && { namespace }) })
  }

  /** All cached objects, or those of an index added by {@link addIndex}. */
  list(query: CacheQuery = {}): readonly KubeObject[] {
    return this.#watches.flatMap(({ informer }) => informer.list(query))
  }

  /** Needs the option `byFinalizer`. */
  withFinalizer(finalizer: string): readonly KubeObject[] {
    return this.list({ index: { name: finalizerIndex, value: finalizer } })
  }

  addIndex(name: string, values: (object: KubeObject) => readonly string[]): void {
    for (const { informer } of this.#watches) informer.addIndex(name, values)
  }

  async waitForAnswer(options: AbortOptions = {}): Promise<void> {
    await Promise.all(this.#watches.map(({ informer }) => informer.waitForAnswer(options)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('no object depends on this kind any more'))
    for (const { source, informer } of this.#watches) {
      await source.stop()
      await informer.release()
    }
  }

  get #hasSynced(): boolean {
    return this.#watches.every(({ informer }) => informer.hasSynced)
  }

  async #notifyWhenLate(onLate: () => void): Promise<void> {
    const { signal } = this.#stopping
    await this.waitForAnswer({ signal })
    if (this.#hasSynced) return
    await Promise.all(this.#watches.map(({ source }) => source.waitForSync({ signal })))
    if (!signal.aborted) onLate()
  }
}

/** The shortest time between two reloads of discovery. */
const reloadMs = 5000

export class KindFinder {
  readonly #clock: Clock
  #loadedAtMs = -Infinity

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /** Resolves a kind; undefined if it is not installed. `fresh`: ignore cached discovery. */
  async find(
    choice: Kind | GroupKind,
    { client, fresh = false, signal }: AbortOptions & { client: Pick<Client, 'resources'>; fresh?: boolean },
  ): Promise<FollowedType | undefined> {
    if ('plural' in choice && 'scope' in choice) return typeOf(choice)
    const now = this.#clock.monotonic()
    const mayReload = now - this.#loadedAtMs >= reloadMs
    for (const reload of fresh ? (mayReload ? [true] : []) : mayReload ? [false, true] : [false]) {
      if (reload) this.#loadedAtMs = now
      const resources = await client.resources({ reload, ...(signal && { signal }) })
      const found = resources.find(
        ({ group, kind, verbs }) =>
          group === choice.group && kind === choice.kind && verbs.includes('list') && verbs.includes('watch'),
      )
      if (found)
        return {
          apiVersion: found.apiVersion,
          kind: found.kind,
          group: found.group,
          plural: found.plural,
          namespaced: found.namespaced,
          full: undefined,
        }
    }
    return undefined
  }
}

/** The type of a full kind. */
export function typeOf(kind: Kind): FollowedType {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    group: kind.group,
    plural: kind.plural,
    namespaced: kind.scope === 'Namespaced',
    full: kind,
  }
}
