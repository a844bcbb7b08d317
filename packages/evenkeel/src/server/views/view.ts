/**
 * All objects of one kind as they are now, parsed, in memory: for rooms that need them with every request.
 *
 * Permissions, webhooks and policies are objects that the server itself obeys. Reading them from the store for every
 * request would cost more than the request. A view follows the store; {@link Views.caughtUp} says how far it is.
 *
 * Invariant: `version` grows with every change, so that whoever computes something from a view knows when to do it again.
 */
import type { UnstructuredObject } from '#api'
import { StoredObject } from '../storage/bytes.ts'

/** Hears what was there, if anything, and what is there now, if anything. */
type InformerListener = (old: UnstructuredObject | undefined, next: UnstructuredObject | undefined) => void

export class Informer {
  /** Group and plural, as in `views.of`. */
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

  /** The object of that name; shared, never to be changed. */
  get(name: string, { namespace = '' }: { namespace?: string } = {}): UnstructuredObject | undefined {
    return this.#objects.get(`${namespace}/${name}`)
  }

  /** All objects, sorted by namespace and name; shared, never to be changed. */
  list(): readonly UnstructuredObject[] {
    if (this.#listed?.version !== this.#version) {
      const objects = [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
      this.#listed = { version: this.#version, objects }
    }
    return this.#listed.objects
  }

  /** Tells of every change from now on, right when it happens: for who keeps something that is costly to make anew. */
  addEventHandler(listener: InformerListener): void {
    this.#listeners.push(listener)
  }

  /** Everything is as in these entries. */
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
