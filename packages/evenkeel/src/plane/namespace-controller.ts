/**
 * Deletes the content of namespaces that are being deleted, and removes their finalizer.
 *
 *   deletionTimestamp ──▶ delete pods ──all gone──▶ delete the rest ──all gone──▶ remove the finalizer `kubernetes`
 *                          │ some remain               │ some remain
 *                          └───────────────────────────┴──▶ report them in conditions; requeue
 *
 * It starts at once, because an Evenkeel server refuses new objects in a namespace as soon as it is being deleted. Several
 * servers that learn of the deletion at different times need `graceMs`.
 *
 * Invariants: nothing is deleted in a namespace that is not being deleted; pods are deleted before the objects they may
 * use; the finalizer is removed only after a scan that knew every resource, had no failure and found nothing.
 *
 * The five termination conditions and their texts are those of kube-controller-manager. All are set from the first scan
 * on; the transition time changes only with the status.
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
  /** How many namespaces are reconciled at a time. @default 10 */
  readonly concurrency?: number
  /**
   * How long to wait after the deletion of a namespace, so that every server knows of it.
   *
   * @default 0
   */
  readonly graceMs?: number
}

/** The finalizer in `spec` for the content. */
const finalizer = 'kubernetes'

/** First requeue delay of a namespace with remaining content; doubles up to the estimate. */
const quickRecheckMs = 50

export function namespaceController({
  concurrency = 10,
  graceMs = 0,
}: NamespaceControllerOptions = {}): ControllerDeclaration<typeof namespaceKind> {
  if (!(graceMs >= 0)) throw new RangeError(`graceMs must be 0 or more, got ${graceMs}`)
  // How many scans in a row found content. A loss causes an early requeue, nothing else.
  const scans = new Map<string, number>()
  // When this process first saw the deletion, by its monotonic clock. A loss repeats the grace period.
  const seenMs = new Map<string, number>()
  return {
    name: 'namespace-controller',
    for: namespaceKind,
    concurrency,
    predicates: [isTerminating],
    backoff: { maxMs: 60_000 },
    rbac: [
      { apiGroups: [''], resources: ['namespaces/finalize', 'namespaces/status'], verbs: ['update'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['delete', 'deletecollection', 'get', 'list'] },
    ],
    async reconcileKey({ name }, context): Promise<ReconcileResult | undefined> {
      const sinceMs = seenMs.get(name) ?? context.clock.monotonic()
      seenMs.set(name, sinceMs)
      const waitMs = await reconcileNamespace(name, { context, graceMs, sinceMs })
      const count = scans.get(name) ?? 0
      if (waitMs === 0) {
        scans.delete(name)
        seenMs.delete(name)
      } else scans.set(name, count + 1)
      return waitMs === 0 ? undefined : { afterMs: Math.min(quickRecheckMs * 2 ** Math.min(count, 20), waitMs) }
    },
  }
}

/** Reconciles a namespace. @returns how long to wait, 0 if there is nothing left to do */
async function reconcileNamespace(
  name: string,
  { context, graceMs, sinceMs }: { context: BaseContext; graceMs: number; sinceMs: number },
): Promise<number> {
  const { client, clock, signal } = context
  // A live read: the cache may still have an earlier namespace of this name.
  const namespace = await client.find(namespaceKind, { name }, { live: true, signal })
  if (namespace?.metadata.deletionTimestamp === undefined || !namespace.spec?.finalizers?.length) return 0
  // If the clock of the server is ahead, our own observation is older.
  const deletingMs = Math.max(
    clock.now() - (parseTime(namespace.metadata.deletionTimestamp) ?? 0),
    clock.monotonic() - sinceMs,
  )
  if (deletingMs < graceMs) return graceMs - deletingMs
  const scan = await deleteContents({ client, namespace: name, deletingMs, signal })
  const updated = await updateConditions(namespace, scan, context)
  const failures = [scan.discoveryFailure, scan.parsingFailure, ...scan.remaining.map(({ failure }) => failure)].filter(
    (failure) => failure !== undefined,
  )
  if (failures.length > 0) throw new Error(`cannot delete the content of namespace ${name}: ${failures.join(', ')}`)
  const estimateSeconds = Math.max(0, ...scan.remaining.map((remaining) => remaining.estimateSeconds))
  if (estimateSeconds > 0) return (estimateSeconds / 2 + 1) * 1000
  await finalize(updated, context)
  return 0
}

/** Deletes the content, pods first. While pods remain, or cannot be listed, nothing else is deleted. */
async function deleteContents(options: RemovalOptions): Promise<ContentScan> {
  const { contents, ...failures } = await findContents(options.client, options)
  const pods = contents.filter(({ kind }) => isPod(kind))
  const remaining: RemainingContent[] = []
  for (const batch of [pods, contents.filter((content) => !pods.includes(content))]) {
    for (const content of batch) remaining.push(await removeContent(content, options))
    if (remaining.some(({ count, failure }) => count > 0 || failure !== undefined)) break
  }
  return { ...failures, remaining }
}

/** Writes the conditions if they changed. @returns the namespace as stored */
async function updateConditions(
  namespace: Stored<NamespaceObject>,
  scan: ContentScan,
  { client, clock, signal }: BaseContext,
): Promise<Stored<NamespaceObject>> {
  const { status = {} } = namespace
  const conditions = terminationConditions(status.conditions, scan, { nowMs: clock.now() })
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

/** Passes events of terminating namespaces, without status updates, which mostly come from this controller. */
const isTerminating: Predicate = (event) => {
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

/** The result of one scan of a namespace. */
export interface ContentScan extends Pick<Contents, 'discoveryFailure' | 'parsingFailure'> {
  /** Remaining objects and failures, by kind. */
  readonly remaining: readonly RemainingContent[]
}

interface ConditionText {
  readonly reason: string
  readonly message: string
}

/** The conditions after a scan; the same list object if nothing changed. */
export function terminationConditions(
  conditions: readonly Condition[] | undefined,
  scan: ContentScan,
  { nowMs }: { nowMs: number },
): readonly Condition[] {
  let next = conditions ?? []
  for (const { type, good, find } of terminationConditionTypes) {
    const problem = find(scan)
    next = setCondition(next, { type, status: problem ? 'True' : 'False', ...(problem ?? good) }, { now: nowMs })
  }
  return next
}

interface TerminationCondition {
  readonly type: string
  readonly good: ConditionText
  find(scan: ContentScan): ConditionText | undefined
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
    find: ({ remaining }) => findFailures(remaining),
  },
  {
    type: 'NamespaceContentRemaining',
    good: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    find: ({ remaining }) => findRemaining(remaining),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    good: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    find: ({ remaining }) => findFinalizers(remaining),
  },
]

function findFailures(remaining: readonly RemainingContent[]): ConditionText | undefined {
  const failures = remaining.flatMap(({ failure }) => failure ?? [])
  if (failures.length === 0) return undefined
  return {
    reason: 'ContentDeletionFailed',
    message: `Failed to delete all resource types, ${failures.length} remaining: ${sorted(failures)}`,
  }
}

function findRemaining(scanned: readonly RemainingContent[]): ConditionText | undefined {
  const remaining = scanned.filter(({ count }) => count > 0)
  if (remaining.length === 0) return undefined
  const kinds = remaining.map(
    ({ kind: { plural, group }, count }) => `${plural}.${group} has ${count} resource instances`,
  )
  return { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${sorted(kinds)}` }
}

function findFinalizers(remaining: readonly RemainingContent[]): ConditionText | undefined {
  const counts = new Map<string, number>()
  for (const { finalizers } of remaining)
    for (const [finalizer, count] of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + count)
  if (counts.size === 0) return undefined
  const counted = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return {
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${sorted(counted)}`,
  }
}

/** Sorted, so that the same content gives the same text. */
function sorted(texts: readonly string[]): string {
  return [...texts].sort(compareText).join(', ')
}

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
