/**
 * Makes one child what it shall be, with at most one write, and none when it is that already.
 *
 *   nobody has the name ──▶ apply, never by force     ours ──▶ apply by force, if it differs     being deleted ──▶ wait
 *   somebody else's ──▶ adopt if the policy says so, else a problem: it is not touched
 *
 * Invariants: what exists is written with its UID, so a namesake that came in between is left alone; a run that knows an
 * older parent than the child was made for writes nothing.
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
} from '#api'
import { StopReconcile, type BaseContext, type PluginRun } from '#controller'
import type { AdoptPolicy, RecreatePolicy } from './children.ts'
import { describeId, digestOf, type PreparedChild } from './desired-child.ts'
import { appliedAnnotation, belongsTo, formatApplied, ownerAnnotation, readApplied } from './ownership-labels.ts'
import type { ChildWatches } from './watches.ts'

interface ApplyPolicies {
  readonly adopt: AdoptPolicy
  readonly recreate: RecreatePolicy
}

/** The child as it is stored afterwards. @throws {ChildProblem} */
export async function applyChild(run: ChildRun, wanted: PreparedChild, policies: ApplyPolicies): Promise<KubeObject> {
  const live = await findChild(run, wanted)
  if (!live) return write(run, wanted, undefined)
  checkOwnership(run, { live, wanted, ...policies })
  checkUpToDate(run, live)
  if (live.metadata.deletionTimestamp !== undefined) return live
  const mark = readApplied(live)
  const isOurLast = mark?.controller === run.run.controller && mark.digest === wanted.digest
  if (isOurLast && run.applied.isSame(live, wanted.object)) return live
  try {
    return await write(run, wanted, live)
  } catch (error) {
    if (policies.recreate === 'onImmutable' && isImmutable(error)) return recreate(run, wanted, live)
    throw error
  }
}

/** What memory does not have may only be late: before something is made, the server is asked. */
async function findChild(
  { base: { client, signal }, run }: ChildRun,
  { kind, id: { name, namespace } }: PreparedChild,
): Promise<KubeObject | undefined> {
  const key = { name, ...(namespace !== '' && { namespace }) }
  const cached = ifCached(() => run.cache.find(kind, key))
  return (cached?.value as KubeObject | undefined) ?? (await client.find(kind, key, { live: true, signal }))
}

/** @throws {ChildProblem} when it is not ours to write. */
function checkOwnership(
  run: ChildRun,
  { live, wanted, adopt }: { live: KubeObject; wanted: PreparedChild; adopt: AdoptPolicy },
): void {
  const whose = describeOtherOwner(run, live)
  if (whose === undefined || (whose.isFree && mayAdopt(live, adopt))) return
  const { namespace, name } = run.base.key
  run.watches.await(run.run, live, { name, ...(namespace !== undefined && { namespace }) })
  throw new ChildProblem(`${describeId(wanted.id, run.parent)} ${whose.what}`, { state: 'Failed', reason: 'Conflict' })
}

/** Whose it is, if not ours; free when an adoption takes it from nobody. */
function describeOtherOwner(
  { run: { controller }, parent }: ChildRun,
  live: KubeObject,
): { readonly what: string; readonly isFree: boolean } | undefined {
  const by = readApplied(live)?.controller
  if (belongsTo(live, parent)) {
    return by === undefined || by === controller
      ? undefined
      : {
          what: `is applied by the controller ${by} of the same ${parent.kind}: only one of them can have it`,
          isFree: true,
        }
  }
  const owner = getControllerOf(live)
  if (owner) return { what: `exists and belongs to ${owner.kind} ${owner.name} (uid ${owner.uid})`, isFree: false }
  const named = live.metadata.annotations?.[ownerAnnotation]
  if (by !== undefined && named !== undefined) return { what: `exists and belongs to ${named}`, isFree: false }
  return {
    what: 'exists and belongs to nobody: delete it, give the child another name, or let it be adopted',
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

/** A child that was applied for a later generation than we know of is right, and we are late. */
function checkUpToDate({ parent }: ChildRun, live: KubeObject): void {
  const { generation = 0 } = parent.metadata
  const mark = readApplied(live)
  if (!belongsTo(live, parent) || mark === undefined || mark.generation <= generation) return
  throw new StopReconcile(
    `${live.kind} ${live.metadata.name ?? ''} was applied for generation ${mark.generation} of ${parent.kind} ${parent.metadata.name}, and this run only knows ${generation}`,
    {
      result: { park: `generation ${mark.generation} of its own object` },
    },
  )
}

async function write(
  { base: { client, signal }, run: { controller }, parent, applied: memory }: ChildRun,
  { object, digest, id }: PreparedChild,
  live: KubeObject | undefined,
): Promise<KubeObject> {
  const { generation = 0 } = parent.metadata
  const annotations = {
    ...object.metadata.annotations,
    [appliedAnnotation]: formatApplied({ controller, generation, digest }),
  }
  const body = {
    ...object,
    metadata: { ...object.metadata, annotations, ...(live?.metadata.uid !== undefined && { uid: live.metadata.uid }) },
  }
  try {
    const stored = await client.apply(body, { fieldManager: controller, force: live !== undefined, signal })
    memory.note(stored, object)
    return stored
  } catch (error) {
    // Servers put a uid that is not the object's in different words; it always means that we are late.
    if (isInvalid(error) && live && /metadata\.uid/.test(error.message))
      throw conflict({ group: id.group, kind: id.kind, name: id.name }, error.message)
    if (isApiError(error) && findCause(error, 'NamespaceTerminating'))
      throw new ChildProblem(`${id.kind} ${id.name} cannot be made: the namespace ${id.namespace} is being deleted`, {
        state: 'Failed',
        reason: 'NamespaceTerminating',
      })
    throw error
  }
}

/** In the words of different kinds: servers have no code for it. */
function isImmutable(error: unknown): boolean {
  return (
    isInvalid(error) && /immutable|may not change|cannot be changed|updates to .* are forbidden/i.test(error.message)
  )
}

/** Deletes it; its going is an event that brings the run in which it is made anew. */
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
    `${id.kind} ${id.name} cannot be changed into what it shall be: it was deleted, to be made again`,
    { state: 'Terminating', reason: 'Recreating' },
  )
}

/*
 * What the parts of one run share: the parent, whom to ask, and what the controller keeps from run to run and may lose.
 */

export interface ChildRun {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly parent: Owner
  /** Under which name it reports, where another controller has reported children of this kind of parent before it. */
  readonly reporter: string | undefined
  readonly applied: AppliedCache
  readonly watches: ChildWatches
}

/** What the cache says; undefined when it does not hold that, or not yet. */
export function ifCached<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof RangeError || isApiError(error)) return undefined
    throw error
  }
}

/** The parent as we know it now, our own writes of this run included. */
export function newestParent({ run, parent }: ChildRun): Owner {
  const { name, namespace, uid } = parent.metadata
  const newest = ifCached(() => run.cache.find(run.kind, { name, ...(namespace !== undefined && { namespace }) }))
    ?.value as Owner | undefined
  return newest?.metadata.uid === uid ? (newest as Owner) : parent
}

/*
 * Whether an object already is what would be applied, so that nothing need be sent.
 *
 * A server changes what it stores: it fills in defaults, writes quantities its own way, and others add to lists. So what
 * counts is only where we say something; and where that differs from what we said, it may be what the server made of it.
 * That is remembered when it answers an apply. What is forgotten (a restart) costs one apply that changes nothing.
 */

const appliedMax = 20_000

/** What servers made of what we applied, by the UID of the child. */
export class AppliedCache {
  readonly #byUid = new Map<string, string>()

  /** After an apply: what the server made of it, unless that is what was applied. */
  note(stored: KubeObject, wanted: KubeObject): void {
    const { uid = '' } = stored.metadata
    this.#byUid.delete(uid)
    if (holds(stored, wanted)) return
    if (this.#byUid.size >= appliedMax)
      for (const oldest of this.#byUid.keys()) {
        this.#byUid.delete(oldest)
        break
      }
    this.#byUid.set(uid, fingerprintOf(stored, wanted))
  }

  /** Whether an apply would change nothing, as far as can be told from the object. */
  isSame(live: KubeObject, wanted: KubeObject): boolean {
    if (holds(live, wanted)) return true
    const remembered = this.#byUid.get(live.metadata.uid ?? '')
    return remembered !== undefined && remembered === fingerprintOf(live, wanted)
  }
}

function fingerprintOf(live: KubeObject, wanted: KubeObject): string {
  return `${digestOf(contentOf(wanted))} ${digestOf(project(contentOf(live), contentOf(wanted)))}`
}

/** Whether everything that is wanted is there as it is wanted. */
function holds(live: KubeObject, wanted: KubeObject): boolean {
  const { ownerReferences = [], finalizers = [] } = wanted.metadata
  return (
    ownerReferences.every((reference) => live.metadata.ownerReferences?.some((other) => deepEqual(other, reference))) &&
    finalizers.every((finalizer) => live.metadata.finalizers?.includes(finalizer)) &&
    covers(contentOf(live), contentOf(wanted))
  )
}

/** Labels, annotations and everything beside metadata; the mark of the apply itself is compared apart. */
function contentOf({ metadata, ...rest }: KubeObject): JsonObject {
  const { [appliedAnnotation]: _, ...annotations } = metadata.annotations ?? {}
  return { ...rest, metadata: { labels: metadata.labels ?? {}, annotations } } as unknown as JsonObject
}

function covers(live: JsonValue | undefined, wanted: JsonValue | undefined): boolean {
  if (wanted === null || wanted === undefined) return live === undefined || live === null
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => covers(live[index] as JsonValue | undefined, item as JsonValue))
    )
  if (!isJsonObject(wanted)) return live === wanted
  return isJsonObject(live) && Object.keys(wanted).every((name) => covers(getOwn(live, name), getOwn(wanted, name)))
}

/** What of the live value stands where something is wanted; lists of another length as a whole. */
function project(live: JsonValue | undefined, wanted: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(live) && Array.isArray(wanted) && live.length === wanted.length) {
    return live.map((item, index) => project(item as JsonValue, wanted[index] as JsonValue) ?? null)
  }
  if (!isJsonObject(live) || !isJsonObject(wanted)) return live
  const part: JsonObjectDraft = {}
  for (const name of Object.keys(wanted)) {
    const value = project(getOwn(live, name), getOwn(wanted, name))
    if (value !== undefined) setOwn(part, name, value)
  }
  return part
}

/*
 * Something about one child that keeps a reconcile from going on and that no retry mends: it is reported and waited out.
 */

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
