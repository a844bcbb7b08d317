/**
 * Owners that are known not to exist, so that ten thousand children of one owner ask for it once.
 *
 * An owner is absent under the name, kind and namespace by which it was looked for: the same uid may well be there under
 * another name, when a reference is wrong. Uids are never given twice, so what is absent stays absent.
 *
 * Invariant: no more than `sizeMax` of each are remembered, the least recently used are forgotten first; forgetting costs
 * a question to the server, nothing else.
 */
import type { Identity } from './facts.ts'

export class AbsentOwners {
  readonly #absent: Recent<true>
  readonly #orphanedAt: Recent<string>

  /** @param options.sizeMax 1000 unless it is given */
  constructor({ sizeMax = 1000 }: { sizeMax?: number } = {}) {
    this.#absent = new Recent(sizeMax)
    this.#orphanedAt = new Recent(sizeMax)
  }

  add(identity: Identity): void {
    this.#absent.set(textOf(identity), true)
  }

  has(identity: Identity): boolean {
    return this.#absent.get(textOf(identity)) === true
  }

  /** Remembers that an owner went, or goes, without its dependents, and when that was wanted. */
  noteOrphaned(uid: string, deletedAt: string): void {
    this.#orphanedAt.set(uid, deletedAt)
  }

  /**
   * Whether the owner left this dependent behind on purpose. Those that were there when its deletion was wanted are meant;
   * what was made later for an owner that was going is garbage like any other.
   */
  hasOrphaned(uid: string, createdAt: string): boolean {
    const deletedAt = this.#orphanedAt.get(uid)
    // RFC 3339 in UTC, by the second, both by the server: text order is time order.
    return deletedAt !== undefined && createdAt <= deletedAt
  }
}

class Recent<V> {
  readonly #sizeMax: number
  readonly #values = new Map<string, V>()

  constructor(sizeMax: number) {
    if (!(Number.isInteger(sizeMax) && sizeMax >= 1))
      throw new RangeError(`sizeMax must be a whole number of 1 or more, got ${sizeMax}`)
    this.#sizeMax = sizeMax
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#sizeMax && oldest !== undefined) this.#values.delete(oldest)
  }
}

function textOf({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return JSON.stringify([uid, apiVersion, kind, namespace, name])
}
