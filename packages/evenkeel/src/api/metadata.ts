/**
 * Rules for the maps in an object's metadata: labels and annotations.
 */
import { checkLabelValue, checkQualifiedName, utf8Length } from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, type FieldError, type FieldPath } from './errors/field-error.ts'

/** Keys and values of all annotations of one object together. */
export const annotationBytesMax = 256 * 1024

export function validateLabels(labels: Readonly<Record<string, string>>, path: FieldPath): FieldError[] {
  return errorsOfEach(Object.entries(labels), ([key, value]) => [
    ...checkQualifiedName(key).map((complaint) => fieldError.invalid(path, key, complaint)),
    ...checkLabelValue(value).map((complaint) => fieldError.invalid(path, value, complaint)),
  ])
}

/** Keys are qualified names in any case; values are free, but everything together has a limit. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, path: FieldPath): FieldError[] {
  const entries = Object.entries(annotations)
  const errors = errorsOfEach(entries, ([key]) =>
    checkQualifiedName(key.toLowerCase()).map((complaint) => fieldError.invalid(path, key, complaint)),
  )
  let bytes = 0
  for (const [key, value] of entries) bytes += utf8Length(key) + utf8Length(value)
  if (bytes > annotationBytesMax) errors.push(fieldError.tooLong(path, annotationBytesMax))
  return errors
}
