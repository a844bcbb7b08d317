/**
 * A kind that is depended on, followed in the cache for as long as somebody depends on it.
 *
 * It need not be there, and need not be readable: that is something to tell the referers, not a reason to wait. When it
 * comes late, all who asked for it are told, whether there are objects of it or not.
 */
import type { AbortOptions } from '#base'
import { isForbidden, isNotFound, isUnauthorized } from '#api'
import type { Kind, KubeObject, TypeMeta } from '#api'
import type { CacheKind, CacheQuery, InformerHandle } from '#cache'
import { isUnknownKind } from '#client'
import { kindSource } from '#controller'
import type { EventHandler, SourceContext, StartedSource } from '#controller'
import type { ObjectRef } from '../reference.ts'

/** What is known of a kind: all of it, or what discovery says. */
export interface FollowedType extends TypeMeta {
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  /** In full, where the declaration has it. */
  readonly full: Kind | undefined
}

interface FollowOptions {
  readonly context: SourceContext
  readonly handler: EventHandler
  /** @default all */
  readonly namespaces: readonly string[] | undefined
  /** Whether objects are asked for by their finalizers. @default false */
  readonly byFinalizer?: boolean
  /** It could not be listed, and now it was. @default nobody needs to know */
  readonly onLate?: () => void
}

// One function for all who follow the same kind: they share the index.
const finalizersOf = ({ metadata: { finalizers } }: KubeObject): readonly string[] | undefined => finalizers
const finalizerIndex = 'finalizers'

/** How things stand with a kind; `unknown` before the server has said anything. */
type KindState = 'listed' | 'missing' | 'refused' | 'unknown'

export class FollowedKind {
  readonly type: FollowedType
  readonly #informer: InformerHandle<KubeObject>
  readonly #source: StartedSource
  readonly #stopping = new AbortController()

  constructor(
    type: FollowedType,
    { context, handler, namespaces, byFinalizer = false, onLate = () => undefined }: FollowOptions,
  ) {
    this.type = type
    const kind: CacheKind = type.full ?? { apiVersion: type.apiVersion, kind: type.kind }
    const scope = { ...(namespaces !== undefined && type.namespaced && { namespaces }) }
    this.#informer = context.cache.getInformer(kind, scope) as unknown as InformerHandle<KubeObject>
    if (byFinalizer) this.#informer.addIndex(finalizerIndex, finalizersOf)
    this.#source = kindSource(kind, { ...scope, name: `depends on ${type.kind}`, handler }).start(context)
    this.#notifyWhenLate(onLate).catch(() => undefined)
  }

  get state(): KindState {
    const errors = Object.values(this.#informer.states).map(({ error }) => error)
    if (errors.some((error) => isNotFound(error) || isUnknownKind(error))) return 'missing'
    if (this.#informer.hasSynced) return 'listed'
    return errors.some((error) => isForbidden(error) || isUnauthorized(error)) ? 'refused' : 'unknown'
  }

  get problem(): string | undefined {
    return this.state === 'refused' ? this.#source.problem : undefined
  }

  find({ name, namespace }: ObjectRef): KubeObject | undefined {
    return this.#informer.find({ name, ...(namespace !== '' && { namespace }) })
  }

  /** All of it that is held; by an index of {@link addIndex}, if one is named. */
  list(query: CacheQuery = {}): readonly KubeObject[] {
    return this.#informer.list(query)
  }

  /** Only if it was asked for in the beginning. */
  withFinalizer(finalizer: string): readonly KubeObject[] {
    return this.#informer.list({ index: { name: finalizerIndex, value: finalizer } })
  }

  addIndex(name: string, values: (object: KubeObject) => readonly string[]): void {
    this.#informer.addIndex(name, values)
  }

  waitForAnswer(options: AbortOptions = {}): Promise<void> {
    return this.#informer.waitForAnswer(options)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('nobody depends on it any more'))
    await this.#source.stop()
    await this.#informer.release()
  }

  async #notifyWhenLate(onLate: () => void): Promise<void> {
    const { signal } = this.#stopping
    await this.#informer.waitForAnswer({ signal })
    if (this.#informer.hasSynced) return
    await this.#source.waitForSync({ signal })
    if (!signal.aborted) onLate()
  }
}
