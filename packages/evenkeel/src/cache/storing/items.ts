/**
 * Items by namespace and name.
 *
 * Two maps deep, so that a namespace is listed without looking at the others and no key text is kept for each object.
 * What a list brought stays as rows (see `Rows`) until somebody asks for it; then it becomes an item for good, so an
 * object is the same item whoever asks and however often.
 *
 * Invariants: no namespace is empty; a name is either a row or an item; the order is that of arrival, but for what was
 * asked for one by one.
 */
import type { KubeObject } from '#api'
import { PackedBlocks } from './blocks.ts'
import type { CopiedLines } from './blocks.ts'
import { Item } from './item.ts'
import type { ItemDecoder } from './item.ts'
import { PackedRows } from './rows.ts'
import type { RowSpan, TakenRow } from './rows.ts'

/** The objects of one namespace. */
interface Names<T extends KubeObject> {
  readonly namespace: string
  readonly items: Map<string, Item<T>>
  rows: PackedRows | undefined
  /** How objects of rows are read. */
  form: ItemDecoder<T> | undefined
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

  /** About how much memory they take. */
  get bytes(): number {
    return this.#bytes
  }

  get(namespace: string, name: string): Item<T> | undefined {
    const names = this.#namespaces.get(namespace)
    return names && (names.items.get(name) ?? this.#find(names, name))
  }

  /** Puts an item in the place of the one with its name, which it gives back. */
  put(item: Item<T>): Item<T> | undefined {
    const names = this.#names(item.namespace)
    const old = names.items.get(item.name) ?? this.#find(names, item.name)
    names.items.set(item.name, item)
    this.#bytes += item.bytes
    if (old) this.#bytes -= old.bytes
    else this.#size++
    return old
  }

  /** Copies lines of a list to where their objects can stay when they are put in. */
  copyLines(bytes: Buffer, start: number): CopiedLines {
    return this.#blocks.copyLines(bytes, start)
  }

  /**
   * Puts in an object of a list as it lies in some bytes, in the place of the one with its name. False when it cannot be
   * kept that way: then it has to be put in as an item.
   */
  putListed(bytes: Buffer, place: RowSpan, { namespace, form }: { namespace: string; form: ItemDecoder<T> }): boolean {
    const names = this.#names(namespace)
    const rows = (names.rows ??= new PackedRows(this.#blocks))
    names.form = form
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

  /** All, or those of one namespace. Must not be kept while items come and go. */
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
      names = { namespace, items: new Map(), rows: undefined, form: undefined }
      this.#namespaces.set(namespace, names)
    }
    this.#last = names
    return names
  }

  /** A row has come in its place. */
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

  /** The item of a row, from now on. */
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
    const item = Item.ofBytes<T>({ ...row, namespace: names.namespace }, names.form as ItemDecoder<T>)
    names.items.set(row.name, item)
    this.#bytes += item.bytes
    return item
  }
}
