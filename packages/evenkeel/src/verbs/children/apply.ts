/**
 * Applies one child with at most one write, and with none if the child is already as desired.
 *
 *   no such object ──▶ apply without force     our child ──▶ apply with force, if it differs     being deleted ──▶ wait
 *   another owner ──▶ adopt if the policy allows it, otherwise a ChildProblem: the object is not touched
 *
 * Invariants: an existing object is written with its UID, so a new object of the same name is never overwritten; a run
 * with an older generation of the parent than the child was applied for writes nothing.
 *
 * Whether the child differs is decided only by the fields that the author sets. A server may store them differently
 * (defaults, normalized quantities), so the AppliedCache remembers the answer to each apply, for example:
 *
 *   applied `cpu: 1000m`, answer `cpu: "1"` ──▶ the cache notes the pair; later a live `cpu: "1"` needs no write
 *   after a restart the cache is empty ──▶ one apply that changes nothing, and the pair is noted again
 */
import {
  conflict,
  deepEqual,
  findCause,
  getControllerOf,
  getOwn,
  isApiError,
  isInvalid,
  isJsonObject,
  setOwn,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type KubeObject,
  type Owner,
  type PartState,
  asJson,
} from '#api'
import { StopReconcile, type BaseContext, type PluginRun } from '#controller'
import type { AdoptPolicy, RecreatePolicy } from './children.ts'
import { digestOf } from '../digest.ts'
import type { KnownChildren } from './child-readiness.ts'
import { describeId, type PreparedChild } from './desired-child.ts'
import { appliedAnnotation, belongsTo, formatApplied, ownerAnnotation, readApplied } from './ownership-labels.ts'
import type { ChildWatches } from './watches.ts'

interface ApplyPolicies {
  readonly adopt: AdoptPolicy
  readonly recreate: RecreatePolicy
}

/** What the files of one run share: the parent, the clients, and the state of the controller. */
export interface ChildRun {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly parent: Owner
  /** The name under which it reports, if another controller already reports children of this kind of parent. */
  readonly reporter: string | undefined
  readonly applied: AppliedCache
  readonly known: KnownChildren
  readonly watches: ChildWatches
}

/** Applies a child and returns it as stored. @throws {ChildProblem} */
export async function applyChild(run: ChildRun, desired: PreparedChild, policies: ApplyPolicies): Promise<KubeObject> {
  const live = await findChild(run, desired)
  if (!live) return await write(run, desired, undefined)
  checkOwnership(run, { live, desired, ...policies })
  checkUpToDate(run, live)
  if (live.metadata.deletionTimestamp !== undefined) return live
  const applied = readApplied(live)
  const isLastApplied = applied?.controller === run.run.controller && applied.digest === desired.digest
  if (isLastApplied && run.applied.isSame(live, desired.object)) return live
  try {
    return await write(run, desired, live)
  } catch (error) {
    if (policies.recreate === 'onImmutable' && isImmutable(error)) return await recreate(run, desired, live)
    throw error
  }
}

/** From the cache, or from the server if the cache does not have it: the cache may lag behind. */
async function findChild(
  { base: { client, signal }, run }: ChildRun,
  { kind, id: { name, namespace } }: PreparedChild,
): Promise<KubeObject | undefined> {
  const key = { name, ...(namespace !== '' && { namespace }) }
  const cached = ifCached(() => run.cache.find(kind, key))
  return (cached?.value as KubeObject | undefined) ?? (await client.find(kind, key, { live: true, signal }))
}

/** @throws {ChildProblem} if the object has another owner and may not be adopted. */
export function checkOwnership(
  run: ChildRun,
  { live, desired, adopt }: { live: KubeObject; desired: PreparedChild; adopt: AdoptPolicy },
): void {
  const other = describeOtherOwner(run, live)
  if (other === undefined || (other.isFree && mayAdopt(live, adopt))) return
  const { namespace, name } = run.base.key
  run.watches.await(run.run, live, { name, ...(namespace !== undefined && { namespace }) })
  throw new ChildProblem(`${describeId(desired.id, run.parent)} ${other.what}`, { state: 'Failed', reason: 'Conflict' })
}

/** The other owner; undefined if it is our child. `isFree`: it has no controller, so it may be adopted. */
function describeOtherOwner(
  { run: { controller }, parent }: ChildRun,
  live: KubeObject,
): { readonly what: string; readonly isFree: boolean } | undefined {
  const by = readApplied(live)?.controller
  if (belongsTo(live, parent)) {
    return by === undefined || by === controller
      ? undefined
      : {
          what: `is already applied by the controller ${by} of the same ${parent.kind}: only one controller can apply it`,
          isFree: true,
        }
  }
  const owner = getControllerOf(live)
  if (owner) return { what: `exists and belongs to ${owner.kind} ${owner.name} (uid ${owner.uid})`, isFree: false }
  const named = live.metadata.annotations?.[ownerAnnotation]
  if (by !== undefined && named !== undefined) return { what: `exists and belongs to ${named}`, isFree: false }
  return {
    what: 'exists and has no owner: delete it, give the child another name, or set adopt',
    isFree: live.metadata.deletionTimestamp === undefined,
  }
}

function mayAdopt(live: KubeObject, adopt: AdoptPolicy): boolean {
  if (typeof adopt === 'string') return adopt === 'ifOrphan'
  const labels = live.metadata.labels ?? {}
  return Object.entries(adopt.ifLabelled).every(
    ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
  )
}

/** Stops a run whose parent is older than the generation that the child was applied for. */
function checkUpToDate({ parent }: ChildRun, live: KubeObject): void {
  const { generation = 0 } = parent.metadata
  const applied = readApplied(live)
  if (!belongsTo(live, parent) || applied === undefined || applied.generation <= generation) return
  throw new StopReconcile(
    `${live.kind} ${live.metadata.name ?? ''} was applied for generation ${applied.generation} of ${parent.kind} ${parent.metadata.name}; this run has generation ${generation}`,
    {
      result: { park: `generation ${applied.generation} of its own object to arrive in the cache` },
    },
  )
}

async function write(run: ChildRun, desired: PreparedChild, live: KubeObject | undefined): Promise<KubeObject> {
  const {
    base: { client, signal },
    run: { controller },
    applied,
  } = run
  const annotated = withAppliedAnnotation(run, desired)
  const uid = live?.metadata.uid
  const body = uid === undefined ? annotated : { ...annotated, metadata: { ...annotated.metadata, uid } }
  try {
    const stored = await client.apply(body, { fieldManager: controller, force: live !== undefined, signal })
    applied.note(stored, desired.object)
    return stored
  } catch (error) {
    // Servers word a UID mismatch differently. It always means that the object was replaced: a conflict.
    if (isInvalid(error) && live && /metadata\.uid/.test(error.message)) {
      const { group, kind, name } = desired.id
      throw conflict({ group, kind, name }, error.message)
    }
    throw describeWriteProblem(error, desired)
  }
}

/** The child with the annotation that says who applied it, for which generation of the parent. */
export function withAppliedAnnotation(
  { run: { controller }, parent }: ChildRun,
  { object, digest }: PreparedChild,
): KubeObject {
  const { generation = 0 } = parent.metadata
  const applied = formatApplied({ controller, generation, digest })
  const annotations = { ...object.metadata.annotations, [appliedAnnotation]: applied }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** A {@link ChildProblem} where a retry does not help; any other error as it is. */
export function describeWriteProblem(error: unknown, { id }: PreparedChild): unknown {
  if (!isApiError(error) || !findCause(error, 'NamespaceTerminating')) return error
  return new ChildProblem(`cannot create ${id.kind} ${id.name}: the namespace ${id.namespace} is being deleted`, {
    state: 'Failed',
    reason: 'NamespaceTerminating',
  })
}

/** By the message: servers have no reason code for immutable fields. */
function isImmutable(error: unknown): boolean {
  return (
    isInvalid(error) && /immutable|may not change|cannot be changed|updates to .* are forbidden/i.test(error.message)
  )
}

/** Deletes the child. The delete event starts the run that creates it again. */
async function recreate(
  { base: { client, signal } }: ChildRun,
  { id }: PreparedChild,
  live: KubeObject,
): Promise<never> {
  const { uid, resourceVersion } = live.metadata
  await client.delete(live, {
    preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
    ignoreNotFound: true,
    signal,
  })
  throw new ChildProblem(
    `${id.kind} ${id.name} has an immutable field that must change: it was deleted and will be created again`,
    { state: 'Terminating', reason: 'Recreating' },
  )
}

/** The result of a cache read; undefined if the kind is not cached or not synced yet. */
export function ifCached<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof RangeError || isApiError(error)) return undefined
    throw error
  }
}

/** The latest cached parent, including the writes of this run. */
export function newestParent({ run, parent }: ChildRun): Owner {
  const { name, namespace, uid } = parent.metadata
  const newest = ifCached(() => run.cache.find(run.kind, { name, ...(namespace !== undefined && { namespace }) }))
    ?.value as Owner | undefined
  return newest?.metadata.uid === uid ? (newest as Owner) : parent
}

const appliedMax = 20_000

/** What the server stored for an applied child, by the UID of the child. See the file header. */
export class AppliedCache {
  readonly #byUid = new Map<string, string>()

  /** Notes the answer to an apply, if it differs from what was applied. */
  note(stored: KubeObject, desired: KubeObject): void {
    const { uid = '' } = stored.metadata
    this.#byUid.delete(uid)
    if (isAsDesired(stored, desired)) return
    if (this.#byUid.size >= appliedMax)
      for (const oldest of this.#byUid.keys()) {
        this.#byUid.delete(oldest)
        break
      }
    this.#byUid.set(uid, fingerprintOf(stored, desired))
  }

  /** Whether an apply would change nothing. */
  isSame(live: KubeObject, desired: KubeObject): boolean {
    if (isAsDesired(live, desired)) return true
    const noted = this.#byUid.get(live.metadata.uid ?? '')
    return noted !== undefined && noted === fingerprintOf(live, desired)
  }
}

function fingerprintOf(live: KubeObject, desired: KubeObject): string {
  return `${digestOf(contentOf(desired))} ${digestOf(project(contentOf(live), contentOf(desired)))}`
}

/** Whether the live object has every desired field, owner reference and finalizer. */
function isAsDesired(live: KubeObject, desired: KubeObject): boolean {
  const { ownerReferences = [], finalizers = [] } = desired.metadata
  return (
    ownerReferences.every((reference) => live.metadata.ownerReferences?.some((other) => deepEqual(other, reference))) &&
    finalizers.every((finalizer) => live.metadata.finalizers?.includes(finalizer)) &&
    covers(contentOf(live), contentOf(desired))
  )
}

/** Labels, annotations and everything outside of metadata, without the annotation of the apply itself. */
function contentOf({ metadata, ...rest }: KubeObject): JsonObject {
  const { [appliedAnnotation]: _, ...annotations } = metadata.annotations ?? {}
  return asJson({ ...rest, metadata: { labels: metadata.labels ?? {}, annotations } })
}

function covers(live: JsonValue | undefined, desired: JsonValue | undefined): boolean {
  if (desired === null || desired === undefined) return live === undefined || live === null
  if (Array.isArray(desired))
    return (
      Array.isArray(live) &&
      live.length === desired.length &&
      desired.every((item, index) => covers(live[index] as JsonValue | undefined, item as JsonValue))
    )
  if (!isJsonObject(desired)) return live === desired
  return isJsonObject(live) && Object.keys(desired).every((name) => covers(getOwn(live, name), getOwn(desired, name)))
}

/** The live values at the desired fields; a list of another length is taken as a whole. */
function project(live: JsonValue | undefined, desired: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(live) && Array.isArray(desired) && live.length === desired.length) {
    return live.map((item, index) => project(item as JsonValue, desired[index] as JsonValue) ?? null)
  }
  if (!isJsonObject(live) || !isJsonObject(desired)) return live
  const projection: JsonObjectDraft = {}
  for (const name of Object.keys(desired)) {
    const value = project(getOwn(live, name), getOwn(desired, name))
    if (value !== undefined) setOwn(projection, name, value)
  }
  return projection
}

/** A problem of one child that a retry does not solve: it is reported, and the run waits for a change. */
export class ChildProblem extends Error {
  override readonly name = 'ChildProblem'
  readonly state: PartState
  readonly reason: string

  constructor(message: string, { state, reason }: { state: PartState; reason: string }) {
    super(message)
    this.state = state
    this.reason = reason
  }
}
