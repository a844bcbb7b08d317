/**
 * What exists instead of an object that does not: similar names in its namespace, or the namespace that has it.
 *
 * Suggestions are a courtesy: when they cannot be read, the failure is reported without them.
 */
import { isApiError } from 'evenkeel/unstable/api'
import { metadataOnly, type Client } from 'evenkeel/client'
import { Failure } from './failure.ts'
import { nearestWords } from './parse.ts'

interface SoughtObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

interface SuggestOptions {
  readonly object: SoughtObject
  readonly signal: AbortSignal
}

/** How many names are compared. */
const namesMax = 500

/** How many suggestions of one sort are printed. */
const shownMax = 3

/** Passes the result on; a NotFound becomes a failure with suggestions. @throws {Failure} `not-found` */
export async function orSuggest<T>(read: Promise<T>, client: Client, options: SuggestOptions): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (!isApiError(error) || error.reason !== 'NotFound') throw error
    throw new Failure('not-found', error.message, { cause: error, hint: await suggestionsFor(client, options) })
  }
}

/** The failure for an object that a list does not contain. */
export async function notFound(client: Client, options: SuggestOptions): Promise<Failure> {
  const { kind, name, namespace } = options.object
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`
  return new Failure('not-found', `${kind.toLowerCase()}/${name} does not exist${where}`, {
    hint: await suggestionsFor(client, options),
  })
}

async function suggestionsFor(client: Client, options: SuggestOptions): Promise<readonly string[]> {
  const { apiVersion, kind, name, namespace } = options.object
  const singular = kind.toLowerCase()
  const { plural, namespaced } = (await client.resources()).find(
    (resource) => resource.apiVersion === apiVersion && resource.kind === kind,
  ) ?? { plural: singular, namespaced: namespace !== undefined }
  const [elsewhere, similar, missing] = await Promise.all([
    namespaced ? namespacesWith(client, options) : [],
    similarNames(client, options),
    namespaced ? missingNamespace(client, options) : undefined,
  ])
  const found = [
    ...(missing === undefined ? [] : [missing]),
    ...elsewhere.map((other) => `-n ${other}: ${singular}/${name} exists in namespace ${other}`),
    ...(similar.length === 0 ? [] : [similar.map((other) => `${singular}/${other}`).join(', ')]),
  ]
  if (found.length > 0) return found
  return [`evenkeel get ${plural}${namespaced ? ` ${namespace === undefined ? '-A' : `-n ${namespace}`}` : ''}`]
}

/** Other namespaces that have an object with this name. */
async function namespacesWith(
  client: Client,
  { object: { apiVersion, kind, name }, signal }: SuggestOptions,
): Promise<readonly string[]> {
  const items = await quietly(
    client.page(metadataOnly({ apiVersion, kind }), {
      fieldSelector: `metadata.name=${name}`,
      pageSize: shownMax,
      signal,
    }),
    signal,
  )
  return items.flatMap(({ metadata }) => metadata.namespace ?? []).slice(0, shownMax)
}

/** Names that differ by a few characters, or that begin with the name, as those of pods do. */
async function similarNames(
  client: Client,
  { object: { apiVersion, kind, name, namespace }, signal }: SuggestOptions,
): Promise<readonly string[]> {
  const items = await quietly(
    client.page(metadataOnly({ apiVersion, kind }), {
      ...(namespace !== undefined && { namespace }),
      pageSize: namesMax,
      signal,
    }),
    signal,
  )
  return nearestWords(
    name,
    items.map(({ metadata }) => metadata.name ?? ''),
  )
}

/** A sentence, if the namespace itself does not exist. */
async function missingNamespace(
  client: Client,
  { object: { namespace }, signal }: SuggestOptions,
): Promise<string | undefined> {
  if (namespace === undefined) return undefined
  const items = await quietly(
    client.page(metadataOnly({ apiVersion: 'v1', kind: 'Namespace' }), { pageSize: namesMax, signal }),
    signal,
  )
  const names = items.map(({ metadata }) => metadata.name ?? '')
  if (names.length === 0 || names.length === namesMax || names.includes(namespace)) return undefined
  const meant = nearestWords(namespace, names)
  return meant.length === 0
    ? `evenkeel get namespaces: namespace ${namespace} does not exist`
    : `${meant.map((each) => `-n ${each}`).join(', ')}: namespace ${namespace} does not exist`
}

interface NamedItem {
  readonly metadata: { readonly name?: string; readonly namespace?: string }
}

/** The items of a page; none when it cannot be read. */
async function quietly(
  page: Promise<{ readonly items: readonly NamedItem[] }>,
  signal: AbortSignal,
): Promise<readonly NamedItem[]> {
  try {
    return (await page).items
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}
