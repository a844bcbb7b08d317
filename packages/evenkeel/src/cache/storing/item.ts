/**
 * One object as a cache holds it: JSON until somebody looks inside, frozen and shared when somebody does.
 *
 * JSON takes half the memory of the parsed object, and as bytes in a block it shares with others (see `Blocks`) nothing
 * of the garbage collector's time. The parsed form is kept only as long as somebody holds it, or until memory is wanted
 * for something else; reading again parses again.
 *
 * Invariants: an item never changes; what it hands out is frozen to its leaves and has no managed fields unless the
 * cache was asked to keep them.
 */
import { ApiError, deepFreeze, isJsonObject } from '#api'
import type { JsonObject, KubeObject } from '#api'

/** What the items of one cache have in common. */
export interface ItemDecoder<T extends KubeObject> {
  /** Turns an object that was parsed a moment ago into what readers see; may change it in place. */
  decode(object: JsonObject): T
  /** Hears of an item whose text turned out to be no object: the server must be asked again. */
  onBroken?(error: Error): void
}

interface ItemNames {
  readonly namespace: string
  readonly name: string
  readonly version: string
}

/** An item's names, and its object as JSON text. */
export interface ItemText extends ItemNames {
  readonly text: string
}

/** An item's names, and where in a block its JSON is. */
interface ItemBytes extends ItemNames {
  readonly block: Buffer
  readonly start: number
  readonly end: number
}

/** What an item takes beside its object: itself, its name, its version, its place in a map. */
const itemBytes = 250

export class Item<T extends KubeObject = KubeObject> {
  /** Empty for objects of the whole cluster. */
  readonly namespace: string
  readonly name: string
  /** `metadata.resourceVersion` */
  readonly version: string
  readonly #form: ItemDecoder<T> | undefined
  readonly #held: string | Buffer | T
  readonly #start: number
  readonly #end: number
  #parsed: WeakRef<T> | undefined

  private constructor(
    { namespace, name, version }: ItemNames,
    held: string | Buffer | T,
    { form, start = 0, end = 0 }: { form?: ItemDecoder<T>; start?: number; end?: number } = {},
  ) {
    this.namespace = namespace
    this.name = name
    this.version = version
    this.#held = held
    this.#start = start
    this.#end = end
    this.#form = form
  }

  /** Keeps a place in a block, which must not change any more. */
  static ofBytes<T extends KubeObject>(bytes: ItemBytes, form: ItemDecoder<T>): Item<T> {
    return new Item<T>(bytes, bytes.block, { form, start: bytes.start, end: bytes.end })
  }

  /** Keeps the text; the form turns it into an object when one is wanted. */
  static ofText<T extends KubeObject>(text: ItemText, form: ItemDecoder<T>): Item<T> {
    return new Item<T>(text, text.text, { form })
  }

  /**
   * Keeps an object as it is, and freezes it.
   *
   * @throws {RangeError} when it has no name.
   */
  static ofObject<T extends KubeObject>(object: T): Item<T> {
    const { namespace = '', name, resourceVersion = '' } = object.metadata
    if (!name) throw new RangeError(`a ${object.kind} without a name cannot be kept in a cache`)
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

  /** About how much memory it takes while nobody looks inside. */
  get bytes(): number {
    const held = this.#held
    return (
      itemBytes + (typeof held === 'string' ? held.length : Buffer.isBuffer(held) ? this.#end - this.#start : this.#end)
    )
  }

  #parse(text: string): T {
    try {
      const value: unknown = JSON.parse(text)
      if (isJsonObject(value)) return (this.#form as ItemDecoder<T>).decode(value)
      throw new TypeError('not an object')
    } catch (cause) {
      const error = new ApiError(
        'InternalError',
        `what the server sent as ${JSON.stringify(this.name)} cannot be read; it is being asked again`,
        { cause },
      )
      this.#form?.onBroken?.(error)
      throw error
    }
  }
}

/** About how much memory a parsed value takes. */
function parsedBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const inner of Object.values(value)) bytes += 8 + parsedBytes(inner)
  return bytes
}
