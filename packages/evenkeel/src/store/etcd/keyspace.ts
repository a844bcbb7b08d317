/**
 * The mapping between keys and values of the store and those in etcd.
 *
 * A value is stored behind a header, because etcd assigns the revision of a commit only when it
 * applies it. The header says where the revision goes, and which commit wrote the value:
 *
 *   00 'E' 'K' │ version 1 │ nonce, 8 bytes │ stamp offset + 1 as a varint, 0 for none │ value
 *
 * Invariants: keys of the store never contain the prefix; the internal marker key lies under the
 * prefix but outside of every range that is read, because it starts with a character that no key
 * has; all puts of one commit carry the same nonce, and no other commit has it, so that a writer
 * whose response was lost can find out whether its commit was applied; a value that is read out has
 * no header and shares no memory with the response.
 *
 * Example. The prefix is `/evenkeel/`; key `pods/a` has the value `{"rv":""}` with `stampAt` 7:
 *
 *   key in etcd     /evenkeel/pods/a
 *   value in etcd   00 45 4b │ 01 │ nonce │ 08 │ {"rv":""}
 *   read at 42      {"rv":"42"}
 */
import { StoreError, type Entry } from '../store.ts'
import type { KeyRange, KeyValue } from './messages.ts'

export class EtcdKeyspace {
  readonly #prefix: string
  /** All keys under the prefix, including the marker. */
  readonly all: KeyRange
  /** A key that is written to make a watch progress (see `upstream`). */
  readonly marker: string

  constructor(prefix: string) {
    this.#prefix = prefix
    this.all = { key: prefix, end: endOf(prefix) }
    this.marker = `${prefix}\u0000marker`
  }

  /** The key in etcd. */
  inEtcd(key: string): string {
    return this.#prefix + key
  }

  /** The key in the store. */
  inStore(key: string): string {
    return key.slice(this.#prefix.length)
  }

  /** All keys that start with a prefix; with `after`, only those after that key. */
  range(prefix: string, after?: string): KeyRange {
    const first = this.#prefix + (prefix === '' ? '!' : prefix)
    const behind = after === undefined ? '' : `${this.#prefix}${after}\u0000`
    return { key: behind > first ? behind : first, end: endOf(this.#prefix + prefix) }
  }

  /** @throws {StoreError} `Damaged` or `NewerFormat` when the value was not written by this release. */
  entry({ key, value, created, modified, lease }: KeyValue): Entry {
    const own = this.inStore(key)
    const entry = { key: own, value: openValue(own, value, modified), revision: modified, created }
    return lease === 0n ? entry : { ...entry, lease: String(lease) }
  }
}

/** The first string after all strings that start with the prefix. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

export const nonceBytes = 8

const magic = [0x00, 0x45, 0x4b] as const
const version = 1
const nonceAt = magic.length + 1
const stampAt = nonceAt + nonceBytes

/** The header of a value. */
export function valueHeader(nonce: Uint8Array, stamp: number | undefined): Uint8Array {
  const header = [...magic, version, ...nonce]
  let rest = stamp === undefined ? 0 : stamp + 1
  for (; rest > 0x7f; rest >>>= 7) header.push((rest & 0x7f) | 0x80)
  header.push(rest)
  return Uint8Array.from(header)
}

/**
 * The value without its header, with the revision inserted.
 *
 * @throws {StoreError} `Damaged` for a foreign value, `NewerFormat` for a value of a newer release.
 */
export function openValue(key: string, stored: Uint8Array, revision: number): Uint8Array {
  checkHeader(key, stored)
  const { stamp, start } = readStamp(key, stored)
  if (stamp === undefined) return Uint8Array.from(stored.subarray(start))
  const digits = String(revision)
  const value = new Uint8Array(stored.length - start + digits.length)
  value.set(stored.subarray(start, start + stamp))
  for (let index = 0; index < digits.length; index++) value[stamp + index] = digits.charCodeAt(index)
  value.set(stored.subarray(start + stamp), stamp + digits.length)
  return value
}

/** True when the commit with this nonce wrote the value. */
export function isWrittenBy(nonce: Uint8Array, stored: Uint8Array): boolean {
  return stored.length > stampAt && nonce.every((byte, index) => stored[nonceAt + index] === byte)
}

function checkHeader(key: string, stored: Uint8Array): void {
  if (stored.length <= stampAt || magic.some((byte, index) => stored[index] !== byte)) {
    throw new StoreError(
      'Damaged',
      `the value of ${key} in etcd was not written by Evenkeel; delete the key with etcdctl, or use another prefix`,
    )
  }
  const found = stored[magic.length] ?? 0
  if (found !== version)
    throw new StoreError(
      'NewerFormat',
      `the value of ${key} in etcd has format ${found}, but this release reads format ${version}; upgrade Evenkeel`,
    )
}

/** The offset of the revision in the value, and the start of the value. */
function readStamp(key: string, stored: Uint8Array): { stamp: number | undefined; start: number } {
  let [position, start] = [0, stampAt]
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = stored[start++] ?? 0
    position |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  const stamp = position === 0 ? undefined : position - 1
  if (start > stored.length || (stamp ?? 0) > stored.length - start)
    throw new StoreError('Damaged', `the value of ${key} in etcd is truncated; restore it from a backup`)
  return { stamp, start }
}
