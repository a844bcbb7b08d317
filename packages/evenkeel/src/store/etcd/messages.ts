/**
 * The messages of etcd's KV, Watch, Lease, Auth and Maintenance services. Field numbers are those of
 * etcd's `rpc.proto` and `kv.proto`.
 *
 * Invariants: keys are strings of one byte per character; values are views into the response; a
 * delete event has a key and a revision, never a value.
 *
 * Example. A transaction that updates `a`, if it is still at revision 7, encodes to
 *
 *   compare { target: MOD (2), key: 'a', mod_revision: 7 } · success [put a] · failure [range a]
 *
 * The response carries `succeeded`, the revision, and in the failure case the current `a`.
 */
import { ProtobufReader, ProtobufWriter } from './protobuf.ts'

/** A range of keys: from `key` up to, but not including, `end`; without `end` that one key. */
export interface KeyRange {
  readonly key: string
  readonly end?: string
}

/** One key of etcd. */
export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly created: number
  readonly modified: number
  /** 0n when the key has no lease. */
  readonly lease: bigint
}

export interface RangeRequest extends KeyRange {
  /** 0 or absent: the newest revision. */
  readonly revision?: number
  /** 0 or absent: no limit. */
  readonly limit?: number
  readonly isKeysOnly?: boolean
}

export interface RangeResponse {
  /** The newest revision of the store. */
  readonly revision: number
  readonly entries: readonly KeyValue[]
  /** The number of keys in the range, regardless of the limit. */
  readonly count: number
}

/** One write of a transaction; without a value it deletes the key. */
interface TxnWrite {
  readonly key: string
  /** The value in pieces. */
  readonly value?: readonly Uint8Array[]
  readonly lease?: bigint
}

/** Applies the writes if every expected key was last modified at its revision (0: absent); otherwise reads those keys. */
interface TxnRequest {
  readonly expected: readonly { readonly key: string; readonly revision: number }[]
  readonly writes: readonly TxnWrite[]
}

export interface TxnResponse {
  readonly revision: number
  readonly isDone: boolean
  /** When it was not done: the current state of the expected keys, in their order. */
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

/** Reads several keys at one revision, as a transaction without writes. */
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

/** The revision in the header of a response. */
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

/** Collects the results of reads in a transaction; the results of writes carry nothing. */
function readOperation(reader: ProtobufReader, found: (KeyValue | undefined)[]): void {
  while (reader.next()) {
    if (reader.field === 1) found.push(readRange(reader.message()).entries[0])
    else reader.skip()
  }
}

export interface WatchEvent {
  readonly isDelete: boolean
  /** The new state; for a delete only the key and the revision. */
  readonly entry: KeyValue
  readonly previous: KeyValue | undefined
}

export interface WatchResponse {
  /** The newest revision of the server. It does not mean that all events up to it were sent. */
  readonly revision: number
  /** -1 for a response to the whole stream. */
  readonly watchId: number
  readonly isCreated: boolean
  readonly isCanceled: boolean
  /** Above 0 when the watch was canceled because its start revision is compacted. */
  readonly compacted: number
  readonly reason: string
  /** More events of the same response follow. */
  readonly isFragment: boolean
  readonly events: readonly WatchEvent[]
}

/** Creates a watch of a range from a revision, with previous values, progress notifications and fragments. */
export function encodeWatch({ key, end = '' }: KeyRange, fromRevision: number): ProtobufWriter {
  return new ProtobufWriter().message(1, (create) =>
    create.latin1(1, key).latin1(2, end).int(3, fromRevision).flag(4, true).flag(6, true).flag(8, true),
  )
}

/** Requests a progress notification for the watches of this stream. */
export function encodeProgressRequest(): ProtobufWriter {
  return new ProtobufWriter().message(3, () => undefined)
}

export function decodeWatch(message: Uint8Array): WatchResponse {
  const reader = new ProtobufReader(message)
  const events: WatchEvent[] = []
  const response = {
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
        response.revision = readHeader(reader.message())
        break
      case 2:
        response.watchId = reader.int()
        break
      case 3:
        response.isCreated = reader.flag()
        break
      case 4:
        response.isCanceled = reader.flag()
        break
      case 5:
        response.compacted = reader.int()
        break
      case 6:
        response.reason = reader.text()
        break
      case 7:
        response.isFragment = reader.flag()
        break
      case 11:
        events.push(readEvent(reader.message()))
        break
      default:
        reader.skip()
    }
  }
  return response
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

/** `ttl` is in seconds; 0 or less means that the lease does not exist. */
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

/** The request of LeaseKeepAlive, LeaseRevoke and LeaseTimeToLive: the lease id only. */
export function encodeLease(id: bigint): ProtobufWriter {
  return new ProtobufWriter().int64(1, id)
}

/** The response of LeaseGrant and LeaseKeepAlive. */
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

/** The granted time to live in seconds, from the response of LeaseTimeToLive. */
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

/** The authentication token. */
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
