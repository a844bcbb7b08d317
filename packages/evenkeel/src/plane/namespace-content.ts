/**
 * The content of a namespace: finds all namespaced resources, deletes their objects, and reports what remains and why.
 *
 * Resources come from discovery on each scan, because kinds are installed and removed. A discovery failure is reported and
 * prevents the removal of the finalizer: the namespace may contain objects of unknown resources.
 *
 * Objects are deleted as a collection if the server supports it, otherwise one by one. Objects with finalizers or a grace
 * period remain for a while; objects that remain without such a reason are a failure.
 */
import {
  compareText,
  declareKind,
  isApiError,
  isJsonObject,
  isMethodNotAllowed,
  isNotFound,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
} from '#api'
import type { AbortOptions } from '#base'
import { isUnknownKind, metadataOnly, refTo, type Client, type DiscoveredResource } from '#client'

/** The remaining objects of one kind. */
export interface RemainingContent {
  readonly kind: Kind
  readonly count: number
  /** How many objects have each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  /** Estimated time until they are gone; 0 if unknown. */
  readonly estimateSeconds: number
  /** Why the deletion failed. */
  readonly failure?: string
}

export interface RemovalOptions extends AbortOptions {
  readonly client: Client
  readonly namespace: string
  /** How long the namespace is being deleted. */
  readonly deletingMs: number
}

/** The estimate for objects with finalizers, as in kube-controller-manager. */
const finalizerSeconds = 15

/** Deletes all objects of a kind. @throws errors that are no answer of the server. */
export async function removeContent(content: Content, options: RemovalOptions): Promise<RemainingContent> {
  const { kind, verbs } = content
  try {
    const graceSeconds = await findGrace(content, options)
    if (graceSeconds === undefined) return noRemainingContent(kind)
    await removeAll(content, options)
    return remainingContent(kind, verbs.has('list') ? await listMetadata(kind, options) : [], {
      ...options,
      graceSeconds,
    })
  } catch (error) {
    if (!isApiError(error) && !isUnknownKind(error)) throw error
    return { ...noRemainingContent(kind), failure: error.message }
  }
}

function noRemainingContent(kind: Kind): RemainingContent {
  return { kind, count: 0, finalizers: new Map(), estimateSeconds: 0 }
}

function remainingContent(
  kind: Kind,
  items: readonly KubeObject[],
  { namespace, graceSeconds, deletingMs }: RemovalOptions & { graceSeconds: number },
): RemainingContent {
  if (items.length === 0) return noRemainingContent(kind)
  const finalizers = new Map<string, number>()
  for (const { metadata } of items)
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  // After the grace period there is no estimate any more.
  const estimateSeconds = deletingMs >= graceSeconds * 1000 ? 0 : graceSeconds
  const left: RemainingContent = {
    kind,
    count: items.length,
    finalizers,
    estimateSeconds: estimateSeconds || (finalizers.size > 0 ? finalizerSeconds : 0),
  }
  if (left.estimateSeconds > 0) return left
  return {
    ...left,
    failure: `unexpected items still remain in namespace: ${namespace} for gvr: ${kind.group}/${kind.version}, Resource=${kind.plural}`,
  }
}

/** The longest grace period of the objects; undefined if there are none, which is the case for most kinds. */
async function findGrace(
  { kind, verbs }: Content,
  { client, namespace, signal }: RemovalOptions,
): Promise<number | undefined> {
  if (!verbs.has('list')) return 0
  try {
    if (isPod(kind)) return longestGrace((await client.list(kind, { namespace, ...(signal && { signal }) })).items)
    return (await client.page(metadataOnly(kind), { namespace, pageSize: 1, ...(signal && { signal }) })).items
      .length === 0
      ? undefined
      : 0
  } catch (error) {
    if (isUnserved(error)) return undefined
    throw error
  }
}

/** Discovery lists the resource, but the server does not serve it: it was just removed, or lacks the verb. */
function isUnserved(error: unknown): boolean {
  return isUnknownKind(error) || isNotFound(error) || isMethodNotAllowed(error)
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number }
  readonly status?: { readonly phase?: string }
}

/** Pods have a termination grace period. */
export function isPod({ group, plural }: Kind): boolean {
  return group === '' && plural === 'pods'
}

/** The longest termination grace period; undefined without pods. */
function longestGrace(pods: readonly PodObject[]): number | undefined {
  if (pods.length === 0) return undefined
  const running = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
  return running.reduce((longest, { spec }) => Math.max(longest, spec?.terminationGracePeriodSeconds ?? 0), 0)
}

async function removeAll(content: Content, options: RemovalOptions): Promise<void> {
  const { kind, verbs } = content
  const { client, namespace, signal } = options
  if (verbs.has('deletecollection')) {
    try {
      await client.deleteAllOf(kind, { namespace, propagationPolicy: 'Background', ...(signal && { signal }) })
      return
    } catch (error) {
      if (!isUnserved(error)) throw error
    }
  }
  if (verbs.has('list')) await removeEach(kind, options)
}

async function removeEach(kind: Kind, options: RemovalOptions): Promise<void> {
  const { client, signal } = options
  for (const {
    metadata: { name = '', namespace, uid },
  } of await listMetadata(kind, options)) {
    const object = refTo(kind, { name, ...(namespace !== undefined && { namespace }) })
    await client.delete(object, {
      propagationPolicy: 'Background',
      ignoreNotFound: true,
      ...(uid !== undefined && { preconditions: { uid } }),
      ...(signal && { signal }),
    })
  }
}

async function listMetadata(kind: Kind, { client, namespace, signal }: RemovalOptions): Promise<readonly KubeObject[]> {
  return (await client.list(metadataOnly(kind), { namespace, ...(signal && { signal }) })).items
}

/** A namespaced resource and its verbs. */
interface Content {
  readonly kind: Kind
  readonly verbs: ReadonlySet<string>
}

export interface Contents {
  /** In the order of discovery. */
  readonly contents: readonly Content[]
  /** Why discovery is incomplete; absent if it is complete. */
  readonly discoveryFailure?: string
  /** Group versions that cannot be parsed; absent if there are none. */
  readonly parsingFailure?: string
}

/** Finds all deletable namespaced resources. @throws errors that are no answer of the server. */
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

/** Each resource once, in the preferred version. */
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

/** Group versions of aggregated API servers that do not answer: their discovery is stale or missing. */
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
