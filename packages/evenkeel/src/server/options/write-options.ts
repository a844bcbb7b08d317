/**
 * Options of creates, updates and patches, read from the query.
 */
import { FieldPath, fieldError, invalid, validateFieldManager } from '#api'
import type { FieldError, JsonObject } from '#api'
import type { Query } from '#wire'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  /** What happens to fields nobody knows: dropped, dropped with a warning, or refused. */
  readonly fieldValidation: FieldValidation
  /** Apply only: take fields from other managers. */
  readonly force: boolean
}

type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'

/**
 * Reads the options of a write.
 *
 * @throws {ApiError} `Invalid`, naming every option that is wrong.
 */
export function readWriteOptions(
  query: Query,
  kind: WriteOptionsKind,
  { isApply = false }: { isApply?: boolean } = {},
): WriteOptions {
  const dryRun = readDryRun(query)
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const force = query.get('force')
  const errors = [
    ...(isApply && fieldManager === ''
      ? [fieldError.required(FieldPath.of('fieldManager'), 'is required for apply patch')]
      : []),
    ...(kind === 'PatchOptions' && !isApply && force !== null
      ? [fieldError.forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch')]
      : []),
    ...validateFieldManager(fieldManager, FieldPath.of('fieldManager')),
    ...checkDryRun(dryRun),
    ...checkFieldValidation(fieldValidation),
  ]
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind, name: '' }, errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: force === 'true',
  }
}

/** The options of a write as an object: what admission is told. A patch is told as the create or update it comes to. */
export function optionsObject(query: Query, kind: 'CreateOptions' | 'UpdateOptions'): JsonObject {
  const [dryRun, fieldManager, fieldValidation] = [
    readDryRun(query),
    query.get('fieldManager'),
    query.get('fieldValidation'),
  ]
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager && { fieldManager }),
    ...(fieldValidation && { fieldValidation }),
  }
}

/** Every value of `dryRun`; an empty one counts as none. */
export function readDryRun(query: Query): string[] {
  const values = query.getAll('dryRun')
  return values.length === 0 ? [] : values.filter((value) => value !== '')
}

export function checkDryRun(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All')
    ? []
    : [fieldError.notSupported(FieldPath.of('dryRun'), values, ['All'])]
}

function checkFieldValidation(value: string): FieldError[] {
  if (['', 'Ignore', 'Warn', 'Strict'].includes(value)) return []
  return [fieldError.notSupported(FieldPath.of('fieldValidation'), value, ['', 'Ignore', 'Strict', 'Warn'])]
}
