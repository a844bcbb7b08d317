/**
 * Bytes that arrived and that nobody has read yet, of a connection, of its user once it is known, and of all connections.
 *
 * Whoever cannot show credentials must not make the server hold much: a connection may hold a little, a user a part of
 * the whole, and all together no more than the limit, however many there are.
 *
 *   all connections   64 MiB of unread bytes at most
 *     user ada        16 MiB at most
 *       connection 1  1 MiB at most
 *     connection 2    1 MiB at most; nobody knows whose
 */
export class HeldBytes {
  readonly #max: number
  #parent: HeldBytes | undefined
  #size = 0

  constructor(max: number, { parent }: { parent?: HeldBytes } = {}) {
    this.#max = max
    this.#parent = parent
  }

  get size(): number {
    return this.#size
  }

  /** Counts bytes; false when they are too many, and then they are not counted. */
  add(bytes: number): boolean {
    if (this.#size + bytes > this.#max || this.#parent?.add(bytes) === false) return false
    this.#size += bytes
    return true
  }

  remove(bytes: number): void {
    this.#size -= bytes
    this.#parent?.remove(bytes)
  }

  /** Counts from now on as part of another one; false when that has no room. */
  moveTo(parent: HeldBytes): boolean {
    if (!parent.add(this.#size)) return false
    this.#parent?.remove(this.#size)
    this.#parent = parent
    return true
  }
}
