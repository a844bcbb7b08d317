/**
 * Lists as server-side tables: the same columns as in kubectl.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from 'evenkeel/unstable/api'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { Failure } from './failure.ts'

export interface ServerTable {
  readonly headings: readonly string[]
  readonly rows: readonly ServerRow[]
}

interface ServerRow {
  readonly cells: readonly string[]
  readonly name: string
  readonly namespace: string
}

interface TableQuery {
  /** Undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /** Include the columns of `-o wide`. @default false */
  readonly isWide?: boolean
  readonly signal?: AbortSignal
}

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** @throws {ApiError} the error of the server; {@link Failure} when the server has no tables. */
export async function readTable(
  client: Client,
  resource: DiscoveredResource,
  { isWide = false, signal, ...query }: TableQuery,
): Promise<ServerTable> {
  const answer = await client.raw({ path: pathOf(resource, query), headers: { accept } }, { ...(signal && { signal }) })
  const table = parseJson(answer.text()) as JsonValue
  if (!isJsonObject(table) || table['kind'] !== 'Table')
    throw new Failure('refused', `the server returns no table for ${resource.plural}`, { hint: '--json' })
  const columns = objects(table['columnDefinitions'])
  const shown = columns.flatMap((column, index) =>
    isWide || column['priority'] === 0 || column['priority'] === undefined ? [index] : [],
  )
  return {
    headings: shown.map((index) => textOf(columns[index]?.['name'])),
    rows: objects(table['rows']).map((row) => rowOf(row, shown)),
  }
}

/** The path of the list or of one object, with its selectors. */
export function pathOf(
  { group, version, plural, namespaced }: DiscoveredResource,
  { namespace, name, labelSelector, fieldSelector }: Omit<TableQuery, 'isWide' | 'signal'>,
): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const place = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const query = new URLSearchParams({
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }).toString()
  return `${base}${place}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}${query === '' ? '' : `?${query}`}`
}

function rowOf(row: JsonObject, shown: readonly number[]): ServerRow {
  const cells = Array.isArray(row['cells']) ? row['cells'] : []
  const { metadata } = isJsonObject(row['object']) ? row['object'] : {}
  const { name, namespace } = isJsonObject(metadata) ? metadata : {}
  return { cells: shown.map((index) => textOf(cells[index])), name: textOf(name), namespace: textOf(namespace) }
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : stringifyJson(value)
}
