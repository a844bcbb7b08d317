/**
 * Protobuf bodies and watch events of Kubernetes.
 *
 * A body is four magic bytes, then a message with the apiVersion and kind of an object and the encoded object:
 *
 *     k8s\0  Unknown { typeMeta { apiVersion, kind }, raw, contentEncoding, contentType }
 *
 * A watch event is a length of four bytes (big-endian) and the event. The event has no envelope; its object has one:
 *
 *     length  WatchEvent { type, object { raw } }        raw is a whole body: k8s\0 …
 */
import { badRequest, type JsonObject, type JsonObjectDraft } from '#api'
import { decodeInto, Reader } from './decode.ts'
import { encodeMessage, Writer } from './encode.ts'
import { bytesWire, findMessage, type Message } from './messages.ts'

interface DecodeProtobufOptions {
  /** The type of the object when its envelope does not name one. */
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
}

/**
 * Decodes a body into the object that a client using JSON would have sent. The caller limits the size of the body.
 *
 * @throws {ApiError} `BadRequest`, when the body is malformed or of a kind that has no protobuf form.
 */
export function decodeProtobuf(
  bytes: Uint8Array,
  { apiVersion = '', kind = '' }: DecodeProtobufOptions = {},
): JsonObject {
  const envelope = decodeEnvelope(bytes)
  const type = { apiVersion: envelope.apiVersion || apiVersion, kind: envelope.kind || kind }
  if (type.apiVersion === '' || type.kind === '') throw badRequest('the body does not say its apiVersion and kind')
  const message = findKind(type.apiVersion, type.kind)
  if (!message) throw badRequest(`no kind "${type.kind}" of version "${type.apiVersion}" can be read from protobuf`)
  const object: JsonObjectDraft = { apiVersion: type.apiVersion, kind: type.kind }
  decodeInto(new Reader(envelope.raw), message, object)
  return object
}

/**
 * Encodes an object as a body. Properties that are unknown to its kind are left out.
 *
 * @throws {RangeError} when the kind has no protobuf form (ask {@link knowsProtobuf}) or a value has the wrong type.
 */
export function encodeProtobuf(object: JsonObject): Uint8Array {
  const { apiVersion, kind } = object
  const message = typeof apiVersion === 'string' && typeof kind === 'string' ? findKind(apiVersion, kind) : undefined
  if (!message)
    throw new RangeError(`no protobuf form for kind ${JSON.stringify(kind)} of version ${JSON.stringify(apiVersion)}`)
  shared.reset()
  writeEnvelope(shared, message, object)
  const bytes = shared.finish()
  if (shared.capacity > sharedCapacityMax) shared = new Writer()
  return bytes
}

/** Whether this kind has a protobuf encoding. Custom resources have none. */
export function knowsProtobuf(apiVersion: string, kind: string): boolean {
  return findKind(apiVersion, kind) !== undefined
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0)
const metaVersion = 'meta.k8s.io/v1'
const protobufType = 'application/vnd.kubernetes.protobuf'
/** Kinds of the meta group that exist in every group version. */
const optionKinds = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
])
/** Kinds of the meta group whose apiVersion is `v1`. */
const unversionedKinds = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])
const partialVersions = new Set([metaVersion, 'meta.k8s.io/v1beta1'])

/** Reused between calls, which cannot overlap because encoding is synchronous. */
let shared = new Writer()
const sharedCapacityMax = 1 << 20

function findKind(apiVersion: string, kind: string): Message | undefined {
  const own = findMessage(apiVersion, kind)
  if (own?.isKind) return own
  const isMeta =
    optionKinds.has(kind) ||
    (apiVersion === 'v1' && unversionedKinds.has(kind)) ||
    (partialVersions.has(apiVersion) && kind === 'PartialObjectMetadata')
  return isMeta ? findMessage(metaVersion, kind) : undefined
}

interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw badRequest(
      'the body is not protobuf of Kubernetes: expected prefix: it must start with the bytes 6b 38 73 00',
    )
  const reader = new Reader(bytes.subarray(magic.length))
  const envelope: { apiVersion: string; kind: string; raw: Uint8Array | undefined } = {
    apiVersion: '',
    kind: '',
    raw: undefined,
  }
  while (reader.more) {
    const tag = reader.tag()
    if (tag === typeMetaTag) decodeTypeMeta(reader, envelope)
    else if (tag === rawTag) envelope.raw = reader.view()
    else if (tag === encodingTag || tag === contentTag) refuseOtherEncoding(reader.text())
    else reader.skip(tag & 7)
  }
  const { apiVersion, kind, raw } = envelope
  if (!raw) throw badRequest('the body holds no object')
  return { apiVersion, kind, raw }
}

const typeMetaTag = 8 + bytesWire
const rawTag = 16 + bytesWire
const encodingTag = 24 + bytesWire
const contentTag = 32 + bytesWire

function decodeTypeMeta(reader: Reader, envelope: { apiVersion: string; kind: string }): void {
  const outer = reader.enter()
  while (reader.more) {
    const tag = reader.tag()
    if (tag === 8 + bytesWire) envelope.apiVersion = reader.text()
    else if (tag === 16 + bytesWire) envelope.kind = reader.text()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
}

/** Refuses an object in another encoding, which no known client sends. */
function refuseOtherEncoding(contentType: string): void {
  if (contentType !== '' && contentType !== protobufType)
    throw badRequest(`an object inside the body is encoded as ${contentType.slice(0, 100)}, not as protobuf`)
}

function writeEnvelope(writer: Writer, message: Message, object: JsonObject): void {
  writer.text('')
  writer.tag(4, bytesWire)
  writer.text('')
  writer.tag(3, bytesWire)
  const beforeRaw = writer.length
  encodeMessage(writer, message, object)
  writer.varint(writer.length - beforeRaw)
  writer.tag(2, bytesWire)
  const beforeType = writer.length
  writer.text(String(object['kind']))
  writer.tag(2, bytesWire)
  writer.text(String(object['apiVersion']))
  writer.tag(1, bytesWire)
  writer.varint(writer.length - beforeType)
  writer.tag(1, bytesWire)
  writer.raw(magic)
}

interface WatchFrame {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  readonly type: string
  /** The encoded object, for `decodeProtobuf`. A view of the frame, not a copy. */
  readonly object: Uint8Array
}

/** The length of the frame header. */
const headerBytes = 4

/** Encodes one watch event. `object` is the result of `encodeProtobuf`, which watches can share. */
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
 * Decodes one watch event, without its length: the code that splits a stream into frames has consumed it.
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
