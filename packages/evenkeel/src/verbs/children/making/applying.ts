/**
 * Makes one child what it shall be, with at most one write, and none when it is that already.
 *
 *   nobody has the name ──▶ apply, never by force     ours ──▶ apply by force, if it differs     being deleted ──▶ wait
 *   somebody else's ──▶ adopt if the policy says so, else a problem: it is not touched
 *
 * Invariants: what exists is written with its UID, so a namesake that came in between is left alone; a run that knows an
 * older parent than the child was made for writes nothing.
 */
import { conflict, findCause, getControllerOf, isApiError, isInvalid } from '#api'
import type { KubeObject } from '#api'
import { StopReconcile } from '#controller'
import { ifCached } from '../child-run.ts'
import type { ChildRun } from '../child-run.ts'
import { appliedAnnotation, belongsTo, formatApplied, ownerAnnotation, readApplied } from './marks.ts'
import type { AdoptPolicy, RecreatePolicy } from '../options.ts'
import { ChildProblem } from './problem.ts'
import { describeId } from './wanted.ts'
import type { PreparedChild } from './wanted.ts'

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
