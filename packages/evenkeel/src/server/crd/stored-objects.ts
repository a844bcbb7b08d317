/**
 * Whether stored objects fit a changed schema.
 *
 * A server accepts a stricter schema without a look at stored objects. A program then reads objects that lack what its
 * types promise: `spec.tier` is a string to the compiler and undefined in fact. So `installKinds` checks first.
 *
 * An object counts only if the new schema finds an error that the old one does not find. The status does not count: its
 * controller writes it again.
 */
import {
  defaultCustomObject,
  isForbidden,
  isNotFound,
  patternMatcher,
  stringifyJson,
  validateCustomObject,
  type FieldError,
  type JsonObject,
  type SchemaNode,
} from '#api'

/** The versions of a CRD, as far as they matter here. */
export interface SchemaVersions {
  readonly group: string
  readonly plural: string
  readonly kind: string
  /** The schema of each version. */
  readonly schemas: ReadonlyMap<string, SchemaNode>
}

/** A new schema that does not fit stored objects. */
export class SchemaChangeError extends Error {
  override readonly name = 'SchemaChangeError'
}

const pageSize = 100
/** More objects than this are not read: a start must not take minutes. */
const objectsMax = 20_000
const shownMax = 3

/** The document at a path. @throws {ApiError} */
type ReadDocument = (target: string) => Promise<unknown>

interface Misfit {
  readonly object: string
  readonly error: FieldError
}

/** @throws {SchemaChangeError} when stored objects do not fit. Objects that may not be listed are not checked. */
export async function checkStoredObjects(
  before: SchemaVersions,
  after: SchemaVersions,
  read: ReadDocument,
): Promise<void> {
  for (const [version, schema] of after.schemas) {
    const old = before.schemas.get(version)
    if (!old || stringifyJson(old) === stringifyJson(schema)) continue
    const path = `/apis/${after.group}/${version}/${after.plural}`
    let objects = 0
    const misfits: Misfit[] = []
    for await (const object of listObjects(path, read)) {
      if (++objects > objectsMax) break
      const misfit = misfitOf(object, { old, schema })
      if (misfit) misfits.push(misfit)
    }
    if (misfits.length > 0) throw new SchemaChangeError(explain(misfits, { objects, version, kind: after.kind }))
  }
}

function misfitOf(object: JsonObject, { old, schema }: { old: SchemaNode; schema: SchemaNode }): Misfit | undefined {
  const errors = errorsOf(object, schema)
  if (errors.length === 0) return undefined
  const known = new Set(errorsOf(object, old).map(({ field }) => field))
  const error = errors.find(({ field }) => !known.has(field))
  const { name = '', namespace } = (object['metadata'] ?? {}) as { name?: string; namespace?: string }
  return error && { object: namespace === undefined ? name : `${namespace}/${name}`, error }
}

function errorsOf(object: JsonObject, schema: SchemaNode): readonly FieldError[] {
  const { status: _, ...rest } = object
  return validateCustomObject(defaultCustomObject(rest, schema), schema, { matches: patternMatcher() })
}

function explain(
  misfits: readonly Misfit[],
  { objects, version, kind }: { objects: number; version: string; kind: string },
): string {
  const fields = [...new Map(misfits.map(({ error }) => [error.field, error])).values()].slice(0, shownMax)
  const named = misfits.slice(0, shownMax).map(({ object }) => object)
  const more = misfits.length > named.length ? ' ...' : ''
  const isRequired = fields.some(({ type }) => type === 'FieldValueRequired')
  const remedy = isRequired ? 'give the field a default or make it optional' : 'allow the stored values'
  return `${misfits.length} of ${objects} stored objects of ${kind} ${version} do not fit the new schema (${named.join(', ')}${more}): ${fields.map(describe).join('; ')}. Either ${remedy}, or correct the objects first; install: 'force' replaces the schema anyway`
}

function describe({ field, body }: FieldError): string {
  return `${field}: ${body}`
}

async function* listObjects(path: string, read: ReadDocument): AsyncGenerator<JsonObject> {
  for (let next = ''; ;) {
    const target = `${path}?limit=${pageSize}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`
    const page = await readPage(target, read)
    yield* page?.items ?? []
    next = page?.metadata.continue ?? ''
    if (next === '') return
  }
}

interface Page {
  readonly metadata: { readonly continue?: string }
  readonly items: readonly JsonObject[]
}

/** Undefined when the list may not be read, or is not served: then nothing is checked. */
async function readPage(target: string, read: ReadDocument): Promise<Page | undefined> {
  try {
    return (await read(target)) as Page
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined
    throw error
  }
}
