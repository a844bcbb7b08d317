/**
 * Whole bodies: four bytes that say "protobuf of Kubernetes", then a message with the apiVersion and kind of an object
 * and the object itself.
 *
 *     k8s\0  Unknown { typeMeta { apiVersion, kind }, raw, contentEncoding, contentType }
 */
import { badRequest, type JsonObject, type JsonObjectDraft } from '#api'
import { decodeInto, Reader } from './decode.ts'
import { encodeMessage, Writer } from './encode.ts'
import { bytesWire, findMessage, type Message } from './messages.ts'

interface DecodeProtobufOptions {
  /** What the object is when its envelope does not say. */
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
}

/**
 * The object in a body, as a client writing JSON would have sent it. The caller bounds the size of the body.
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
 * The body that says an object. Properties that its kind does not have are not in it.
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

/** Whether objects of this kind can be written and read. Custom resources cannot. */
export function knowsProtobuf(apiVersion: string, kind: string): boolean {
  return findKind(apiVersion, kind) !== undefined
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0)
const metaVersion = 'meta.k8s.io/v1'
const protobufType = 'application/vnd.kubernetes.protobuf'
/** Kinds of the metadata group that stand in every group version. */
const optionKinds = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
])
/** Kinds of the metadata group that call themselves `v1`. */
const unversionedKinds = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])
const partialVersions = new Set([metaVersion, 'meta.k8s.io/v1beta1'])

/** Kept between calls, which cannot overlap: nothing here waits. */
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
    else if (tag === encodingTag || tag === contentTag) refuseOther(reader.text())
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

/** Nobody writes these, and to read something else as protobuf would give nonsense. */
function refuseOther(contentType: string): void {
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

/*
 * Events of a watch as protobuf: the length of an event in four bytes, highest first, then the event.
 *
 *     length  WatchEvent { type, object { raw } }        raw is a whole body: k8s\0 and so on
 *
 * The event itself has no envelope, only the object in it does.
 */

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
