/**
 * What a process has been shown: of every object the last version that arrived.
 *
 * Whether a process did wrong depends on what it could know, not on what was true.
 */
import { isJsonObject } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'

export class Sight {
  readonly #seen = new Map<string, UnstructuredObject>()
  /** What arrived and was not looked at yet: most of it never is. */
  #arrived: { readonly type: 'line' | 'body', readonly text: string }[] = []

  /** The last that was seen of an object; undefined when it never was, or was seen to go. */
  of(kind: string, { namespace = '', name }: { namespace?: string, name: string }): UnstructuredObject | undefined {
    this.#look()
    return this.#seen.get(`${kind} ${namespace}/${name}`)
  }

  /** All that was last seen. */
  all(): IterableIterator<UnstructuredObject> {
    this.#look()
    return this.#seen.values()
  }

  /** Objects that were last seen being deleted. */
  deleting(): UnstructuredObject[] {
    return [...this.all()].filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
  }

  /** A line of a watch arrived. */
  line(text: string): void {
    this.#arrived.push({ type: 'line', text })
  }

  /** An answer arrived: an object, or a list. */
  body(text: string): void {
    this.#arrived.push({ type: 'body', text })
  }

  #look(): void {
    for (const { type, text } of this.#arrived) {
      if (type === 'line') this.#line(text)
      else this.#body(text)
    }
    this.#arrived = []
  }

  #line(text: string): void {
    const event = parsed(text)
    const object = event?.['object']
    if (!isObject(object)) return
    if (event?.['type'] === 'DELETED') this.#seen.delete(keyOf(object))
    else if (event?.['type'] !== 'BOOKMARK') this.#seen.set(keyOf(object), object)
  }

  #body(text: string): void {
    const document = parsed(text)
    if (!document) return
    const { items, kind, apiVersion } = document
    if (!Array.isArray(items)) return this.#note(document)
    const type = { kind: String(kind).replace(/List$/, ''), apiVersion: apiVersion as string }
    for (const item of items) if (isJsonObject(item)) this.#note({ ...type, ...item })
  }

  #note(object: JsonObject): void {
    if (isObject(object) && object.kind !== 'Status') this.#seen.set(keyOf(object), object)
  }
}

function isObject(value: unknown): value is UnstructuredObject {
  return isJsonObject(value) && isJsonObject(value['metadata']) && typeof value['kind'] === 'string'
}

function keyOf({ kind, metadata: { namespace = '', name = '' } }: UnstructuredObject): string {
  return `${kind} ${namespace}/${name}`
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
