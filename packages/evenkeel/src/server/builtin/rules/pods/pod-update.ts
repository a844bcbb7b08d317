/**
 * What may change in the spec of a pod: images, a shorter deadline, more tolerations, fewer scheduling gates; while
 * gates hold it back, also where it may run.
 */
import { deepEqual, fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject, JsonObjectDraft, JsonValue } from '#api'
import { numberIn, objectIn, objectsIn, textIn } from '../reading.ts'

const mutable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

export function validatePodChange(spec: JsonObject, old: JsonObject, path: FieldPath): FieldError[] {
  for (const key of ['containers', 'initContainers']) {
    if (objectsIn(spec, key).length !== objectsIn(old, key).length) {
      return [fieldError.forbidden(path.child(key), 'pod updates may not add or remove containers')]
    }
  }
  const deadline = validateDeadline(
    numberIn(spec, 'activeDeadlineSeconds'),
    numberIn(old, 'activeDeadlineSeconds'),
    path.child('activeDeadlineSeconds'),
  )
  const errors = [
    ...deadline,
    ...validateTolerations(objectsIn(spec, 'tolerations'), objectsIn(old, 'tolerations'), path.child('tolerations')),
    ...validateGates(
      objectsIn(spec, 'schedulingGates'),
      objectsIn(old, 'schedulingGates'),
      path.child('schedulingGates'),
    ),
  ]
  if (deepEqual(comparable(spec, old), comparable(old, old))) return errors
  return [...errors, fieldError.forbidden(path, `pod updates may not change fields other than ${mutable.join(',')}`)]
}

function validateDeadline(now: number | undefined, before: number | undefined, path: FieldPath): FieldError[] {
  if (before === undefined) return []
  if (now === undefined) return [fieldError.invalid(path, null, 'must not update from a positive integer to nil value')]
  return now > before ? [fieldError.invalid(path, now, 'must be less than or equal to previous value')] : []
}

function validateTolerations(now: readonly JsonObject[], before: readonly JsonObject[], path: FieldPath): FieldError[] {
  const kept = before.every((old) =>
    now.some((toleration) => deepEqual(withoutSeconds(toleration), withoutSeconds(old))),
  )
  return kept
    ? []
    : [fieldError.forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')]
}

function withoutSeconds({ tolerationSeconds: _, ...toleration }: JsonObject): JsonObject {
  return toleration
}

function validateGates(now: readonly JsonObject[], before: readonly JsonObject[], path: FieldPath): FieldError[] {
  const names = new Set(before.map((gate) => textIn(gate, 'name')))
  return now.flatMap((gate, index) => {
    const name = textIn(gate, 'name')
    if (names.has(name)) return []
    return [
      fieldError.forbidden(
        path.index(index).child('name'),
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    ]
  })
}

/** A spec with everything that may change made what it was; an empty list counts as none. */
function comparable(spec: JsonObject, old: JsonObject): JsonObject {
  const copy: JsonObjectDraft = { ...spec }
  for (const key of ['containers', 'initContainers']) {
    copy[key] = objectsIn(spec, key).map((container, index) => ({
      ...container,
      image: textIn(objectsIn(old, key)[index], 'image'),
    }))
  }
  const isGated = objectsIn(old, 'schedulingGates').length > 0
  for (const key of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates', ...(isGated ? ['nodeSelector'] : [])])
    copy[key] = old[key]
  if (isGated)
    copy['affinity'] = { ...objectIn(spec, 'affinity'), nodeAffinity: objectIn(old, 'affinity')['nodeAffinity'] }
  if ((numberIn(old, 'terminationGracePeriodSeconds') ?? 0) < 0 && copy['terminationGracePeriodSeconds'] === 1) {
    copy['terminationGracePeriodSeconds'] = old['terminationGracePeriodSeconds']
  }
  return Object.fromEntries(Object.entries(copy).filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === false || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && value !== null && Object.values(value).every((field) => field === undefined)
}
