/**
 * Where our keys lie in etcd, and how an entry of etcd looks to users of the store.
 *
 * Invariants: keys of the store never show the prefix; the one key that is ours alone, the
 * marker, lies below the prefix but outside of every range that is read, because it begins with a
 * character that no key has.
 */
import { StoreError, type Entry } from '../store.ts'
import type { KeyRange, KeyValue } from './messages.ts'

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

/*
 * What we put into etcd for a value, because etcd numbers a commit only once it is made: the
 * value as the writer gave it, behind a header that says where the revision goes and who wrote it.
 *
 *   00 'E' 'K' │ version 1 │ nonce, 8 bytes │ stamp position + 1 as a varint, 0 for none │ value
 *
 * Invariants: every put of one commit carries the same nonce, and no other commit has it, so a
 * writer whose answer was lost can find out whether it was heard; what is read out never shows the
 * header and never shares memory with the message it came in.
 */

export const nonceBytes = 8

const magic = [0x00, 0x45, 0x4b] as const
const version = 1
const nonceAt = magic.length + 1
const stampAt = nonceAt + nonceBytes

/** The bytes that go in front of a value. */
export function valueHeader(nonce: Uint8Array, stamp: number | undefined): Uint8Array {
  const header = [...magic, version, ...nonce]
  let rest = stamp === undefined ? 0 : stamp + 1
  for (; rest > 0x7f; rest >>>= 7) header.push((rest & 0x7f) | 0x80)
  header.push(rest)
  return Uint8Array.from(header)
}

/**
 * The value as the writer meant it, with the revision where it belongs.
 *
 * @throws {StoreError} `Damaged` for bytes that we did not write, `NewerFormat` for those of a later release.
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
      `the value of ${key} has format ${found}, this release knows ${version}; upgrade`,
    )
}

/** Where the revision goes in the value, and where the value begins. */
function readStamp(key: string, stored: Uint8Array): { stamp: number | undefined; start: number } {
  let [position, start] = [0, stampAt]
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = stored[start++] ?? 0
    position |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  const stamp = position === 0 ? undefined : position - 1
  if (start > stored.length || (stamp ?? 0) > stored.length - start)
    throw new StoreError('Damaged', `the value of ${key} in etcd is cut off; restore it from a backup`)
  return { stamp, start }
}
