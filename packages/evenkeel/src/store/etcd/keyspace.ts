/**
 * Where our keys lie in etcd, and how an entry of etcd looks to users of the store.
 *
 * Invariants: keys of the store never show the prefix; the one key that is ours alone, the
 * marker, lies below the prefix but outside of every range that is read, because it begins with a
 * character that no key has.
 */
import type { Entry } from '../store.ts'
import type { KeyRange, KeyValue } from './rpc/kv-messages.ts'
import { openValue } from './stored-value.ts'

export class EtcdKeyspace {
  readonly #prefix: string
  /** Everything of ours, with the marker. */
  readonly all: KeyRange
  /** A key that is written when nothing else moves (see `upstream`). */
  readonly marker: string

  constructor(prefix: string) {
    this.#prefix = prefix
    this.all = { key: prefix, end: endOf(prefix) }
    this.marker = `${prefix}\u0000marker`
  }

  /** A key as etcd has it. */
  inEtcd(key: string): string {
    return this.#prefix + key
  }

  /** A key as the store has it. */
  inStore(key: string): string {
    return key.slice(this.#prefix.length)
  }

  /** All keys that begin with a prefix, behind `after` if that is given. */
  range(prefix: string, after?: string): KeyRange {
    const first = this.#prefix + (prefix === '' ? '!' : prefix)
    const behind = after === undefined ? '' : `${this.#prefix}${after}\u0000`
    return { key: behind > first ? behind : first, end: endOf(this.#prefix + prefix) }
  }

  /** @throws {StoreError} `Damaged` or `NewerFormat` when the value is not one of ours. */
  entry({ key, value, created, modified, lease }: KeyValue): Entry {
    const own = this.inStore(key)
    const entry = { key: own, value: openValue(own, value, modified), revision: modified, created }
    return lease === 0n ? entry : { ...entry, lease: String(lease) }
  }
}

/** The first text behind all that begin with the prefix. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
