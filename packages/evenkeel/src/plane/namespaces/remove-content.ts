/**
 * Deletes all objects of one kind in a namespace, and says what stays and why.
 *
 * As a collection where the server can, one by one where it cannot. What has finalizers or a grace period stays for a
 * while, and that is no failure; what stays without a reason is one.
 */
import { isApiError, isMethodNotAllowed, isNotFound } from '#api'
import type { AbortOptions } from '#base'
import type { Kind, KubeObject } from '#api'
import { isUnknownKind, metadataOnly, refTo } from '#client'
import type { Client } from '#client'
import type { Content } from './contents.ts'

/** What is left of one kind. */
export interface RemainingContent {
  readonly kind: Kind
  readonly count: number
  /** How many objects each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>
  /** After about how long it may be gone; 0: nobody can say. */
  readonly estimateSeconds: number
  /** What went wrong, in words. */
  readonly failure?: string
}

export interface RemovalOptions extends AbortOptions {
  readonly client: Client
  readonly namespace: string
  /** For how long the namespace has been going. */
  readonly deletingMs: number
}

/** Finalizers are given this long, as nobody knows what they do. */
const finalizerSeconds = 15

/** Deletes what is there. @throws what is no answer of the server. */
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
  { namespace, graceSeconds, deletingMs: goingMs }: RemovalOptions & { graceSeconds: number },
): RemainingContent {
  if (items.length === 0) return noRemainingContent(kind)
  const finalizers = new Map<string, number>()
  for (const { metadata } of items)
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  // Whoever was given time and has had it is no longer waited for.
  const estimateSeconds = goingMs >= graceSeconds * 1000 ? 0 : graceSeconds
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

/**
 * How long objects may take to go by themselves; undefined when there are none, which for most kinds is all there is
 * to find out.
 */
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

/** Discovery tells of it and the server does not have it: a kind that has just gone, or that cannot do what it says. */
function isUnserved(error: unknown): boolean {
  return isUnknownKind(error) || isNotFound(error) || isMethodNotAllowed(error)
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly terminationGracePeriodSeconds?: number }
  readonly status?: { readonly phase?: string }
}

/** Pods have time of their own to end in. */
export function isPod({ group, plural }: Kind): boolean {
  return group === '' && plural === 'pods'
}

/** The longest time that a pod has for its end; undefined without pods. */
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
