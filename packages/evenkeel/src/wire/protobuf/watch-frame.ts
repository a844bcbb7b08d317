/**
 * Events of a watch as protobuf: the length of an event in four bytes, highest first, then the event.
 *
 *     length  WatchEvent { type, object { raw } }        raw is a whole body: k8s\0 and so on
 *
 * The event itself has no envelope, only the object in it does.
 */
import { badRequest } from '#api'
import { bytesWire } from './messages.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

interface WatchFrame {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  readonly type: string
  /** The object, still encoded: see decodeProtobuf. A part of the frame, not a copy. */
  readonly object: Uint8Array
}

/** Bytes of the length before a frame. */
const headerBytes = 4

/** One event, ready to be sent. `object` is what encodeProtobuf gave, so it can be shared between watches. */
export function encodeWatchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = new Writer(object.length + type.length * 3 + 64)
  writer.raw(object)
  writer.varint(object.length)
  writer.tag(1, bytesWire)
  writer.varint(writer.length)
  writer.tag(2, bytesWire)
  writer.text(type)
  writer.tag(1, bytesWire)
  const header = new Uint8Array(headerBytes)
  new DataView(header.buffer).setUint32(0, writer.length)
  writer.raw(header)
  return writer.finish()
}

/**
 * Reads one event, without the length before it: whoever cuts a stream into frames has used that up.
 *
 * @throws {ApiError} `BadRequest` when it is malformed.
 */
export function decodeWatchFrame(frame: Uint8Array): WatchFrame {
  const reader = new Reader(frame)
  let type = ''
  let object: Uint8Array | undefined
  while (reader.more) {
    const tag = reader.tag()
    if (tag === 8 + bytesWire) type = reader.text()
    else if (tag === 16 + bytesWire) object = decodeRaw(reader) ?? object
    else reader.skip(tag & 7)
  }
  if (type === '' || !object) throw badRequest('an event of a watch must have a type and an object')
  return { type, object }
}

function decodeRaw(reader: Reader): Uint8Array | undefined {
  const outer = reader.enter()
  let raw: Uint8Array | undefined
  while (reader.more) {
    const tag = reader.tag()
    if (tag === 8 + bytesWire) raw = reader.view()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return raw
}
