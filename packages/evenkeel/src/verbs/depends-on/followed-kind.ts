/**
 * A kind that is depended on, followed in the cache for as long as somebody depends on it.
 *
 * It need not be there, and need not be readable: that is something to tell the referers, not a reason to wait. When it
 * comes late, all who asked for it are told, whether there are objects of it or not.
 */
import { isForbidden, isNotFound, isUnauthorized, type Kind, type KubeObject, type TypeMeta } from '#api'
import type { AbortOptions, Clock } from '#base'
import type { CacheKind, CacheQuery, InformerHandle } from '#cache'
import { isUnknownKind, type Client } from '#client'
import { kindSource, type EventHandler, type SourceContext, type StartedSource } from '#controller'
import type { GroupKind, ObjectRef } from './reference.ts'

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

/*
 * From a group and a kind to the version that the server prefers.
 *
 * A kind that is not there is looked for again, because its definition may come, but not with every question.
 */

/** For so long nobody asks again. */
const reloadMs = 5000

export class KindFinder {
  readonly #clock: Clock
  #loadedAtMs = -Infinity

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /** The kind as it can be followed; undefined when the server has none of it. `fresh`: what was found before is of no use any more. */
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

/** A kind that needs no finding. */
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
