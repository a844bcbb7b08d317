/**
 * A list that has to be looked into: another version, another shape, another format.
 *
 * JSON is made share by share, a run of objects at a time: nobody waits longer than a share takes, and no more than some runs of objects are in memory beside
 * the text. Other formats are made of all objects at once.
 */
import type { JsonObject, JsonValue, ListMeta, UnstructuredObject } from '#api'
import type { Entry } from '#store'
import type { MediaChoice } from '#wire'
import type { RequestContext, ServerContext, ResourceRef } from '../call.ts'
import { prepareConversions, servedType, toServed } from '../convert.ts'
import type { ListSlices } from '../fairness/share.ts'
import { encode, includeObjectOf } from '../reply.ts'
import { StoredObject } from '../storage/bytes.ts'
import { makeTable, metadataListOnly } from '../tables/index.ts'
import type { MetaVersion } from '../tables/index.ts'
import { yieldBetween, wholeBytes } from './list-bytes.ts'

interface TransformedListOptions {
  readonly call: RequestContext
  readonly target: ResourceRef
  readonly server: ServerContext
  readonly choice: MediaChoice
  readonly metadata: ListMeta
  readonly share: ListSlices
}

/** How many objects are converted at a time, if somebody has to be asked. */
const preparedItems = 500
/** How many objects are written at a time. */
const itemsPerRun = 64

/** The bytes of a list of these objects. */
export async function transformedList(
  entries: readonly Entry[],
  options: TransformedListOptions,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { choice, server } = options
  if (choice.format !== 'json' || choice.pretty) {
    const objects: UnstructuredObject[] = []
    for await (const run of convertedRuns(entries, options)) objects.push(...run)
    return encode(transform(objects, options), choice)
  }
  // Whatever the shape, items come last.
  const around = JSON.stringify(transform([], options))
  const pieces: Uint8Array[] = [Buffer.from(around.slice(0, -2))]
  for await (const run of convertedRuns(entries, options))
    pieces.push(Buffer.from(`${pieces.length > 1 ? ',' : ''}${itemsText(run, options)}`))
  pieces.push(Buffer.from(around.slice(-2)))
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return bytes <= wholeBytes ? Buffer.concat(pieces) : yieldBetween(pieces, server.clock)
}

/** Objects in the form they are asked for, some at a time. */
async function* convertedRuns(
  entries: readonly Entry[],
  { target: { resource }, share }: TransformedListOptions,
): AsyncGenerator<readonly UnstructuredObject[], void> {
  for (let start = 0; start < entries.length; start += preparedItems) {
    const items = entries
      .slice(start, start + preparedItems)
      .map(({ value, revision }) => new StoredObject(value, revision))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    let run: UnstructuredObject[] = []
    for (const [index, stored] of items.entries()) {
      const pausing = share.add(stored.bytes.byteLength)
      if (pausing) await pausing
      run.push(toServed(stored, resource))
      if (run.length < itemsPerRun && index < items.length - 1) continue
      yield run
      run = []
    }
  }
}

/** Items as they stand in the list. */
function itemsText(objects: readonly UnstructuredObject[], options: TransformedListOptions): string {
  const { rows, items = rows } = transform(objects, options) as {
    readonly rows?: JsonValue
    readonly items?: JsonValue
  }
  return JSON.stringify(items).slice(1, -1)
}

function transform(
  objects: readonly UnstructuredObject[],
  { call, target: { resource }, server, choice, metadata }: TransformedListOptions,
): JsonObject {
  const version = choice.shape?.version as MetaVersion
  if (choice.shape?.kind === 'Table') {
    const table = makeTable({
      columns: resource.columns,
      objects,
      listMeta: metadata,
      includeObject: includeObjectOf(call.query),
      nowMs: server.clock.now(),
      version,
    })
    return table as unknown as JsonObject
  }
  if (choice.shape) return metadataListOnly(objects, { metadata, version }) as unknown as JsonObject
  const shown = resource.custom ? objects : objects.map(withoutType)
  return {
    kind: resource.listKind,
    apiVersion: servedType(resource).apiVersion,
    metadata: metadata as JsonObject,
    items: shown as unknown as JsonObject[],
  }
}

function withoutType({ apiVersion: _, kind: __, ...rest }: UnstructuredObject): JsonObject {
  return rest as unknown as JsonObject
}
