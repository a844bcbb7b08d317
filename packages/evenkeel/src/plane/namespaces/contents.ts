/**
 * What a namespace can have in it: every namespaced resource that can be deleted, each in one version.
 *
 * Asked anew each time, because kinds come and go. What could not be found out is said and not guessed: a namespace is
 * only let go when everything that may be in it was looked at.
 */
import { compareText, declareKind, isApiError, isJsonObject } from '#api'
import type { AbortOptions } from '#base'
import type { JsonObject, JsonValue, Kind } from '#api'
import type { Client, DiscoveredResource } from '#client'

/** One kind of content, and what can be done with it. */
export interface Content {
  readonly kind: Kind
  readonly verbs: ReadonlySet<string>
}

export interface Contents {
  /** In the order in which the server lists them. */
  readonly contents: readonly Content[]
  /** Why not everything is known; absent when everything is. */
  readonly discoveryFailure?: string
  /** What the server calls its versions and nobody can read; absent when there is no such thing. */
  readonly parsingFailure?: string
}

/** @throws what is no answer of the server: then there is nobody to tell, and it is tried again. */
export async function findContents(client: Client, { signal }: AbortOptions): Promise<Contents> {
  try {
    const resources = await client.resources({ ...(signal && { signal }), reload: true })
    const stale = await findStale(client, { ...(signal && { signal }) })
    return {
      ...readContents(resources.filter(({ apiVersion }) => !stale.includes(apiVersion))),
      ...(stale.length > 0 && { discoveryFailure: describeStale(stale) }),
    }
  } catch (error) {
    if (!isApiError(error)) throw error
    return { contents: [], discoveryFailure: error.message }
  }
}

/** Every resource once, in the version that the server prefers. */
function readContents(resources: readonly DiscoveredResource[]): Pick<Contents, 'contents' | 'parsingFailure'> {
  const contents = new Map<string, Content>()
  const unreadable = new Set<string>()
  for (const { group, version, kind, plural, namespaced, verbs, apiVersion } of resources) {
    const id = JSON.stringify([group, plural])
    if (!namespaced || !verbs.includes('delete') || contents.has(id)) continue
    try {
      contents.set(id, { kind: declareKind({ group, version, kind, plural }), verbs: new Set(verbs) })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      unreadable.add(apiVersion)
    }
  }
  return {
    contents: [...contents.values()],
    ...(unreadable.size > 0 && {
      parsingFailure: [...unreadable]
        .sort(compareText)
        .map((text) => `unexpected GroupVersion string: ${text}`)
        .join(', '),
    }),
  }
}

const staleAccept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

/** Group versions whose own server does not answer: what is said about them is old, or nothing. */
async function findStale(client: Client, options: AbortOptions): Promise<string[]> {
  const document = (await client.raw({ path: '/apis', headers: { accept: staleAccept } }, options)).json()
  return objectsOf(document['items'])
    .flatMap((group) => {
      const name = isJsonObject(group['metadata']) ? group['metadata']['name'] : ''
      return objectsOf(group['versions'])
        .filter(({ freshness }) => freshness === 'Stale')
        .map(({ version }) => `${String(name)}/${String(version)}`)
    })
    .sort(compareText)
}

function describeStale(stale: readonly string[]): string {
  const groups = stale.map((apiVersion) => `${apiVersion}: stale GroupVersion discovery: ${apiVersion}`)
  return `Discovery failed for some groups, ${stale.length} failing: unable to retrieve the complete list of server APIs: ${groups.join(', ')}`
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
