/**
 * What an object says about its dependencies: one condition, and a line for each of them where its status has room.
 *
 * The lines are sorted and say only what can be seen, so the same world gives the same status. Nothing in them moves with
 * every change of the other object: five thousand referers would be written for each. They are also the record of what
 * was written on other objects: a cleanup goes by them.
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

/** One verdict, and how its declaration wants it treated. */
export interface CheckedDependency {
  readonly check: DependencyCheck
  readonly isOptional: boolean
  readonly isRatchet: boolean
  readonly keepsLastGood: boolean
}

export const conditionType = 'DependenciesReady'

/** So many are listed; where the list is a record, all are. */
const linesMax = 100
const problemsMax = 5
const messageMax = 300
/** What is published is small, or it is no contract. */
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

/** What was said about the dependencies last time; nothing in it is believed to be well-formed. */
export function recordedDependencies(object: KubeObject): readonly DependencyReport[] {
  const { status } = object as { readonly status?: unknown }
  const list = isJsonObject(status) ? getOwn(status, 'dependencies') : undefined
  const isLine = (line: unknown): boolean =>
    isJsonObject(line) && ['group', 'kind', 'namespace', 'name'].every((name) => typeof getOwn(line, name) === 'string')
  return Array.isArray(list) ? (list as unknown as readonly DependencyReport[]).filter(isLine) : []
}

/** Whether the status of a kind keeps a line for each dependency. */
export function hasDependencyStatus({ schema, subresources }: Pick<Kind, 'schema' | 'subresources'>): boolean {
  const root = isJsonObject(schema?.['properties']) ? getOwn(schema['properties'], 'status') : undefined
  if (!subresources.status || !isJsonObject(root)) return false
  return (
    root['x-kubernetes-preserve-unknown-fields'] === true ||
    (isJsonObject(root['properties']) && getOwn(root['properties'], 'dependencies') !== undefined)
  )
}

/** The condition: whether everything that is needed is as it should be. */
export function dependencyCondition(judged: readonly CheckedDependency[]): {
  readonly holds: boolean
  readonly reason: string
  readonly message: string
} {
  const problems = judged
    .filter(({ check: verdict, isOptional }) => verdict.reason !== undefined && !isOptional)
    .map(({ check: verdict }) => verdict)
    .sort((a, b) => compareRefs(a.ref, b.ref))
  const [first] = problems
  if (!first?.reason) return { holds: true, reason: judged.length === 0 ? 'NoDependencies' : 'AllReady', message: '' }
  const texts = [...new Set(problems.map(describeProblem))]
  const more = texts.length > problemsMax ? `; and ${texts.length - problemsMax} more` : ''
  return { holds: false, reason: first.reason, message: `${texts.slice(0, problemsMax).join('; ')}${more}` }
}

/** For people: `App default/web: NotFound: there is no such object`. */
export function describeProblem({
  ref: place,
  reason,
  message,
}: Pick<DependencyCheck, 'ref' | 'reason' | 'message'>): string {
  return `${formatRef(place)}: ${reason ?? 'Ready'}${message === '' ? '' : `: ${message.slice(0, messageMax)}`}`
}

interface LineOptions {
  readonly referer: KubeObject
  readonly nowMs: number
  /** Whether all lines are kept, however many they are. */
  readonly isRecord: boolean
}

/** The lines, each place once. */
export function linesOf(
  judged: readonly CheckedDependency[],
  { referer, nowMs, isRecord }: LineOptions,
): readonly DependencyReport[] {
  const before = new Map(recordedDependencies(referer).map((line) => [refKey(line), line]))
  const worst = new Map<string, CheckedDependency>()
  for (const one of [...judged].sort((a, b) => compareRefs(a.check.ref, b.check.ref))) {
    const key = refKey(one.check.ref)
    if (worst.get(key)?.check.reason === undefined) worst.set(key, one)
  }
  const lines = [...worst].map(([key, one]) => lineOf(one, before.get(key), { referer, nowMs }))
  return isRecord ? lines : lines.slice(0, linesMax)
}

function lineOf(
  { check: verdict, isRatchet, keepsLastGood }: CheckedDependency,
  before: DependencyReport | undefined,
  { referer, nowMs }: Omit<LineOptions, 'isRecord'>,
): DependencyReport {
  const {
    ref: { group, kind, namespace, name },
    apiVersion,
    object,
    reason,
    message,
  } = verdict
  const state = reason === undefined ? 'Ready' : (verdict.state ?? states[reason])
  const uid = object?.metadata.uid
  const isSame = before?.uid !== undefined && before.uid === uid
  const readyFor = reason === undefined ? referer.metadata.generation : isSame ? before.readyForGeneration : undefined
  const kept = keepsLastGood ? keptContract(verdict, before) : undefined
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

/** What goes on being good enough; leave that was taken back ends it. */
function keptContract(
  { reason, contract }: DependencyCheck,
  before: DependencyReport | undefined,
): DependencyReport['contract'] {
  if (reason === undefined)
    return contract && jsonSize(contract.published) <= contractBytesMax ? contract.published : undefined
  return isForgivable(reason) ? before?.contract : undefined
}

/** Whether what was good may be used on: it may still be known, it just is not as it was. */
export function isForgivable(reason: DependencyReason): boolean {
  return reason !== 'NotGranted' && reason !== 'Forbidden' && reason !== 'Cycle'
}

/** What was said about a place last time. */
export function recordOf(referer: KubeObject, place: ObjectRef): DependencyReport | undefined {
  const key = refKey(place)
  return recordedDependencies(referer).find((line) => refKey(line) === key)
}
