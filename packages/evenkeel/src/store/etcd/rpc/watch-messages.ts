/**
 * What the Watch service of etcd is asked and answers.
 *
 * Invariant: an event of a delete has a key and a revision, never a value.
 */
import { readHeader, readKeyValue } from './kv-messages.ts'
import type { KeyRange, KeyValue } from './kv-messages.ts'
import { ProtobufReader, ProtobufWriter } from './protobuf.ts'

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
