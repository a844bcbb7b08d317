/**
 * Empties namespaces that are being deleted, and lets go of them.
 *
 *   deletionTimestamp ──▶ pods ──all gone──▶ everything else ──all gone──▶ finalizer `kubernetes` off
 *                          │ some stay            │ some stay
 *                          └──────────────────────┴──▶ conditions say what and why; look again
 *
 * It acts at once: our server refuses what is created in a namespace from the moment of its deletion on. Servers that are
 * several, and hear of it one after the other, need `graceMs`.
 *
 * Invariants: nothing in a namespace that is not being deleted is touched; pods go before what they may use; the finalizer
 * goes only after a look that knew every kind, failed nowhere and found nothing.
 */
import {
  compareText,
  declareKind,
  deepEqual,
  isNotFound,
  parseTime,
  setCondition,
  type Condition,
  type Kind,
  type KubeObject,
  type Stored,
} from '#api'
import type { BaseContext, ControllerDeclaration, Predicate, ReconcileResult } from '#controller'
import {
  findContents,
  isPod,
  removeContent,
  type Contents,
  type RemainingContent,
  type RemovalOptions,
} from './namespace-content.ts'

export interface NamespaceControllerOptions {
  /** How many namespaces are emptied at a time. @default 10 */
  readonly concurrency?: number
  /**
   * How long a namespace is left alone after its deletion, so that every server has heard of it.
   *
   * @default 0
   */
  readonly graceMs?: number
}

/** The finalizer in `spec` that stands for the content. */
const finalizer = 'kubernetes'

/** The first of the looks at a namespace that waits; each one later, until what waits has said how long it takes. */
const quickRecheckMs = 50

export function namespaceController({
  concurrency = 10,
  graceMs = 0,
}: NamespaceControllerOptions = {}): ControllerDeclaration<typeof namespaceKind> {
  if (!(graceMs >= 0)) throw new RangeError(`graceMs must be 0 or more, got ${graceMs}`)
  // How often in a row a namespace was looked at in vain. Forgetting it costs an early look, nothing else.
  const looks = new Map<string, number>()
  // When each was first seen going, by this process's own clock; forgetting it costs a grace period.
  const seenMs = new Map<string, number>()
  return {
    name: 'namespace-controller',
    for: namespaceKind,
    concurrency,
    predicates: [endsNow],
    backoff: { maxMs: 60_000 },
    rbac: [
      { apiGroups: [''], resources: ['namespaces/finalize', 'namespaces/status'], verbs: ['update'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['delete', 'deletecollection', 'get', 'list'] },
    ],
    async reconcileKey({ name }, context): Promise<ReconcileResult | undefined> {
      const sinceMs = seenMs.get(name) ?? context.clock.monotonic()
      seenMs.set(name, sinceMs)
      const waitMs = await reconcileNamespace(name, { context, graceMs, sinceMs })
      const count = looks.get(name) ?? 0
      if (waitMs === 0) {
        looks.delete(name)
        seenMs.delete(name)
      } else looks.set(name, count + 1)
      return waitMs === 0 ? undefined : { afterMs: Math.min(quickRecheckMs * 2 ** Math.min(count, 20), waitMs) }
    },
  }
}

/** Does what can be done now; gives how long to wait, 0 when nothing is left to do. */
async function reconcileNamespace(
  name: string,
  { context, graceMs, sinceMs }: { context: BaseContext; graceMs: number; sinceMs: number },
): Promise<number> {
  const { client, clock, signal } = context
  // From the server: another namespace of this name must not be taken for the one that went.
  const namespace = await client.find(namespaceKind, { name }, { live: true, signal })
  if (namespace?.metadata.deletionTimestamp === undefined || !namespace.spec?.finalizers?.length) return 0
  // The server's clock may be ahead of ours: then what we have seen ourselves is more to go by.
  const goingMs = Math.max(
    clock.now() - (parseTime(namespace.metadata.deletionTimestamp) ?? 0),
    clock.monotonic() - sinceMs,
  )
  if (goingMs < graceMs) return graceMs - goingMs
  const look = await deleteContents({ client, namespace: name, deletingMs: goingMs, signal })
  const explained = await updateConditions(namespace, look, context)
  const failures = [look.discoveryFailure, look.parsingFailure, ...look.remaining.map(({ failure }) => failure)].filter(
    (failure) => failure !== undefined,
  )
  if (failures.length > 0) throw new Error(`namespace ${name} could not be emptied: ${failures.join(', ')}`)
  const estimateSeconds = Math.max(0, ...look.remaining.map((left) => left.estimateSeconds))
  if (estimateSeconds > 0) return (estimateSeconds / 2 + 1) * 1000
  await finalize(explained, context)
  return 0
}

/** Deletes what there is, pods first; as long as some are there, or nobody knows, nothing else is touched. */
async function deleteContents(options: RemovalOptions): Promise<ContentScan> {
  const { contents, ...failures } = await findContents(options.client, options)
  const pods = contents.filter(({ kind }) => isPod(kind))
  const left: RemainingContent[] = []
  for (const batch of [pods, contents.filter((content) => !pods.includes(content))]) {
    for (const content of batch) left.push(await removeContent(content, options))
    if (left.some(({ count, failure }) => count > 0 || failure !== undefined)) break
  }
  return { ...failures, remaining: left }
}

/** Says how it stands, if that is news; gives the namespace as it is then. */
async function updateConditions(
  namespace: Stored<NamespaceObject>,
  look: ContentScan,
  { client, clock, signal }: BaseContext,
): Promise<Stored<NamespaceObject>> {
  const { status = {} } = namespace
  const conditions = terminationConditions(status.conditions, look, { nowMs: clock.now() })
  if (conditions === status.conditions && status.phase === 'Terminating') return namespace
  return client.updateStatus({ ...namespace, status: { ...status, phase: 'Terminating', conditions } }, { signal })
}

async function finalize(namespace: Stored<NamespaceObject>, { client, signal }: BaseContext): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((present) => present !== finalizer)
  try {
    await client.subresource('finalize').update({ ...namespace, spec: { ...namespace.spec, finalizers } }, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Beginning to go, or going on to go with other finalizers: what is said about it meanwhile is mostly said here. */
const endsNow: Predicate = (event) => {
  const object = event.object as NamespaceObject
  if (event.type !== 'update' || object.metadata.deletionTimestamp === undefined)
    return object.metadata.deletionTimestamp !== undefined
  const old = event.old as NamespaceObject | undefined
  return (
    event.isResync ||
    old?.metadata.deletionTimestamp === undefined ||
    !deepEqual(old.spec?.finalizers ?? [], object.spec?.finalizers ?? [])
  )
}

/*
 * What a namespace says about its own end: five conditions, in words that people and tools know.
 *
 * Each is there as soon as the namespace is being emptied, with status False while there is nothing to complain about;
 * the moment of transition moves only when the status does.
 */

/** What one look at a namespace came to. */
export interface ContentScan extends Pick<Contents, 'discoveryFailure' | 'parsingFailure'> {
  /** What is left, and what went wrong, kind by kind. */
  readonly remaining: readonly RemainingContent[]
}

interface ConditionText {
  readonly reason: string
  readonly message: string
}

/** The conditions that follow from a look; the very same list when nothing is new. */
export function terminationConditions(
  conditions: readonly Condition[] | undefined,
  look: ContentScan,
  { nowMs }: { nowMs: number },
): readonly Condition[] {
  let next = conditions ?? []
  for (const { type, good, find } of terminationConditionTypes) {
    const trouble = find(look)
    next = setCondition(next, { type, status: trouble ? 'True' : 'False', ...(trouble ?? good) }, { now: nowMs })
  }
  return next
}

interface TerminationCondition {
  readonly type: string
  readonly good: ConditionText
  find(look: ContentScan): ConditionText | undefined
}

const terminationConditionTypes: readonly TerminationCondition[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    good: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    find: ({ discoveryFailure: message }) =>
      message === undefined ? undefined : { reason: 'DiscoveryFailed', message },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    good: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    find: ({ parsingFailure: message }) =>
      message === undefined ? undefined : { reason: 'GroupVersionParsingFailed', message },
  },
  {
    type: 'NamespaceDeletionContentFailure',
    good: { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
    find: ({ remaining: left }) => findFailures(left),
  },
  {
    type: 'NamespaceContentRemaining',
    good: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    find: ({ remaining: left }) => findRemaining(left),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    good: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    find: ({ remaining: left }) => findFinalizers(left),
  },
]

function findFailures(left: readonly RemainingContent[]): ConditionText | undefined {
  const failures = left.flatMap(({ failure }) => failure ?? [])
  if (failures.length === 0) return undefined
  return {
    reason: 'ContentDeletionFailed',
    message: `Failed to delete all resource types, ${failures.length} remaining: ${sorted(failures)}`,
  }
}

function findRemaining(left: readonly RemainingContent[]): ConditionText | undefined {
  const remaining = left.filter(({ count }) => count > 0)
  if (remaining.length === 0) return undefined
  const kinds = remaining.map(
    ({ kind: { plural, group }, count }) => `${plural}.${group} has ${count} resource instances`,
  )
  return { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${sorted(kinds)}` }
}

function findFinalizers(left: readonly RemainingContent[]): ConditionText | undefined {
  const counts = new Map<string, number>()
  for (const { finalizers } of left)
    for (const [finalizer, count] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + count)
  if (counts.size === 0) return undefined
  const held = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return {
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${sorted(held)}`,
  }
}

/** In an order of its own: the same things say the same text. */
function sorted(texts: readonly string[]): string {
  return [...texts].sort(compareText).join(', ')
}

/*
 * Namespaces as the plane's controllers see them.
 */

export interface NamespaceObject extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

export const namespaceKind: Kind<NamespaceObject> = declareKind<NamespaceObject>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  scope: 'Cluster',
})
