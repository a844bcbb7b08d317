/**
 * The status of an object about its dependencies: one condition, and `status.dependencies` if its schema has it.
 *
 * Entries are sorted and contain only observed facts, so the same state gives the same status. No field changes with
 * every change of the dependency: otherwise one change would cause a write for each of its referers. The entries are also
 * the record of the edges, see `edges.ts`: a cleanup follows them.
 */
import {
  formatTime,
  getOwn,
  isJsonObject,
  jsonSize,
  type DependencyReport,
  type Kind,
  type KubeObject,
  type PartState,
} from '#api'
import type { DependencyCheck } from './dependency-check.ts'
import type { DependencyReason } from './depends-on.ts'
import { compareRefs, formatRef, refKey, type ObjectRef } from './reference.ts'

/** A check, and the options of its declaration. */
export interface CheckedDependency {
  readonly check: DependencyCheck
  readonly isOptional: boolean
  readonly isRatchet: boolean
  readonly keepsLastGood: boolean
}

export const conditionType = 'DependenciesReady'

/** At most this many entries, unless they are the record of edges. */
const linesMax = 100
const problemsMax = 5
const messageMax = 300
/** A larger contract is not kept. */
const contractBytesMax = 4096

const states: Readonly<Record<DependencyReason, PartState>> = {
  NotFound: 'Missing',
  KindNotInstalled: 'Missing',
  NotReady: 'Progressing',
  Terminating: 'Terminating',
  ContractMissing: 'Pending',
  ContractInvalid: 'Failed',
  Forbidden: 'Failed',
  NotGranted: 'Failed',
  Cycle: 'Failed',
}

/** The entries in the status; malformed ones are ignored. */
export function recordedDependencies(object: KubeObject): readonly DependencyReport[] {
  const { status } = object as { readonly status?: unknown }
  const list = isJsonObject(status) ? getOwn(status, 'dependencies') : undefined
  const isLine = (line: unknown): boolean =>
    isJsonObject(line) && ['group', 'kind', 'namespace', 'name'].every((name) => typeof getOwn(line, name) === 'string')
  return Array.isArray(list) ? (list as readonly unknown[] as readonly DependencyReport[]).filter(isLine) : []
}

/** Whether the schema of a kind has `status.dependencies`. */
export function hasDependencyStatus(kind: Pick<Kind, 'schema' | 'subresources'>): boolean {
  return hasStatusField(kind, 'dependencies')
}

/** Whether a kind keeps this field of its status: the server drops others. */
export function hasStatusField({ schema, subresources }: Pick<Kind, 'schema' | 'subresources'>, name: string): boolean {
  const root = isJsonObject(schema?.['properties']) ? getOwn(schema['properties'], 'status') : undefined
  if (!subresources.status || !isJsonObject(root)) return false
  return (
    root['x-kubernetes-preserve-unknown-fields'] === true ||
    (isJsonObject(root['properties']) && getOwn(root['properties'], name) !== undefined)
  )
}

/** The condition `DependenciesReady`. */
export function dependencyCondition(checked: readonly CheckedDependency[]): {
  readonly isReady: boolean
  readonly reason: string
  readonly message: string
} {
  const problems = checked
    .filter(({ check, isOptional }) => check.reason !== undefined && !isOptional)
    .map(({ check }) => check)
    .sort((a, b) => compareRefs(a.ref, b.ref))
  const [first] = problems
  if (!first?.reason)
    return { isReady: true, reason: checked.length === 0 ? 'NoDependencies' : 'AllReady', message: '' }
  const texts = [...new Set(problems.map(describeProblem))]
  const more = texts.length > problemsMax ? `; and ${texts.length - problemsMax} more` : ''
  return { isReady: false, reason: first.reason, message: `${texts.slice(0, problemsMax).join('; ')}${more}` }
}

/** For messages: `App default/web: NotFound: there is no such object`. */
export function describeProblem({ ref, reason, message }: Pick<DependencyCheck, 'ref' | 'reason' | 'message'>): string {
  return `${formatRef(ref)}: ${reason ?? 'Ready'}${message === '' ? '' : `: ${message.slice(0, messageMax)}`}`
}

interface LineOptions {
  readonly referer: KubeObject
  readonly nowMs: number
  /** Whether the entries are the record of edges, so that all are kept. */
  readonly isRecord: boolean
}

/** One entry for each dependency. */
export function linesOf(
  checked: readonly CheckedDependency[],
  { referer, nowMs, isRecord }: LineOptions,
): readonly DependencyReport[] {
  const before = new Map(recordedDependencies(referer).map((line) => [refKey(line), line]))
  const worst = new Map<string, CheckedDependency>()
  for (const one of [...checked].sort((a, b) => compareRefs(a.check.ref, b.check.ref))) {
    const key = refKey(one.check.ref)
    if (worst.get(key)?.check.reason === undefined) worst.set(key, one)
  }
  const lines = [...worst].map(([key, one]) => lineOf(one, before.get(key), { referer, nowMs }))
  return isRecord ? lines : lines.slice(0, linesMax)
}

function lineOf(
  { check, isRatchet, keepsLastGood }: CheckedDependency,
  before: DependencyReport | undefined,
  { referer, nowMs }: Omit<LineOptions, 'isRecord'>,
): DependencyReport {
  const {
    ref: { group, kind, namespace, name },
    apiVersion,
    object,
    reason,
    message,
  } = check
  const state = reason === undefined ? 'Ready' : (check.state ?? states[reason])
  const uid = object?.metadata.uid
  const isSame = before?.uid !== undefined && before.uid === uid
  const readyFor = reason === undefined ? referer.metadata.generation : isSame ? before.readyForGeneration : undefined
  const kept = keepsLastGood ? keptContract(check, before) : undefined
  return {
    group,
    kind,
    namespace,
    name,
    ...(apiVersion !== undefined && { apiVersion }),
    ...(uid !== undefined && { uid }),
    state,
    ...(reason !== undefined && { reason }),
    ...(message !== '' && { message: message.slice(0, messageMax) }),
    lastTransitionTime:
      before?.state === state && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : formatTime(nowMs),
    ...(isRatchet && readyFor !== undefined && { readyForGeneration: readyFor }),
    ...(kept !== undefined && { contract: kept }),
  }
}

/** The last valid contract. It is dropped when the reference is no longer allowed. */
function keptContract(
  { reason, contract }: DependencyCheck,
  before: DependencyReport | undefined,
): DependencyReport['contract'] {
  if (reason === undefined)
    return contract && jsonSize(contract.published) <= contractBytesMax ? contract.published : undefined
  return isForgivable(reason) ? before?.contract : undefined
}

/** Whether the last valid contract may still be used: the reference is still allowed. */
export function isForgivable(reason: DependencyReason): boolean {
  return reason !== 'NotGranted' && reason !== 'Forbidden' && reason !== 'Cycle'
}

/** The entry of a dependency in the status. */
export function recordOf(referer: KubeObject, ref: ObjectRef): DependencyReport | undefined {
  const key = refKey(ref)
  return recordedDependencies(referer).find((line) => refKey(line) === key)
}
