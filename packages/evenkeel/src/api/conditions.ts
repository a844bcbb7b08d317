/**
 * Conditions: named observations in `status.conditions`, each True, False or Unknown.
 *
 * Everything here is pure: a call that changes nothing gives back the very list it was given, so `===` tells whether
 * there is something to write.
 */
import {
  pushAll,
  checkQualifiedName,
  formatTime,
  isJsonObject,
  utf8Length,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, type FieldError, type FieldPath } from './errors/field-error.ts'

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/**
 * One entry of `status.conditions`: a named observation that is True, False or Unknown, with a reason for programs and
 * a message for people.
 */
export type Condition = {
  readonly type: string
  readonly status: ConditionStatus
  /** The `metadata.generation` this was observed at; absent when it was not said. */
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

/** A condition to report: the time of the last transition is derived, unless it is given. */
export type NewCondition = Omit<Condition, 'lastTransitionTime' | 'message'> &
  Partial<Pick<Condition, 'lastTransitionTime' | 'message'>>

/** The conditions in `status.conditions` of any object: entries that are not objects are left out. */
export function readConditions(value: JsonValue | undefined): readonly Condition[] {
  return Array.isArray(value) ? (value.filter(isJsonObject) as object[] as Condition[]) : []
}

interface SetConditionOptions {
  /** The present: milliseconds since 1970, or an RFC 3339 text. */
  readonly now: number | string
}

/**
 * Returns the list with one condition added or updated.
 *
 * `lastTransitionTime` changes only when the status does. The order is kept; a new type is appended. When nothing
 * differs the same list is returned, so `===` says whether there is something to write.
 *
 * @example
 * const conditions = setCondition(
 *   site.status?.conditions,
 *   { type: 'Ready', status: 'False', reason: 'ImageMissing', message: 'set spec.image' },
 *   { now: clock.now() },
 * )
 * await client.patchStatus(site, { conditions })
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: NewCondition,
  { now }: SetConditionOptions,
): readonly Condition[] {
  const before = conditions ?? []
  const index = before.findIndex(({ type }) => type === condition.type)
  const existing = before[index]
  const moved = condition.lastTransitionTime ?? (typeof now === 'number' ? formatTime(now) : now)
  const lastTransitionTime = existing?.status === condition.status ? existing.lastTransitionTime : moved
  const next: Condition = { ...condition, message: condition.message ?? '', lastTransitionTime }
  if (!existing) return [...before, next]
  return sayTheSame(existing, next) ? before : before.with(index, next)
}

/**
 * Returns the condition of a type, or undefined.
 *
 * @example
 * const ready = findCondition(site.status?.conditions, 'Ready')
 * console.log(ready?.reason, ready?.message)
 */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/**
 * Whether the condition of a type is there and its status is `True`.
 *
 * @example
 * await plane.until(async () => isConditionTrue((await client.get(Website, key)).status?.conditions, 'Ready'))
 */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'False'
}

/** The list without a type. */
export function removeCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const before = conditions ?? []
  return findCondition(before, type) ? before.filter((condition) => condition.type !== type) : before
}

/** The validation errors of a list of conditions: no duplicate type, every condition complete and well-formed. */
export function validateConditions(conditions: readonly Condition[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(conditions, (condition, index) => {
    const here = path.index(index)
    const duplicate = seen.has(condition.type) ? [fieldError.duplicate(here.child('type'), condition.type)] : []
    seen.add(condition.type)
    return [...duplicate, ...validateCondition(condition, here)]
  })
}

const statuses: readonly string[] = ['False', 'True', 'Unknown']
const reasonBytesMax = 1024
const messageBytesMax = 32 * 1024
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const reasonComplaint =
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
  "characters or '_,:', and must end with an alphanumeric character or '_' " +
  "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', " +
  "regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"

function sayTheSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  )
}

function validateCondition(condition: Condition, path: FieldPath): FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = condition
  const errors = checkQualifiedName(type).map((complaint) => fieldError.invalid(path.child('type'), type, complaint))
  if (!statuses.includes(status)) errors.push(fieldError.notSupported(path.child('status'), status, statuses))
  if (observedGeneration < 0) {
    errors.push(
      fieldError.invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'),
    )
  }
  if (!lastTransitionTime) errors.push(fieldError.required(path.child('lastTransitionTime')))
  pushAll(errors, validateReason(reason, path.child('reason')))
  if (utf8Length(message) > messageBytesMax) errors.push(fieldError.tooLong(path.child('message'), messageBytesMax))
  return errors
}

function validateReason(reason: string, path: FieldPath): FieldError[] {
  if (!reason) return [fieldError.required(path)]
  const errors = reasonPattern.test(reason) ? [] : [fieldError.invalid(path, reason, reasonComplaint)]
  if (utf8Length(reason) > reasonBytesMax) errors.push(fieldError.tooLong(path, reasonBytesMax))
  return errors
}
