/**
 * How one dependency stands: the first thing that is wrong with it, or nothing.
 *
 *   may it be meant? ─▶ may it be referred to? ─▶ no circle? ─▶ is the kind there and readable? ─▶ is it there?
 *   ─▶ does it stay? ─▶ is it ready? ─▶ does it publish what it should?
 *
 * What may not be referred to is not looked at: nothing about it, not even that it exists, comes out here.
 */
import { getOwn, isJsonObject, serviceUnavailable, type Kind, type KubeObject, type PartState } from '#api'
import { deadline } from '#base'
import type { BaseContext, PluginRun } from '#controller'
import {
  observedGenerationOf,
  readinessCheckFor,
  type Readiness,
  type ReadinessCheck,
  type ReadyRule,
} from '../readiness.ts'
import type { ContractRead, ContractReader } from './contract.ts'
import type { FollowedDependencies } from './dependency-source.ts'
import type { DependencyReason } from './depends-on.ts'
import type { FollowedKind } from './followed-kind.ts'
import { cycleThrough } from './graph.ts'
import { isGranted } from './reference-grants.ts'
import { formatRef, type ObjectRef, type Target } from './reference.ts'

/** What was found out about a reference. */
export interface DependencyCheck {
  readonly target: Target
  /** Where it is, once the kind is known. */
  readonly ref: ObjectRef
  /** The version in which it was read. */
  readonly apiVersion: string | undefined
  readonly object: KubeObject | undefined
  /** What it publishes, if that is right, whatever else is wrong with it. */
  readonly contract: Published | undefined
  /** Undefined when it will do. */
  readonly reason: DependencyReason | undefined
  readonly message: string
  /** How it is, where that is what is wrong. */
  readonly state: PartState | undefined
  /** The server has to be asked again: nobody will tell that the kind has come. */
  readonly needsRecheck: boolean
}

type Published = Extract<ContractRead, { readonly reason?: undefined }>

interface CheckContext {
  readonly base: BaseContext
  readonly run: Pick<PluginRun, 'cache' | 'kind'>
  readonly referer: KubeObject
  readonly followed: FollowedDependencies
  readonly ready: IsReady
  readonly contract: ContractReader | undefined
  readonly crossNamespace: 'deny' | 'granted' | 'allow'
  readonly isOptional: boolean
}

/** How long the first list of a kind may take before the run is given up, to be tried again. */
const answerMs = 10_000

type Refusal = Pick<DependencyCheck, 'reason' | 'message'> &
  Partial<Pick<DependencyCheck, 'needsRecheck' | 'object' | 'apiVersion' | 'ref'>>

export async function checkDependency(target: Target, judging: CheckContext): Promise<DependencyCheck> {
  const blank = {
    target,
    ref: refIn(target),
    apiVersion: undefined,
    object: undefined,
    contract: undefined,
    state: undefined,
    needsRecheck: false,
  }
  const refused = refuse(target, judging)
  if (refused) return { ...blank, ...refused }
  const followed = await reach(target, judging)
  if ('reason' in followed) return { ...blank, ...followed }
  const ref = followed.type.namespaced ? blank.ref : { ...blank.ref, namespace: '' }
  const found = { ...blank, ref, apiVersion: followed.type.apiVersion, object: followed.find(ref) }
  if (!found.object)
    return {
      ...found,
      reason: 'NotFound',
      message: ref.name === '' ? 'the reference names nothing' : 'there is no such object',
    }
  return { ...found, ...(await examine(found.object, followed.type.full, judging)) }
}

/** What can be said without looking. */
function refuse(
  target: Target,
  { referer, crossNamespace, followed, run, isOptional }: CheckContext,
): Refusal | undefined {
  const { namespace = '' } = referer.metadata
  if (!target.choice)
    return {
      reason: 'Forbidden',
      message:
        target.kind === ''
          ? 'the reference names no kind'
          : `references to ${target.kind}${target.group === '' ? '' : ` of ${target.group}`} are not provided for`,
    }
  if (target.namespace !== namespace && target.namespace !== '' && namespace !== '' && crossNamespace !== 'allow') {
    const refusal = refuseCrossing(target, { namespace, crossNamespace, followed, run })
    if (refusal) return refusal
  }
  const circle = isOptional ? undefined : cycleThrough(run.cache, referer, refIn(target))
  return circle && { reason: 'Cycle', message: `it waits for this object itself: ${circle.map(formatRef).join(' → ')}` }
}

function refuseCrossing(
  target: Target,
  {
    namespace,
    crossNamespace,
    followed,
    run: { kind },
  }: Pick<CheckContext, 'crossNamespace' | 'followed' | 'run'> & { namespace: string },
): Refusal | undefined {
  if (crossNamespace === 'deny')
    return { reason: 'NotGranted', message: 'references into other namespaces are not provided for' }
  const { grants } = followed
  if (!grants) return { reason: 'NotGranted', message: 'whether it is granted cannot be read' }
  if (isGranted(grants, { from: { group: kind.group, kind: kind.kind, namespace }, to: refIn(target) }))
    return undefined
  return { reason: 'NotGranted', message: `no ReferenceGrant in namespace ${target.namespace} allows it` }
}

/** The kind of a target, as far as it can be read. @throws {ApiError} `ServiceUnavailable`, when the server says nothing. */
async function reach(
  { choice, kind, group }: Target,
  { base, followed }: CheckContext,
): Promise<FollowedKind | Refusal> {
  const { client, signal, clock } = base
  const missing = {
    reason: 'KindNotInstalled' as const,
    message: `the server does not have ${kind}${group === '' ? '' : ` of ${group}`} (yet)`,
  }
  const reached = await followed.kindOf(choice as Kind, { client, signal })
  if (!reached) return { ...missing, needsRecheck: true }
  if (reached.state === 'unknown') await answered(reached, { clock, signal })
  if (reached.state === 'missing') return { ...missing, needsRecheck: reached.type.full === undefined }
  if (reached.state === 'refused') return { reason: 'Forbidden', message: reached.problem ?? `${kind} may not be read` }
  return reached
}

async function answered(
  followed: FollowedKind,
  { clock, signal }: Pick<BaseContext, 'clock' | 'signal'>,
): Promise<void> {
  const limit = deadline(clock, answerMs, { signal })
  try {
    await followed.waitForAnswer({ signal: limit.signal })
  } catch (error) {
    signal.throwIfAborted()
    throw serviceUnavailable(
      `${followed.type.kind} has not been listed within ${answerMs} ms: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    limit.done()
  }
}

async function examine(
  object: KubeObject,
  kind: Kind | undefined,
  { ready, contract }: CheckContext,
): Promise<Pick<DependencyCheck, 'reason' | 'message' | 'contract'> & Partial<Pick<DependencyCheck, 'state'>>> {
  const read = await contract?.read(object)
  const published = read?.reason === undefined ? read : undefined
  if (object.metadata.deletionTimestamp !== undefined)
    return { reason: 'Terminating', message: 'it is being deleted', contract: published }
  const { state, message = '' } = await ready(object, kind)
  if (state !== 'Ready') return { reason: 'NotReady', message, state, contract: published }
  return read?.reason === undefined
    ? { reason: undefined, message: '', contract: published }
    : { reason: read.reason, message: read.message, contract: undefined }
}

function refIn({ group, kind, namespace, name }: Target): ObjectRef {
  return { group, kind, namespace, name }
}

/*
 * Whether an object that others depend on will do: by the rule of the author, or by what it says about itself.
 *
 * One thing is asked beyond the general rule: where a kind is known to report which generation its controller has seen,
 * an object without such a report has not been seen by anybody, and what nobody has looked at is not ready.
 */

export type IsReady = (object: KubeObject, kind: Kind | undefined) => Promise<Readiness>

export function isReadyBy(rule: ReadyRule<never> | undefined): IsReady {
  // Compiled now: a reconcile that waits for a file is no longer the same each time. Who asks hears of a mistake.
  const judging: Promise<ReadinessCheck> = readinessCheckFor(rule)
  judging.catch(() => undefined)
  return async (object, kind) => {
    const unseen =
      rule === undefined &&
      object.metadata.generation !== undefined &&
      observedGenerationOf(object) === undefined &&
      reportsGeneration(kind)
    if (unseen) return { state: 'Pending', reason: 'NotObserved', message: 'its controller has not seen it yet' }
    return (await judging)(object)
  }
}

/** Whether objects of a kind say which generation their controller has seen. */
function reportsGeneration(kind: Kind | undefined): boolean {
  const root = kind?.schema
  const status = isJsonObject(root?.['properties']) ? getOwn(root['properties'], 'status') : undefined
  return (
    isJsonObject(status) &&
    isJsonObject(status['properties']) &&
    getOwn(status['properties'], 'observedGeneration') !== undefined
  )
}
