/**
 * Lists as text.
 *
 * A list in the stored version is made of stored bytes without parsing. Built-in kinds leave `apiVersion` and `kind`
 * out of list items: the bytes begin with exactly those, so an item is an opening brace and the rest. Small lists
 * are one buffer; large ones are sent in pieces, with a turn for other requests between two pieces. A list in
 * another version, shape or format is transformed in slices: as JSON a run of objects at a time, in other formats
 * all objects at once.
 */
import { pushAll, stringifyJson } from '#api'
import type { JsonObject, JsonValue, ListMeta, UnstructuredObject } from '#api'
import { nextTurn, type Clock } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Entry } from '#store'
import type { MediaChoice } from '#wire'
import type { ListSlices } from '../flowcontrol/work-scheduler.ts'
import { makeTable, metadataListOnly, type MetaVersion } from '../handlers/table.ts'
import { inParts, LentMemory } from '../listen/lent-memory.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { encode, includeObjectOf } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import { StoredObject, typeLength } from '../storage/stored-object.ts'

/** The size of one write to the socket. */
const pieceBytes = 256 * 1024
/** Lists up to this size are sent as one buffer, with their length. */
const wholeBytes = 1024 * 1024

interface ListItems {
  readonly entries: readonly Entry[]
  readonly metadata: ListMeta
}

/** A list whose text is planned and not yet written. */
export interface ListText {
  readonly entries: readonly Entry[]
  /** Everything before the first item. */
  readonly head: Uint8Array
  /** How many bytes at the beginning of every entry are replaced by a brace; 0 when entries are items unchanged. */
  readonly skipped: number
  /** Of the whole text. */
  readonly size: number
}

export const listEnd: Uint8Array = Buffer.from(']}')

/** The plan of the JSON text of a list. */
export function listText({ entries, metadata }: ListItems, resource: Resource): ListText {
  const { apiVersion, kind } = servedType(resource)
  const head = Buffer.from(
    `{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`,
  )
  const skipped = resource.custom ? 0 : typeLength(apiVersion, kind)
  return { entries, head, skipped, size: head.byteLength + itemsLength(entries, skipped) + listEnd.byteLength }
}

/** The length of items with commas between them. */
export function itemsLength(entries: readonly Entry[], skipped: number): number {
  const own = skipped > 0 ? 2 - skipped : 1
  return entries.reduce((sum, { value }) => sum + value.byteLength + own, entries.length > 0 ? -1 : 0)
}

/** The JSON text of a list. */
export function joinedList(
  text: ListText,
  clock: Clock,
  { isLent = false }: { isLent?: boolean | undefined } = {},
): Uint8Array | AsyncIterable<Uint8Array> {
  if (text.size > wholeBytes) return lentPieces(text, { memory: new LentMemory({ isLent }), clock })
  return listPieces(text, { pieceMax: text.size, memory: ownMemory }).next().value ?? text.head
}

type PieceMemory = Pick<LentMemory, 'allocate' | 'shorten'>

/** For a list of one piece: small buffers come from the pool of Node. */
const ownMemory: PieceMemory = {
  allocate: (bytes) => Buffer.allocUnsafe(bytes),
  shorten: (piece, bytes) => piece.subarray(0, bytes),
}

/** Writes one item, with a comma before it unless it is the first, and returns the next offset. */
export function writeItem(
  target: Uint8Array,
  { value }: Entry,
  { at, skipped, isFirst }: { at: number; skipped: number; isFirst: boolean },
): number {
  let next = at
  if (!isFirst) target[next++] = comma
  if (skipped > 0) target[next++] = brace
  target.set(skipped > 0 ? value.subarray(skipped) : value, next)
  return next + value.byteLength - skipped
}

/** Yields pieces, with a turn for other requests after each. */
async function* yieldBetween(pieces: Iterable<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) {
    yield piece
    await nextTurn(clock)
  }
}

async function* lentPieces(
  text: ListText,
  { memory, clock }: { memory: LentMemory; clock: Clock },
): AsyncGenerator<Uint8Array, void> {
  try {
    const room = memory.waitForRoom(pieceBytes, clock)
    const hasRoom = room === undefined || (await room)
    yield* yieldBetween(hasRoom ? listPieces(text, { pieceMax: pieceBytes, memory }) : inParts(sourcesOf(text)), clock)
    memory.release()
  } finally {
    memory.forget()
  }
}

function* listPieces(
  { entries, head, skipped }: ListText,
  { pieceMax, memory }: { pieceMax: number; memory: PieceMemory },
): Generator<Uint8Array, void> {
  let piece = memory.allocate(Math.max(pieceMax, head.byteLength))
  piece.set(head)
  let used = head.byteLength
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]
    if (entry === undefined) continue
    const needed = entry.value.byteLength - skipped + (skipped > 0 ? 1 : 0) + (index > 0 ? 1 : 0)
    if (used + needed > piece.byteLength) {
      yield memory.shorten(piece, used)
      piece = memory.allocate(Math.max(pieceMax, needed))
      used = 0
    }
    used = writeItem(piece, entry, { at: used, skipped, isFirst: index === 0 })
  }
  if (used + listEnd.byteLength <= piece.byteLength) {
    piece.set(listEnd, used)
    yield memory.shorten(piece, used + listEnd.byteLength)
    return
  }
  yield memory.shorten(piece, used)
  yield listEnd
}

/** The text of a list, as the bytes that it is made of. */
function* sourcesOf({ entries, head, skipped }: ListText): Generator<Uint8Array, void> {
  yield head
  for (const [index, { value }] of entries.entries()) {
    if (index > 0) yield commaBytes
    if (skipped > 0) yield braceBytes
    yield skipped > 0 ? value.subarray(skipped) : value
  }
  yield listEnd
}

const comma = 0x2c
const brace = 0x7b
const [commaBytes, braceBytes] = [Buffer.from(','), Buffer.from('{')]

interface TransformedListOptions {
  readonly context: RequestContext
  readonly target: ResourceRef
  readonly clock: Clock
  readonly choice: MediaChoice
  readonly metadata: ListMeta
  readonly slices: ListSlices
}

/** What a form of a list depends on. */
type ListForm = Pick<TransformedListOptions, 'context' | 'clock' | 'choice' | 'metadata'> & {
  readonly resource: Resource
}

/** How many objects an asynchronous converter gets at a time. */
const preparedItems = 500
/** How many objects are written at a time. */
const itemsPerRun = 64

/** The bytes of a list of these objects. */
export async function transformedList(
  entries: readonly Entry[],
  options: TransformedListOptions,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { choice, clock } = options
  if (choice.format !== 'json' || choice.pretty) {
    const objects: UnstructuredObject[] = []
    for await (const run of convertedRuns(entries, options)) pushAll(objects, run)
    return encode(transformedObjects(objects, formOf(options)), choice)
  }
  // In every form the items come last.
  const around = stringifyJson(transformedObjects([], formOf(options)))
  const pieces: Uint8Array[] = [Buffer.from(around.slice(0, -2))]
  for await (const run of convertedRuns(entries, options))
    pieces.push(Buffer.from(`${pieces.length > 1 ? ',' : ''}${itemsText(run, options)}`))
  pieces.push(Buffer.from(around.slice(-2)))
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return bytes <= wholeBytes ? Buffer.concat(pieces) : yieldBetween(pieces, clock)
}

/** Objects in the requested version, in runs. */
async function* convertedRuns(
  entries: readonly Entry[],
  { target: { resource }, slices }: TransformedListOptions,
): AsyncGenerator<readonly UnstructuredObject[], void> {
  for (let start = 0; start < entries.length; start += preparedItems) {
    const items = entries
      .slice(start, start + preparedItems)
      .map(({ value, revision }) => new StoredObject(value, revision))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    let run: UnstructuredObject[] = []
    for (const [index, stored] of items.entries()) {
      const pausing = slices.add(stored.bytes.byteLength)
      if (pausing) await pausing
      run.push(toServed(stored, resource))
      if (run.length < itemsPerRun && index < items.length - 1) continue
      yield run
      run = []
    }
  }
}

/** Items as JSON, as in the list. */
function itemsText(objects: readonly UnstructuredObject[], options: TransformedListOptions): string {
  const { rows, items = rows } = transformedObjects(objects, formOf(options)) as {
    readonly rows?: JsonValue
    readonly items?: JsonValue
  }
  return stringifyJson(items).slice(1, -1)
}

function formOf({ target, ...options }: TransformedListOptions): ListForm {
  return { ...options, resource: target.resource }
}

/** A list of these objects: as itself, as a table, or reduced to metadata. */
export function transformedObjects(
  objects: readonly UnstructuredObject[],
  { context, resource, clock, choice, metadata }: ListForm,
): JsonObject {
  const version = choice.shape?.version as MetaVersion
  if (choice.shape?.kind === 'Table') {
    const table = makeTable({
      columns: resource.columns,
      objects,
      listMeta: metadata,
      includeObject: includeObjectOf(context.query),
      nowMs: clock.now(),
      version,
    })
    return table
  }
  if (choice.shape) return metadataListOnly(objects, { metadata, version })
  const shown = resource.custom ? objects : objects.map(withoutType)
  return {
    kind: resource.listKind,
    apiVersion: servedType(resource).apiVersion,
    metadata: metadata,
    items: shown,
  }
}

function withoutType({ apiVersion: _, kind: __, ...rest }: UnstructuredObject): JsonObject {
  return rest
}
