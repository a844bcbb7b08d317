/**
 * Items by namespace and name, and the item itself: one object as a cache keeps it.
 *
 * `Items` is two maps deep, so that one namespace is listed without looking at the others and no key text is kept for
 * each object. The objects of a list stay packed rows (see `packed-rows.ts`) until one is read; then it becomes an item
 * for good, so an object is the same item for every reader.
 *
 * An `Item` is JSON until it is read. JSON takes half the memory of the parsed object, and as bytes in a shared block it
 * costs the garbage collector nothing. The parsed object is frozen, shared, and kept only weakly: it lives as long as a
 * reader holds it; a later read parses again. Worked example for a list of two pods in namespace `shop`:
 *
 *   after the list      shop → rows: web, db                       2 rows, no item, nothing parsed
 *   find(shop, web)     shop → rows: db    items: web (parsed)     one row became an item
 *   reader is done      shop → rows: db    items: web (JSON)       the parsed object was collected
 *   event: db updated   shop → items: web (JSON), db (JSON)        the row of db was deleted
 *
 * `compareVersions` orders resource versions as far as a server's versions have an order.
 *
 * Invariants: no namespace is empty; a name is either a row or an item; the order is that of arrival, except for rows
 * that were read one by one; an item never changes; its object is frozen to its leaves and has no managed fields unless
 * the cache keeps them.
 */
import {
  ApiError,
  compareResourceVersions,
  deepFreeze,
  isJsonObject,
  isResourceVersion,
  type JsonObject,
  type KubeObject,
  parseJson,
} from '#api'
import { PackedBlocks, PackedRows, type CopiedLines, type RowSpan, type TakenRow } from './packed-rows.ts'

/** The objects of one namespace. */
interface Names<T extends KubeObject> {
  readonly namespace: string
  readonly items: Map<string, Item<T>>
  rows: PackedRows | undefined
  /** Decodes the objects of rows. */
  decoder: ItemDecoder<T> | undefined
}

export class Items<T extends KubeObject> {
  readonly #namespaces = new Map<string, Names<T>>()
  readonly #blocks = new PackedBlocks()
  #last: Names<T> | undefined
  #size = 0
  #bytes = 0

  get size(): number {
    return this.#size
  }

  /** The approximate memory. */
  get bytes(): number {
    return this.#bytes
  }

  get(namespace: string, name: string): Item<T> | undefined {
    const names = this.#namespaces.get(namespace)
    return names && (names.items.get(name) ?? this.#find(names, name))
  }

  /** Replaces the item of the same name, which is returned. */
  put(item: Item<T>): Item<T> | undefined {
    const names = this.#names(item.namespace)
    const old = names.items.get(item.name) ?? this.#find(names, item.name)
    names.items.set(item.name, item)
    this.#bytes += item.bytes
    if (old) this.#bytes -= old.bytes
    else this.#size++
    return old
  }

  /** Copies lines of a list to where their objects can stay when they are added. */
  copyLines(bytes: Buffer, start: number): CopiedLines {
    return this.#blocks.copyLines(bytes, start)
  }

  /**
   * Adds an object of a list as it stands in some bytes, in place of the one with its name. False when it cannot be kept
   * as a row: then it has to be added as an item.
   */
  putListed(
    bytes: Buffer,
    place: RowSpan,
    { namespace, decoder }: { namespace: string; decoder: ItemDecoder<T> },
  ): boolean {
    const names = this.#names(namespace)
    const rows = (names.rows ??= new PackedRows(this.#blocks))
    names.decoder = decoder
    const { size, bytes: before } = rows
    if (!rows.put(bytes, place)) return false
    this.#bytes += rows.bytes - before
    this.#size += rows.size - size
    if (names.items.size > 0) this.#dropItem(names, bytes.toString('latin1', place.nameStart, place.nameEnd))
    return true
  }

  delete(namespace: string, name: string): Item<T> | undefined {
    const names = this.#namespaces.get(namespace)
    const old = names && (names.items.get(name) ?? this.#find(names, name))
    if (!names || !old) return undefined
    names.items.delete(name)
    if (names.items.size === 0 && !names.rows) this.#forget(namespace)
    this.#size--
    this.#bytes -= old.bytes
    return old
  }

  /** All, or those of one namespace. Do not keep the iterator while items change. */
  *values(namespace?: string): Generator<Item<T>> {
    const wanted = namespace === undefined ? this.#namespaces.values() : [this.#namespaces.get(namespace)]
    for (const names of wanted) {
      if (!names) continue
      if (names.rows) this.#keepAll(names, names.rows)
      yield* names.items.values()
    }
  }

  #names(namespace: string): Names<T> {
    if (this.#last?.namespace === namespace) return this.#last
    let names = this.#namespaces.get(namespace)
    if (!names) {
      names = { namespace, items: new Map(), rows: undefined, decoder: undefined }
      this.#namespaces.set(namespace, names)
    }
    this.#last = names
    return names
  }

  /** A row replaced it. */
  #dropItem({ items }: Names<T>, name: string): void {
    const old = items.get(name)
    if (!old) return
    items.delete(name)
    this.#size--
    this.#bytes -= old.bytes
  }

  #forget(namespace: string): void {
    this.#namespaces.delete(namespace)
    this.#last = undefined
  }

  /** Turns a row into an item. */
  #find(names: Names<T>, name: string): Item<T> | undefined {
    const { rows } = names
    if (!rows) return undefined
    const before = rows.bytes
    const row = rows.take(name)
    if (!row) return undefined
    this.#bytes += rows.bytes - before
    if (rows.size === 0) names.rows = undefined
    return this.#keep(names, row)
  }

  #keepAll(names: Names<T>, rows: PackedRows): void {
    this.#bytes -= rows.bytes
    names.rows = undefined
    for (const row of rows.takeAll()) this.#keep(names, row)
  }

  #keep(names: Names<T>, row: TakenRow): Item<T> {
    const item = Item.ofBytes<T>({ ...row, namespace: names.namespace }, names.decoder as ItemDecoder<T>)
    names.items.set(row.name, item)
    this.#bytes += item.bytes
    return item
  }
}

/** What the items of one cache have in common. */
export interface ItemDecoder<T extends KubeObject> {
  /** Turns a freshly parsed object into what readers see; may change it in place. */
  decode(object: JsonObject): T
  /** Called when the text of an item is no object: the list must be requested again. */
  onBroken?(error: Error): void
}

interface ItemNames {
  readonly namespace: string
  readonly name: string
  readonly version: string
}

/** An item's names, and its object as JSON text. */
interface ItemText extends ItemNames {
  readonly text: string
}

/** An item's names, and the position of its JSON in a block. */
interface ItemBytes extends ItemNames {
  readonly block: Buffer
  readonly start: number
  readonly end: number
}

/** The memory of an item beside its object: itself, its name, its version, its entry in a map. */
const itemBytes = 250

export class Item<T extends KubeObject = KubeObject> {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  /** `metadata.resourceVersion` */
  readonly version: string
  readonly #decoder: ItemDecoder<T> | undefined
  readonly #held: string | Buffer | T
  readonly #start: number
  readonly #end: number
  #parsed: WeakRef<T> | undefined

  private constructor(
    { namespace, name, version }: ItemNames,
    held: string | Buffer | T,
    { decoder, start = 0, end = 0 }: { decoder?: ItemDecoder<T>; start?: number; end?: number } = {},
  ) {
    this.namespace = namespace
    this.name = name
    this.version = version
    this.#held = held
    this.#start = start
    this.#end = end
    this.#decoder = decoder
  }

  /** Keeps a position in a block, which must not change any more. */
  static ofBytes<T extends KubeObject>(bytes: ItemBytes, decoder: ItemDecoder<T>): Item<T> {
    return new Item<T>(bytes, bytes.block, { decoder, start: bytes.start, end: bytes.end })
  }

  /** Keeps the text; the decoder turns it into an object when it is read. */
  static ofText<T extends KubeObject>(text: ItemText, decoder: ItemDecoder<T>): Item<T> {
    return new Item<T>(text, text.text, { decoder })
  }

  /**
   * Keeps an object as it is, and freezes it.
   *
   * @throws {RangeError} when it has no name.
   */
  static ofObject<T extends KubeObject>(object: T): Item<T> {
    const { namespace = '', name, resourceVersion = '' } = object.metadata
    if (!name) throw new RangeError(`cannot cache a ${object.kind} without metadata.name`)
    return new Item<T>({ namespace, name, version: resourceVersion }, deepFreeze(object), { end: parsedBytes(object) })
  }

  /** The object, frozen. */
  get object(): T {
    const held = this.#held
    if (typeof held !== 'string' && !Buffer.isBuffer(held)) return held
    const known = this.#parsed?.deref()
    if (known !== undefined) return known
    const object = deepFreeze(
      this.#parse(typeof held === 'string' ? held : held.toString('utf8', this.#start, this.#end)),
    )
    this.#parsed = new WeakRef(object)
    return object
  }

  get uid(): string {
    return this.object.metadata.uid ?? ''
  }

  /** The approximate memory while the object is not parsed. */
  get bytes(): number {
    const held = this.#held
    return (
      itemBytes + (typeof held === 'string' ? held.length : Buffer.isBuffer(held) ? this.#end - this.#start : this.#end)
    )
  }

  #parse(text: string): T {
    try {
      const value: unknown = parseJson(text)
      if (isJsonObject(value)) return (this.#decoder as ItemDecoder<T>).decode(value)
      throw new TypeError('not an object')
    } catch (cause) {
      const error = new ApiError(
        'InternalError',
        `cannot decode the cached JSON of ${JSON.stringify(this.name)}; the list is requested again`,
        { cause },
      )
      this.#decoder?.onBroken?.(error)
      throw error
    }
  }
}

/** The approximate memory of a parsed value. */
function parsedBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const inner of Object.values(value)) bytes += 8 + parsedBytes(inner)
  return bytes
}

/** Below 0 when `a` is older; undefined when the server's versions cannot be compared: then only equality means something. */
export function compareVersions(a: string, b: string): number | undefined {
  return isResourceVersion(a) && isResourceVersion(b) ? compareResourceVersions(a, b) : undefined
}

/** Whether everything up to `seen` includes what happened at `wanted`. */
export function hasReachedVersion(seen: string, wanted: string): boolean {
  return (compareVersions(seen, wanted) ?? (seen === wanted ? 0 : -1)) >= 0
}
