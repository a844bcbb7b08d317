/**
 * What the KV service of etcd is asked and answers. Field numbers are those of etcd's `rpc.proto`
 * and `kv.proto`; requests and answers stand side by side.
 *
 * Invariant: keys are text of one byte per character, values are views into the answer.
 */
import { ProtobufReader, ProtobufWriter } from './protobuf.ts'

/** A range of keys: from `key` up to, but not including, `end`; without `end` that one key. */
export interface KeyRange {
  readonly key: string
  readonly end?: string
}

/** One key as etcd has it. */
export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly created: number
  readonly modified: number
  /** 0n when the key has no lease. */
  readonly lease: bigint
}

export interface RangeRequest extends KeyRange {
  /** 0 or absent means the newest. */
  readonly revision?: number
  /** 0 or absent means all. */
  readonly limit?: number
  readonly isKeysOnly?: boolean
}

export interface RangeResponse {
  /** The newest revision when the answer was made. */
  readonly revision: number
  readonly entries: readonly KeyValue[]
  /** How many keys the range has, whatever the limit. */
  readonly count: number
}

/** One write of a transaction; no value means delete. */
interface TxnWrite {
  readonly key: string
  /** The value in pieces. */
  readonly value?: readonly Uint8Array[]
  readonly lease?: bigint
}

/** Writes, if every key was last modified at the given revision (0: is absent); otherwise reads those keys. */
interface TxnRequest {
  readonly expected: readonly { readonly key: string; readonly revision: number }[]
  readonly writes: readonly TxnWrite[]
}

export interface TxnResponse {
  readonly revision: number
  readonly isDone: boolean
  /** When it was not done: what the expected keys were like, in their order. */
  readonly found: readonly (KeyValue | undefined)[]
}

export function encodeRange(request: RangeRequest): ProtobufWriter {
  const writer = new ProtobufWriter()
  writeRange(writer, request)
  return writer
}

export function decodeRange(message: Uint8Array): RangeResponse {
  return readRange(new ProtobufReader(message))
}

export function encodePut(key: string, value: Uint8Array): ProtobufWriter {
  return new ProtobufWriter().latin1(1, key).bytes(2, value)
}

export function encodeTxn({ expected, writes }: TxnRequest): ProtobufWriter {
  const writer = new ProtobufWriter()
  for (const { key, revision } of expected) {
    writer.message(1, (compare) => compare.int(2, compareModified).latin1(3, key).intAlways(6, revision))
  }
  for (const write of writes) writer.message(2, (operation) => writeOperation(operation, write))
  for (const { key } of expected) {
    writer.message(3, (operation) => operation.message(1, (range) => writeRange(range, { key })))
  }
  return writer
}

/** Several reads of single keys at one revision, as one transaction that does nothing else. */
export function encodeReads(keys: readonly string[]): ProtobufWriter {
  const writer = new ProtobufWriter()
  for (const key of keys) writer.message(2, (operation) => operation.message(1, (range) => writeRange(range, { key })))
  return writer
}

export function decodeTxn(message: Uint8Array): TxnResponse {
  const reader = new ProtobufReader(message)
  const found: (KeyValue | undefined)[] = []
  let [revision, isDone] = [0, false]
  while (reader.next()) {
    if (reader.field === 1) revision = readHeader(reader.message())
    else if (reader.field === 2) isDone = reader.flag()
    else if (reader.field === 3) readOperation(reader.message(), found)
    else reader.skip()
  }
  return { revision, isDone, found }
}

export function encodeCompact(revision: number): ProtobufWriter {
  return new ProtobufWriter().int(1, revision)
}

/** The revision in the header that every answer has. */
function readHeader(reader: ProtobufReader): number {
  let revision = 0
  while (reader.next()) {
    if (reader.field === 3) revision = reader.int()
    else reader.skip()
  }
  return revision
}

function readKeyValue(reader: ProtobufReader): KeyValue {
  let [key, created, modified, lease] = ['', 0, 0, 0n]
  let value: Uint8Array = nothing
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        key = reader.latin1()
        break
      case 2:
        created = reader.int()
        break
      case 3:
        modified = reader.int()
        break
      case 5:
        value = reader.bytes()
        break
      case 6:
        lease = reader.int64()
        break
      default:
        reader.skip()
    }
  }
  return { key, value, created, modified, lease }
}

const compareModified = 2
const nothing = new Uint8Array(0)

function writeRange(
  writer: ProtobufWriter,
  { key, end = '', revision = 0, limit = 0, isKeysOnly = false }: RangeRequest,
): void {
  writer.latin1(1, key).latin1(2, end).int(3, limit).int(4, revision).flag(8, isKeysOnly)
}

function writeOperation(writer: ProtobufWriter, { key, value, lease = 0n }: TxnWrite): void {
  if (value)
    writer.message(2, (put) =>
      put
        .latin1(1, key)
        .bytes(2, ...value)
        .int64(3, lease),
    )
  else writer.message(3, (remove) => remove.latin1(1, key))
}

function readRange(reader: ProtobufReader): RangeResponse {
  const entries: KeyValue[] = []
  let [revision, count] = [0, 0]
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        revision = readHeader(reader.message())
        break
      case 2:
        entries.push(readKeyValue(reader.message()))
        break
      case 4:
        count = reader.int()
        break
      default:
        reader.skip()
    }
  }
  return { revision, entries, count }
}

/** Of the answers inside a transaction only those to reads say anything. */
function readOperation(reader: ProtobufReader, found: (KeyValue | undefined)[]): void {
  while (reader.next()) {
    if (reader.field === 1) found.push(readRange(reader.message()).entries[0])
    else reader.skip()
  }
}

/*
 * What the Watch service of etcd is asked and answers.
 *
 * Invariant: an event of a delete has a key and a revision, never a value.
 */

export interface WatchEvent {
  readonly isDelete: boolean
  /** The new state; of a delete only the key and the revision. */
  readonly entry: KeyValue
  readonly previous: KeyValue | undefined
}

export interface WatchResponse {
  /** The newest revision that the sender knew. Not a promise that all before it was told. */
  readonly revision: number
  /** -1 for an answer that belongs to the whole stream. */
  readonly watchId: number
  readonly isCreated: boolean
  readonly isCanceled: boolean
  /** Above 0 when the watch was refused because its start was compacted. */
  readonly compacted: number
  readonly reason: string
  /** More of the same answer follows. */
  readonly isFragment: boolean
  readonly events: readonly WatchEvent[]
}

/** Asks for every change in the range from a revision on, with what was there before, in pieces that etcd can send. */
export function encodeWatch({ key, end = '' }: KeyRange, fromRevision: number): ProtobufWriter {
  return new ProtobufWriter().message(1, (create) =>
    create.latin1(1, key).latin1(2, end).int(3, fromRevision).flag(4, true).flag(6, true).flag(8, true),
  )
}

/** Asks how far the watches of this stream have come. */
export function encodeProgressRequest(): ProtobufWriter {
  return new ProtobufWriter().message(3, () => undefined)
}

export function decodeWatch(message: Uint8Array): WatchResponse {
  const reader = new ProtobufReader(message)
  const events: WatchEvent[] = []
  const answer = {
    revision: 0,
    watchId: 0,
    isCreated: false,
    isCanceled: false,
    compacted: 0,
    reason: '',
    isFragment: false,
    events,
  }
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        answer.revision = readHeader(reader.message())
        break
      case 2:
        answer.watchId = reader.int()
        break
      case 3:
        answer.isCreated = reader.flag()
        break
      case 4:
        answer.isCanceled = reader.flag()
        break
      case 5:
        answer.compacted = reader.int()
        break
      case 6:
        answer.reason = reader.text()
        break
      case 7:
        answer.isFragment = reader.flag()
        break
      case 11:
        events.push(readEvent(reader.message()))
        break
      default:
        reader.skip()
    }
  }
  return answer
}

function readEvent(reader: ProtobufReader): WatchEvent {
  let isDelete = false
  let [entry, previous]: [KeyValue | undefined, KeyValue | undefined] = [undefined, undefined]
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        isDelete = reader.flag()
        break
      case 2:
        entry = readKeyValue(reader.message())
        break
      case 3:
        previous = readKeyValue(reader.message())
        break
      default:
        reader.skip()
    }
  }
  return { isDelete, entry: entry ?? readKeyValue(new ProtobufReader(new Uint8Array(0))), previous }
}

/*
 * The small messages: leases, logging in, and how the server is.
 */

/** `ttl` is in seconds; 0 or less means that the lease is gone. */
interface LeaseResponse {
  readonly id: bigint
  readonly ttl: number
}

interface ServerStatus {
  readonly version: string
  readonly hasLeader: boolean
}

export function encodeGrant(id: bigint, ttl: number): ProtobufWriter {
  return new ProtobufWriter().int(1, ttl).int64(2, id)
}

/** A keep-alive, a revoke or a question how long a lease has left: all name the lease alone. */
export function encodeLease(id: bigint): ProtobufWriter {
  return new ProtobufWriter().int64(1, id)
}

/** The answer to a grant or a keep-alive. */
export function decodeLease(message: Uint8Array): LeaseResponse {
  const reader = new ProtobufReader(message)
  let [id, ttl] = [0n, 0]
  while (reader.next()) {
    if (reader.field === 2) id = reader.int64()
    else if (reader.field === 3) ttl = reader.int()
    else reader.skip()
  }
  return { id, ttl }
}

/** The time, in seconds, that a lease was granted with, from the answer to how long it has left. */
export function decodeGrantedTtl(message: Uint8Array): number {
  const reader = new ProtobufReader(message)
  let granted = 0
  while (reader.next()) {
    if (reader.field === 4) granted = reader.int()
    else reader.skip()
  }
  return granted
}

export function encodeLogin(user: string, password: string): ProtobufWriter {
  return new ProtobufWriter().text(1, user).text(2, password)
}

/** The token that says who is calling. */
export function decodeToken(message: Uint8Array): string {
  const reader = new ProtobufReader(message)
  let token = ''
  while (reader.next()) {
    if (reader.field === 2) token = reader.text()
    else reader.skip()
  }
  return token
}

export function decodeStatus(message: Uint8Array): ServerStatus {
  const reader = new ProtobufReader(message)
  let [version, hasLeader] = ['', false]
  while (reader.next()) {
    if (reader.field === 2) version = reader.text()
    else if (reader.field === 4) hasLeader = reader.int64() !== 0n
    else reader.skip()
  }
  return { version, hasLeader }
}
