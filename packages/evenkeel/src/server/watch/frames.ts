/**
 * Watch events as bytes: one line of JSON each, one length-prefixed protobuf message, or one CBOR document.
 *
 * The store gives the same batch to all watchers of a prefix. For watchers of the stored version its frames are
 * encoded once, and the same buffers go to all of them, with or without a selector: this decides the cost of fan-out. A
 * batch of large objects is several buffers. The initial objects are written in pieces that fit the cache of a processor.
 *
 * With a selector an object is ADDED when it begins to match and DELETED when it ceases to, with its last matching
 * content under the version of the change. Small objects are parsed once for all watchers; of large ones only the labels
 * and the selected fields are kept.
 */
import { expired, type JsonObject, type Status, type UnstructuredObject, stringifyJson } from '#api'
import type { Clock } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Change, Entry, WatchBatch } from '#store'
import { encodeCborEvent, encodeProtobuf, encodeWatchFrame, type MediaChoice, type Query } from '#wire'
import { makeTable, metadataOnly, type MetaVersion } from '../handlers/table.ts'
import { allocatePiece } from '../listen/http1-body.ts'
import { inParts, type LentMemory } from '../listen/lent-memory.ts'
import { includeObjectOf } from '../response.ts'
import { isCurrent, isStorageVersion, prepareConversions, servedType, toServed } from '../storage/codec.ts'
import { restamped, StoredObject } from '../storage/stored-object.ts'
import { ManagedFieldsFinder } from './managed-fields.ts'

interface WatchEncoderOptions {
  readonly resource: Resource
  readonly choice: MediaChoice
  readonly query: Query
  readonly matches: ((stored: StoredObject) => boolean) | undefined
  /** The only selected key, if there is one. */
  readonly key: string | undefined
  /** The end of all selected keys, if they have the same. */
  readonly keyEnd?: string | undefined
  readonly clock: Clock
}

/** Encodes the frames of one watcher. */
export class WatchEncoder {
  readonly #options: WatchEncoderOptions
  readonly #plain: boolean
  #tableHeaders = true

  constructor(options: WatchEncoderOptions) {
    this.#options = options
    this.#plain =
      options.choice.format === 'json' && options.choice.shape === undefined && isStorageVersion(options.resource)
  }

  /**
   * The frames of a batch in a few pieces; none when no event matches. Those of a large batch are made one by one, as they
   * are sent: a hundred watchers that are each in another batch would hold all of these batches.
   *
   * @throws {ApiError} `Expired`, also between two pieces.
   */
  batch(batch: WatchBatch, { above = 0 }: { above?: number } = {}): Iterable<Uint8Array> {
    const { matches, key } = this.#options
    const shared = sharedFrames.get(batch) ?? {
      isLarge: bytesOf(batch.changes) > heldBytesMax,
      ofChanges: new Map<Change, SharedFrames>(),
    }
    sharedFrames.set(batch, shared)
    const whole = (batch.changes[0]?.revision ?? 0) > above
    const isShared = this.#plain && matches === undefined && key === undefined && whole
    const meant = isShared
      ? batch.changes
      : batch.changes.filter((change) => change.revision > above && this.#isMeant(change))
    if (shared.isLarge) return inPieces(this.#frames(meant, shared))
    if (!isShared) return [...inPieces(this.#frames(meant, shared))]
    return (shared.pieces ??= [...inPieces(this.#frames(meant, shared))])
  }

  /** Prepares the conversions of a batch; undefined when there is none to wait for. */
  prepare({ changes }: WatchBatch): Promise<void> | undefined {
    return this.#options.resource.reading?.convert ? this.#convert(changes) : undefined
  }

  /** By the key alone: most objects need not be parsed to know that they do not match. */
  #isMeant({ key: changed }: Change): boolean {
    const { key, keyEnd } = this.#options
    if (key !== undefined) return changed === key
    return keyEnd === undefined || changed.endsWith(keyEnd)
  }

  async #convert(changes: readonly Change[]): Promise<void> {
    const { matches, resource } = this.#options
    const meant = changes.filter((change) => this.#isMeant(change))
    if (matches) await prepareConversions(meant.flatMap(storedIn), resource, { reuse: true })
    await prepareConversions(
      meant.flatMap((change) => eventOf(change, { matches })?.stored ?? []),
      resource,
      { reuse: true },
    )
  }

  /** Objects that existed before the watch, in memory that is allocated once. */
  existing(items: readonly StoredObject[], memory: LentMemory): Uint8Array | undefined {
    const { resource } = this.#options
    if (!this.#plain || !items.every((stored) => isCurrent(stored, resource)))
      return joined(items.map((stored) => this.#frame({ type: 'ADDED', stored })))
    let bytes = 0
    for (const stored of items) bytes += opening.ADDED.length + stored.bytes.length + closing.length
    const frames = memory.allocate(bytes)
    const used = this.#options.choice.mayOmitManagedFields ? writeShort(items, frames) : writeWhole(items, frames)
    return memory.shorten(frames, used)
  }

  /** The same, in small parts. */
  existingInParts(items: readonly StoredObject[]): Iterable<Uint8Array> {
    return inParts(this.#sources(items))
  }

  /** The frames of objects, as the bytes that they are made of. */
  *#sources(items: readonly StoredObject[]): Generator<Uint8Array, void> {
    const { resource, choice } = this.#options
    for (const stored of items) {
      if (!this.#plain || !isCurrent(stored, resource)) {
        yield this.#frame({ type: 'ADDED', stored })
        continue
      }
      const { bytes } = stored
      const { start, end } = choice.mayOmitManagedFields
        ? new ManagedFieldsFinder(bytes).find(0, bytes.length)
        : { start: bytes.length, end: bytes.length }
      yield opening.ADDED
      if (end > start) {
        yield bytes.subarray(0, start)
        yield bytes.subarray(end)
      } else yield bytes
      yield closing
    }
  }

  /** A bookmark at a revision; `initial` ends the list of existing objects. */
  bookmark(revision: number, { initial = false }: { initial?: boolean } = {}): Uint8Array {
    const { resource } = this.#options
    const metadata = {
      resourceVersion: String(revision),
      ...(initial && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    }
    const object = { ...servedType(resource), metadata }
    return this.#encode('BOOKMARK', this.#shape(object))
  }

  error(status: Status): Uint8Array {
    return this.#encode('ERROR', status)
  }

  *#frames(changes: readonly Change[], { ofChanges }: Pick<BatchFrames, 'ofChanges'>): Generator<Uint8Array, void> {
    const { matches } = this.#options
    for (const change of changes) {
      const event = eventOf(change, { matches })
      if (event) yield this.#frame(event, { change, ofChanges })
    }
  }

  #frame(
    { type, stored }: ObjectChangeEvent,
    shared?: { change: Change } & Pick<BatchFrames, 'ofChanges'>,
  ): Uint8Array {
    if (!this.#plain || !isCurrent(stored, this.#options.resource))
      return this.#encode(type, this.#shape(toServed(stored, this.#options.resource)))
    const frames = shared?.ofChanges.get(shared.change) ?? {}
    shared?.ofChanges.set(shared.change, frames)
    const known = valueOf(frames[type])
    if (known) return known
    const frame = plainFrame(type, stored.bytes)
    frames[type] = heldFor(frame, frame.byteLength)
    return frame
  }

  #shape(object: UnstructuredObject): JsonObject {
    const {
      choice: { shape },
      resource,
      query,
      clock,
    } = this.#options
    if (shape === undefined) return object
    const version = shape.version as MetaVersion
    if (shape.kind !== 'Table') return metadataOnly(object, { version })
    const headers = this.#tableHeaders
    this.#tableHeaders = false
    const table = makeTable({
      columns: resource.columns,
      objects: [object],
      includeObject: includeObjectOf(query),
      nowMs: clock.now(),
      version,
      headers,
      listMeta: { resourceVersion: object.metadata.resourceVersion ?? '' },
    })
    return table
  }

  #encode(type: EventType | 'BOOKMARK' | 'ERROR', object: JsonObject): Uint8Array {
    if (this.#options.choice.format === 'cbor') return encodeCborEvent(type, object)
    if (this.#options.choice.format === 'protobuf') return encodeWatchFrame(type, encodeProtobuf(object))
    return Buffer.from(`{"type":"${type}","object":${stringifyJson(object)}}\n`)
  }
}

type SharedFrames = Partial<Record<EventType, Shared<Uint8Array>>>

/** The frames of a batch that all its watchers share. */
interface BatchFrames {
  readonly isLarge: boolean
  /** Those of watchers without a selector, unless it is large. */
  pieces?: readonly Uint8Array[]
  readonly ofChanges: Map<Change, SharedFrames>
}

/**
 * What watchers share. Large frames are not held by their batch, only by the watchers that send them: a batch waits in the
 * backlogs of slow watchers, and would keep three copies of a large object.
 */
type Shared<T extends object> = T | WeakRef<T>

/** A full group commit of small objects is below it: its frames must last until the last of its watchers had its turn. */
const heldBytesMax = 262_144

function heldFor<T extends object>(value: T, bytes: number): Shared<T> {
  return bytes <= heldBytesMax ? value : new WeakRef(value)
}

function valueOf<T extends object>(shared: Shared<T> | undefined): T | undefined {
  return shared instanceof WeakRef ? shared.deref() : shared
}

function bytesOf(changes: readonly Change[]): number {
  let bytes = 0
  for (const { entry, previous } of changes) bytes += (entry ?? previous)?.value.byteLength ?? 0
  return bytes
}

/** The frame of an object that is sent as it is stored; a large one with room for the frame of HTTP/1.1. */
function plainFrame(type: EventType, bytes: Uint8Array): Uint8Array {
  const before = opening[type]
  if (bytes.byteLength <= joinedBytesMax) return Buffer.concat([before, bytes, closing])
  const frame = allocatePiece(before.byteLength + bytes.byteLength + closing.byteLength)
  frame.set(before, 0)
  frame.set(bytes, before.byteLength)
  frame.set(closing, before.byteLength + bytes.byteLength)
  return frame
}

const sharedFrames = new WeakMap<WatchBatch, BatchFrames>()

const opening: Readonly<Record<EventType, Uint8Array>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}
const closing = Buffer.from('}\n')

/** Writes frames of objects as they are stored, and returns the number of bytes. */
function writeWhole(items: readonly StoredObject[], frames: Buffer): number {
  let at = 0
  for (const { bytes } of items) {
    frames.set(opening.ADDED, at)
    frames.set(bytes, (at += opening.ADDED.length))
    frames.set(closing, (at += bytes.length))
    at += closing.length
  }
  return at
}

/** The same without managed fields. */
function writeShort(items: readonly StoredObject[], frames: Buffer): number {
  const finder = new ManagedFieldsFinder(frames)
  let at = 0
  for (const { bytes } of items) {
    frames.set(opening.ADDED, at)
    frames.set(bytes, (at += opening.ADDED.length))
    const { start, end } = finder.find(at, at + bytes.length)
    if (end > start) frames.copyWithin(start, end, at + bytes.length)
    at += bytes.length - (end - start)
    frames.set(closing, at)
    at += closing.length
  }
  return at
}

/** A larger frame is a piece of its own: joining it would copy it for each watcher. */
const joinedBytesMax = 16_384

/** Small frames are joined with their neighbours. */
function* inPieces(frames: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  let small: Uint8Array[] = []
  let bytes = 0
  for (const frame of frames) {
    const isSmall = frame.length <= joinedBytesMax
    if (isSmall) {
      small.push(frame)
      bytes += frame.length
    }
    if (isSmall && bytes < heldBytesMax) continue
    const piece = joined(small)
    small = []
    bytes = 0
    if (piece) yield piece
    if (!isSmall) yield frame
  }
  const last = joined(small)
  if (last) yield last
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | undefined {
  if (pieces.length <= 1) return pieces[0]
  return Buffer.concat(pieces)
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

interface ObjectChangeEvent {
  readonly type: EventType
  readonly stored: StoredObject
}

interface EventOptions {
  /** Absent: everything matches. */
  readonly matches?: ((stored: StoredObject) => boolean) | undefined
}

/**
 * The event of a change; undefined when it does not match.
 *
 * @throws {ApiError} `Expired`, when the previous content is no longer known.
 */
function eventOf(change: Change, { matches }: EventOptions): ObjectChangeEvent | undefined {
  const now = change.entry && storedObjectOf(change.entry)
  const before = change.previous && storedObjectOf(change.previous)
  const isIn = now !== undefined && (matches === undefined || matches(now))
  if (now && isIn) {
    const wasIn =
      before === undefined ? change.entry?.created !== change.revision : matches === undefined || matches(before)
    return { type: wasIn ? 'MODIFIED' : 'ADDED', stored: now }
  }
  if (before === undefined) {
    if (now === undefined)
      throw expired(`the content of ${change.key} before revision ${change.revision} is no longer known`)
    return undefined
  }
  if (matches !== undefined && !matches(before)) return undefined
  return { type: 'DELETED', stored: lastStateOf(change, before) }
}

/** All objects of a change, for callers that have to parse or convert them first. */
function storedIn({ entry, previous }: Change): StoredObject[] {
  return [entry, previous].flatMap((one) => (one ? [storedObjectOf(one)] : []))
}

const lastStates = new WeakMap<Change, Shared<StoredObject>>()

function lastStateOf(change: Change, before: StoredObject): StoredObject {
  const known = valueOf(lastStates.get(change))
  if (known) return known
  const bytes = restamped(before.bytes, change.revision)
  const last = new StoredObject(bytes, change.revision, {
    writtenAt: before.revision,
    keepsParsed: before.keepsParsed,
  })
  lastStates.set(change, heldFor(last, bytes.byteLength))
  return last
}

/** Larger objects are parsed at each use: batches wait in the backlogs of slow watchers. */
const parsedBytesMax = 16_384

const parsedEntries = new WeakMap<Entry, StoredObject>()

function storedObjectOf(entry: Entry): StoredObject {
  let stored = parsedEntries.get(entry)
  if (stored === undefined) {
    const keepsParsed = entry.value.byteLength <= parsedBytesMax
    parsedEntries.set(entry, (stored = new StoredObject(entry.value, entry.revision, { keepsParsed })))
  }
  return stored
}
