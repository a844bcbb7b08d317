/**
 * What a scale subresource demands of an object: at its paths stand numbers that a Scale can show.
 *
 * Asked at every write, because the schema need not say so.
 */
import { FieldPath, fieldError, getOwn, isJsonObject } from '#api'
import type { FieldError, JsonValue, UnstructuredObject } from '#api'
import type { CrdVersion } from './definition.ts'

type ScaleSubresource = NonNullable<NonNullable<CrdVersion['subresources']>['scale']>

const replicasMax = 2 ** 31 - 1

/** What is wrong at the paths of a scale; a write to the status is judged by the status alone. */
export function scaleErrors(
  object: UnstructuredObject,
  scale: ScaleSubresource | undefined,
  part?: 'status',
): FieldError[] {
  if (scale === undefined) return []
  const { specReplicasPath, statusReplicasPath } = scale
  return [...(part === 'status' ? [] : [specReplicasPath]), statusReplicasPath].flatMap((path) =>
    numberErrors(valueAt(object, path), path),
  )
}

/** The field is named as the definition writes it, with its first dot. */
function numberErrors(value: JsonValue | undefined, path: string): FieldError[] {
  if (typeof value !== 'number') return []
  if (value < 0) return [fieldError.invalid(FieldPath.of(path), value, 'should be a non-negative integer')]
  return value > replicasMax
    ? [fieldError.invalid(FieldPath.of(path), value, `should be less than or equal to ${replicasMax}`)]
    : []
}

function valueAt(object: UnstructuredObject, path: string): JsonValue | undefined {
  let value: unknown = object
  for (const name of path.replace(/^\./, '').split('.')) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value as JsonValue | undefined
}
