/**
 * The check of one dependency: the first problem with it, or none.
 *
 *   kind allowed? ─▶ reference allowed? ─▶ no cycle? ─▶ kind installed and readable? ─▶ does it exist?
 *   ─▶ not being deleted? ─▶ ready? ─▶ contract valid?
 *
 * A target that may not be referred to is not read: the result does not even reveal whether it exists.
 *
 * Readiness is checked more strictly than for children: if the schema of a kind has `status.observedGeneration`, an
 * object without it was not observed by its controller yet and is not ready.
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
import { beyondLimits, type DependencyLimits } from './limits.ts'
import { isGranted } from './reference-grants.ts'
import { formatRef, type ObjectRef, type Target } from './reference.ts'

/** The result of a check. */
export interface DependencyCheck {
  readonly target: Target
  /** The target; without a namespace once the kind is known to be cluster-scoped. */
  readonly ref: ObjectRef
  /** The version in which it was read. */
  readonly apiVersion: string | undefined
  readonly object: KubeObject | undefined
  /** The contract if it is valid, even if another check failed. */
  readonly contract: Published | undefined
  /** Undefined if the dependency is ready. */
  readonly reason: DependencyReason | undefined
  readonly message: string
  /** Its readiness state, if that is the problem. */
  readonly state: PartState | undefined
  /** The kind is not installed, and no event will report its installation. */
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
  readonly limits: DependencyLimits
  readonly isOptional: boolean
}

/** How long the first list of a kind may take before the run fails and is retried. */
const listTimeoutMs = 10_000

type Refusal = Pick<DependencyCheck, 'reason' | 'message'> &
  Partial<Pick<DependencyCheck, 'needsRecheck' | 'object' | 'apiVersion' | 'ref'>>

export async function checkDependency(target: Target, context: CheckContext): Promise<DependencyCheck> {
  const blank = {
    target,
    ref: refIn(target),
    apiVersion: undefined,
    object: undefined,
    contract: undefined,
    state: undefined,
    needsRecheck: false,
  }
  const refused = refuse(target, context)
  if (refused) return { ...blank, ...refused }
  const followed = await reach(target, context)
  if ('reason' in followed) return { ...blank, ...followed }
  const ref = followed.type.namespaced ? blank.ref : { ...blank.ref, namespace: '' }
  const found = { ...blank, ref, apiVersion: followed.type.apiVersion, object: followed.find(ref) }
  if (!found.object)
    return {
      ...found,
      reason: 'NotFound',
      message: ref.name === '' ? 'the reference has no name' : 'there is no such object',
    }
  return { ...found, ...(await examine(found.object, followed.type.full, context)) }
}

/** The checks that need no read of the target. */
export function refuse(
  target: Target,
  { referer, crossNamespace, limits, followed, run, isOptional }: Omit<CheckContext, 'base' | 'ready' | 'contract'>,
): Refusal | undefined {
  const { namespace = '' } = referer.metadata
  if (!target.choice)
    return {
      reason: 'Forbidden',
      message:
        target.kind === ''
          ? 'the reference has no kind'
          : `references to ${target.kind}${target.group === '' ? '' : ` of ${target.group}`} are not allowed`,
    }
  const beyond = beyondLimits(target, limits)
  if (beyond !== undefined) return { reason: 'Forbidden', message: beyond }
  if (target.namespace !== namespace && target.namespace !== '' && namespace !== '' && crossNamespace !== 'allow') {
    const refusal = refuseCrossing(target, { namespace, crossNamespace, followed, run })
    if (refusal) return refusal
  }
  const cycle = isOptional ? undefined : cycleThrough(run.cache, referer, refIn(target))
  return cycle && { reason: 'Cycle', message: `it depends on this object: ${cycle.map(formatRef).join(' → ')}` }
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
    return { reason: 'NotGranted', message: 'references into other namespaces are not allowed' }
  const { grants } = followed
  if (!grants) return { reason: 'NotGranted', message: 'cannot read ReferenceGrants' }
  if (isGranted(grants, { from: { group: kind.group, kind: kind.kind, namespace }, to: refIn(target) }))
    return undefined
  return { reason: 'NotGranted', message: `no ReferenceGrant in namespace ${target.namespace} allows it` }
}

/** The followed kind of a target, or why it cannot be read. @throws {ApiError} `ServiceUnavailable` if it is not listed in time. */
async function reach(
  { choice, kind, group }: Target,
  { base, followed }: CheckContext,
): Promise<FollowedKind | Refusal> {
  const { client, signal, clock } = base
  const missing = {
    reason: 'KindNotInstalled' as const,
    message: `${kind}${group === '' ? '' : ` of ${group}`} is not installed`,
  }
  const reached = await followed.kindOf(choice as Kind, { client, signal })
  if (!reached) return { ...missing, needsRecheck: true }
  if (reached.state === 'unknown') await waitUntilListed(reached, { clock, signal })
  if (reached.state === 'missing') return { ...missing, needsRecheck: reached.type.full === undefined }
  if (reached.state === 'refused')
    return { reason: 'Forbidden', message: reached.problem ?? `not allowed to read ${kind}` }
  return reached
}

async function waitUntilListed(
  followed: FollowedKind,
  { clock, signal }: Pick<BaseContext, 'clock' | 'signal'>,
): Promise<void> {
  const limit = deadline(clock, listTimeoutMs, { signal })
  try {
    await followed.waitForAnswer({ signal: limit.signal })
  } catch (error) {
    signal.throwIfAborted()
    throw serviceUnavailable(
      `${followed.type.kind} was not listed within ${listTimeoutMs} ms: ${error instanceof Error ? error.message : String(error)}`,
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

export type IsReady = (object: KubeObject, kind: Kind | undefined) => Promise<Readiness>

export function isReadyBy(rule: ReadyRule<never> | undefined): IsReady {
  // Compiled now, so that no reconcile waits for a file: its order would not be deterministic. An error shows on use.
  const check: Promise<ReadinessCheck> = readinessCheckFor(rule)
  check.catch(() => undefined)
  return async (object, kind) => {
    const isUnobserved =
      rule === undefined &&
      object.metadata.generation !== undefined &&
      observedGenerationOf(object) === undefined &&
      reportsGeneration(kind)
    if (isUnobserved)
      return { state: 'Pending', reason: 'NotObserved', message: 'its controller has not observed it yet' }
    return (await check)(object)
  }
}

/** Whether the schema of a kind has `status.observedGeneration`. */
function reportsGeneration(kind: Kind | undefined): boolean {
  const root = kind?.schema
  const status = isJsonObject(root?.['properties']) ? getOwn(root['properties'], 'status') : undefined
  return (
    isJsonObject(status) &&
    isJsonObject(status['properties']) &&
    getOwn(status['properties'], 'observedGeneration') !== undefined
  )
}
