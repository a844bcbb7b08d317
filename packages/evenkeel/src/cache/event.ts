/**
 * A cache event: what happened to one object since the last event that this handler got for it.
 *
 * Objects are parsed when they are read: a handler that needs only keys does not pay for parsing. Events of one object
 * can be merged, e.g. `add v1` and `update v1 → v3` become `add v3`.
 */
import { formatKey, type KubeObject, type ObjectKey } from '#api'
import type { Item } from './items.ts'
import type { OwnWrites } from './own-writes.ts'

type CacheEventType = 'add' | 'update' | 'delete'

/** What the events of one informer have in common. */
export interface EventContext {
  readonly cluster: string
  readonly group: string
  readonly kind: string
  readonly ownWrites: OwnWrites
}

export interface EventFacts<T extends KubeObject> {
  readonly type: CacheEventType
  readonly item: Item<T>
  /** The state of the handler's last event; undefined if there was none. */
  readonly old?: Item<T> | undefined
  readonly isInitial?: boolean
  readonly isResync?: boolean
  /** Found by comparing lists: the history in between is unknown. */
  readonly isListed?: boolean
}

export class CacheEvent<T extends KubeObject = KubeObject> {
  readonly type: CacheEventType
  /** Part of the objects that existed when the handler was added. */
  readonly isInitial: boolean
  /** Nothing changed: the object is delivered again because of `resyncMs`. */
  readonly isResync: boolean
  /** Found by comparing lists after an interruption. */
  readonly isListed: boolean
  readonly #context: EventContext
  readonly #item: Item<T>
  readonly #old: Item<T> | undefined
  /** Projects the object for this handler; undefined: whole. */
  #show: ((object: KubeObject) => T) | undefined

  constructor(
    context: EventContext,
    { type, item, old, isInitial = false, isResync = false, isListed = false }: EventFacts<T>,
  ) {
    this.type = type
    this.isInitial = isInitial
    this.isResync = isResync
    this.isListed = isListed
    this.#context = context
    this.#item = item
    this.#old = old
  }

  /** The object after the change; for `delete` the last known state. */
  get object(): T {
    return this.#show ? this.#show(this.#item.object) : this.#item.object
  }

  /** The object of the handler's last event. */
  get old(): T | undefined {
    const old = this.#old?.object
    return old && this.#show ? this.#show(old) : old
  }

  get resourceVersion(): string {
    return this.#item.version
  }

  get key(): ObjectKey {
    const { cluster, group, kind } = this.#context
    const { namespace, name } = this.#item
    return { cluster, group, kind, ...(namespace !== '' && { namespace }), name }
  }

  /** The canonical text of the key. */
  get keyText(): string {
    const { cluster, group, kind } = this.#context
    return formatKey({ cluster, group, kind, namespace: this.#item.namespace, name: this.#item.name })
  }

  /** An update to another object of the same name: the first one was deleted in between. */
  get isReplaced(): boolean {
    return (
      this.type === 'update' && this.#old !== undefined && this.#old !== this.#item && this.#old.uid !== this.#item.uid
    )
  }

  /** A delete that was found by comparing lists: the last state may be stale. */
  get isStateUnknown(): boolean {
    return this.type === 'delete' && this.isListed
  }

  /** Exactly our own write, without a change of another writer. Never true for changes found by a list. */
  get isOwn(): boolean {
    if (this.isListed || this.isInitial || this.isResync || this.type === 'delete') return false
    const { namespace, name, version } = this.#item
    return this.#context.ownWrites.explains({ namespace, name, from: this.#old?.version ?? '', to: version })
  }

  /** The same event for a handler with another projection. */
  through<V extends KubeObject>(show: (object: KubeObject) => V): CacheEvent<V> {
    const { type, isInitial, isResync, isListed } = this
    const event = new CacheEvent<V>(this.#context, {
      type,
      item: this.#item as unknown as Item<V>,
      old: this.#old as Item<V> | undefined,
      isInitial,
      isResync,
      isListed,
    })
    event.#show = show
    return event
  }

  /**
   * This event and a later one of the same object as one; undefined when together they are nothing: an object that was
   * created and deleted before the handler got an event for it.
   */
  merge(next: CacheEvent<T>): CacheEvent<T> | undefined {
    if (next.isResync) return this
    const isListed = this.isListed || next.isListed
    if (this.type === 'add') {
      return next.type === 'delete'
        ? undefined
        : new CacheEvent(this.#context, { type: 'add', item: next.#item, isInitial: this.isInitial, isListed })
    }
    const old = this.#old ?? (this.type === 'delete' ? this.#item : undefined)
    return new CacheEvent(this.#context, {
      type: next.type === 'delete' ? 'delete' : 'update',
      item: next.#item,
      old,
      isListed,
    })
  }
}
