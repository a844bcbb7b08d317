/**
 * What a handler hears: what happened to one object, since the last thing that this handler heard of it.
 *
 * Objects are parsed when they are asked for: a handler that only wants keys pays nothing for them.
 */
import { formatKey, type KubeObject, type ObjectKey } from '#api'
import type { Item } from './items.ts'
import type { OwnWrites } from './own-writes.ts'

export type CacheEventType = 'add' | 'update' | 'delete'

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
  /** What the handler heard last; undefined for what it has never heard of. */
  readonly old?: Item<T> | undefined
  readonly isInitial?: boolean
  readonly isResync?: boolean
  /** Found by comparing lists: what happened in between nobody knows. */
  readonly isListed?: boolean
}

export class CacheEvent<T extends KubeObject = KubeObject> {
  readonly type: CacheEventType
  /** Part of what was there when the handler came. */
  readonly isInitial: boolean
  /** Nothing happened: the object is told again because its time has come. */
  readonly isResync: boolean
  /** Found by comparing lists after an interruption. */
  readonly isListed: boolean
  readonly #context: EventContext
  readonly #item: Item<T>
  readonly #old: Item<T> | undefined
  /** What the handler sees of an object; undefined: all of it. */
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

  /** The object after the change; for `delete` the last state that is known. */
  get object(): T {
    return this.#show ? this.#show(this.#item.object) : this.#item.object
  }

  /** The object as the handler heard of it last. */
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

  /** An update from one object to another of the same name: the first was deleted in between. */
  get isReplaced(): boolean {
    return (
      this.type === 'update' && this.#old !== undefined && this.#old !== this.#item && this.#old.uid !== this.#item.uid
    )
  }

  /** A delete that was noticed by its absence: the last state may be older than the object became. */
  get isStateUnknown(): boolean {
    return this.type === 'delete' && this.isListed
  }

  /** Exactly what we wrote ourselves, and nothing of anybody else's. Never said of what a list showed. */
  get isOwn(): boolean {
    if (this.isListed || this.isInitial || this.isResync || this.type === 'delete') return false
    const { namespace, name, version } = this.#item
    return this.#context.ownWrites.explains({ namespace, name, from: this.#old?.version ?? '', to: version })
  }

  /** The same event for somebody who sees another part of the objects. */
  through<V extends KubeObject>(show: (object: KubeObject) => V): CacheEvent<V> {
    const { type, isInitial, isResync, isListed } = this
    const event = new CacheEvent<V>(this.#context, {
      type,
      item: this.#item as unknown as Item<V>,
      old: this.#old as unknown as Item<V> | undefined,
      isInitial,
      isResync,
      isListed,
    })
    event.#show = show
    return event
  }

  /**
   * This event and a later one of the same object as one; undefined when together they are nothing: an object that
   * came and went before the handler heard of it.
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
