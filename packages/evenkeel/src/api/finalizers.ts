/**
 * Finalizers: names in the metadata of an object that keep it from being removed until their controllers have cleaned
 * up.
 *
 * Everything here is pure: a call that changes nothing returns the object that it was given.
 */
import { checkQualifiedName, compareText, quote } from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, type FieldError, type FieldPath } from './errors/field-error.ts'
import type { KubeObject } from './object.ts'

/** Added by a delete with foreground propagation: the object waits for its dependents. */
export const foregroundFinalizer = 'foregroundDeletion'
/** Added by a delete with orphan propagation: the owner references of the dependents are removed first. */
export const orphanFinalizer = 'orphan'

/**
 * Whether an object has a finalizer.
 *
 * @example
 * if (site.metadata.deletionTimestamp && !hasFinalizer(site, 'demo.example.com/bucket')) return
 */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/**
 * Returns the object with a finalizer; the same object when it has it already.
 *
 * A controller with `cleanup` needs no call of this: the runtime adds and removes its finalizer.
 *
 * @example
 * const held = addFinalizer(site, 'demo.example.com/bucket')
 * if (held !== site) await client.update(held)
 *
 * @throws {RangeError} when the object is being deleted, because no server accepts a new finalizer then. Check
 * `metadata.deletionTimestamp` first.
 */
export function addFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const complaints = checkQualifiedName(finalizer)
  if (complaints.length > 0)
    throw new RangeError(`${quote(finalizer)} is no name for a finalizer: ${complaints.join('; ')}`)
  if (hasFinalizer(object, finalizer)) return object
  if (object.metadata.deletionTimestamp) {
    const which = `${object.kind} ${object.metadata.name ?? ''}`
    throw new RangeError(
      `${which} is being deleted, so finalizer ${finalizer} cannot be added: handle deletion before anything else`,
    )
  }
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer])
}

/**
 * Returns the object without a finalizer; the same object when it does not have it.
 *
 * @example
 * await deleteBucket(site.metadata.uid)
 * await client.update(removeFinalizer(site, 'demo.example.com/bucket'))
 */
export function removeFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata
  return hasFinalizer(object, finalizer)
    ? withFinalizers(
        object,
        finalizers.filter((name) => name !== finalizer),
      )
    : object
}

/** The validation errors of finalizers: invalid names, and both propagation policies at once. */
export function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors = errorsOfEach(finalizers, (finalizer) =>
    checkQualifiedName(finalizer).map((complaint) => fieldError.invalid(path, finalizer, complaint)),
  )
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    errors.push(
      fieldError.invalid(
        path,
        finalizers,
        `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`,
      ),
    )
  }
  return errors
}

/** The validation errors of an update of an object that is being deleted: finalizers may only be removed. */
export function validateNoNewFinalizers(
  next: readonly string[],
  previous: readonly string[],
  path: FieldPath,
): FieldError[] {
  const extra = [...new Set(next)].filter((finalizer) => !previous.includes(finalizer)).sort(compareText)
  if (extra.length === 0) return []
  const list = `[]string{${extra.map(quote).join(', ')}}`
  return [
    fieldError.forbidden(
      path,
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ]
}

/** Warnings about finalizers that are allowed but risky: names without a domain may clash. */
export function finalizerWarnings(finalizers: readonly string[], path: FieldPath): string[] {
  return finalizers
    .filter((finalizer) => !finalizer.includes('/') && !standardFinalizers.has(finalizer))
    .map(
      (finalizer) =>
        `${path.toString()}: ${quote(finalizer)}: prefer a domain-qualified finalizer name${finalizer.includes('.') ? ' including a path (/)' : ''} ` +
        'to avoid accidental conflicts with other finalizer writers',
    )
}

/** Older than the rule that finalizers have a domain. */
const standardFinalizers: ReadonlySet<string> = new Set([orphanFinalizer, foregroundFinalizer, 'kubernetes'])

function withFinalizers<T extends KubeObject>(object: T, finalizers: readonly string[]): T {
  const { finalizers: _, ...metadata } = object.metadata
  return { ...object, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata }
}
