/**
 * Objects as a table (`Accept: application/json;as=Table`), or reduced to their metadata.
 *
 * In a watch every event is a table of one row, and only the first has the columns: pass `headers: false` for the
 * others. Metadata is shared with the original object, not copied.
 *
 * Invariant: each row has as many cells as there are columns, and rows are in the order of the objects.
 */
import {
  getOwn,
  type JsonObject,
  type KubeObject,
  type ListMeta,
  type ObjectList,
  type TypeMeta,
  type UnstructuredObject,
} from '#api'
import type { Cell, ColumnDefinition, TableColumns } from '@evenkeel/builtins'

export type IncludeObject = 'Metadata' | 'Object' | 'None'

type TableRow = {
  readonly cells: readonly Cell[]
  readonly conditions?: readonly JsonObject[]
  readonly object: KubeObject | null
}

type Table = TypeMeta & {
  readonly metadata: ListMeta
  readonly columnDefinitions: readonly ColumnDefinition[] | null
  readonly rows: readonly TableRow[]
}

interface TableRequest {
  readonly columns: TableColumns
  readonly objects: readonly UnstructuredObject[]
  readonly nowMs: number
  /** Of the list, or the resource version of the only object. */
  readonly listMeta?: ListMeta
  /** @default 'Metadata' */
  readonly includeObject?: IncludeObject
  /** @default 'v1' */
  readonly version?: MetaVersion
  /** @default true */
  readonly headers?: boolean
}

/** The table of some objects. */
export function makeTable(request: TableRequest): Table {
  const { columns, objects, listMeta = {}, version = 'v1', headers = true } = request
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: listMeta,
    columnDefinitions: headers ? columns.definitions : null,
    rows: objects.map((object) => makeRow(object, request)),
  }
}

function makeRow(object: UnstructuredObject, request: TableRequest): TableRow {
  const conditions = request.columns.conditions?.(object) ?? []
  return {
    cells: request.columns.cells(object, request.nowMs),
    ...(conditions.length > 0 && { conditions }),
    object: shownObject(object, request),
  }
}

function shownObject(
  object: UnstructuredObject,
  { includeObject = 'Metadata', version = 'v1' }: TableRequest,
): KubeObject | null {
  if (includeObject === 'Object') return object
  // The bookmark that ends the initial events is recognised by its annotation, so it is never left out.
  if (includeObject === 'None' && !endsInitialEvents(object)) return null
  return metadataOnly(object, { version })
}

function endsInitialEvents({ metadata: { annotations = {} } }: KubeObject): boolean {
  return getOwn(annotations, 'k8s.io/initial-events-end') === 'true'
}

/** The versions of Table and PartialObjectMetadata; they differ only in their name. */
export type MetaVersion = 'v1' | 'v1beta1'

/** An object reduced to its metadata. Its own kind is lost. */
export function metadataOnly(
  { metadata }: KubeObject,
  { version = 'v1' }: { readonly version?: MetaVersion } = {},
): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata }
}

interface MetadataListOptions {
  readonly metadata?: ListMeta
  readonly version?: MetaVersion
}

/** A list of objects reduced to their metadata. */
export function metadataListOnly(
  objects: readonly KubeObject[],
  { metadata = {}, version = 'v1' }: MetadataListOptions = {},
): ObjectList<KubeObject> {
  const items = objects.map((object) => metadataOnly(object, { version }))
  return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata, items }
}
