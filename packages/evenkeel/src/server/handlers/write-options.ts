/**
 * Options of writes: those of creates, updates and patches from the query; those of deletes from the body if there
 * is one, else from the query, never from both.
 */
import {
  badRequest,
  fieldError,
  FieldPath,
  invalid,
  isJsonObject,
  validateFieldManager,
  type FieldError,
  type JsonObject,
  stringifyJson,
} from '#api'
import type { Query } from '#wire'
import { readFlag, readInteger } from './list-options.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  /** Unknown fields are dropped, dropped with a warning, or refused. */
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

/** The options of a write as an object, for admission. A patch has the options of the resulting create or update. */
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
function readDryRun(query: Query): string[] {
  const values = query.getAll('dryRun')
  return values.length === 0 ? [] : values.filter((value) => value !== '')
}

function checkDryRun(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All')
    ? []
    : [fieldError.notSupported(FieldPath.of('dryRun'), values, ['All'])]
}

function checkFieldValidation(value: string): FieldError[] {
  if (['', 'Ignore', 'Warn', 'Strict'].includes(value)) return []
  return [fieldError.notSupported(FieldPath.of('fieldValidation'), value, ['', 'Ignore', 'Strict', 'Warn'])]
}

type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan'

export interface DeleteOptions {
  readonly dryRun: boolean
  /** What the client wants; negative means one second. */
  readonly gracePeriodSeconds: number | undefined
  readonly propagationPolicy: PropagationPolicy | undefined
  /** The deprecated form of `Orphan`. */
  readonly orphanDependents: boolean | undefined
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
}

const deleteOptionsKinds: ReadonlySet<unknown> = new Set([undefined, '', 'DeleteOptions'])

/**
 * The options of a deletion.
 *
 * @param body the decoded body, if any
 * @throws {ApiError} `BadRequest` for a body without options, `Invalid` for options that exclude each other.
 */
export function readDeleteOptions(query: Query, body: JsonObject | undefined): DeleteOptions {
  const given = body === undefined ? fromQuery(query) : fromBody(body)
  const errors = checkDryRun(given.dryRun)
  const path = FieldPath.of('propagationPolicy')
  if (given.orphanDependents !== undefined && given.propagation !== undefined) {
    errors.push(
      fieldError.invalid(path, given.propagation, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  }
  if (given.propagation !== undefined && !['Foreground', 'Background', 'Orphan'].includes(given.propagation)) {
    errors.push(fieldError.notSupported(path, given.propagation, ['Foreground', 'Background', 'Orphan', 'nil']))
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, errors)
  const { gracePeriodSeconds: asked } = given
  return {
    ...given,
    dryRun: given.dryRun.length > 0,
    gracePeriodSeconds: asked !== undefined && asked < 0 ? 1 : asked,
    propagationPolicy: given.propagation as PropagationPolicy | undefined,
  }
}

/** The options of a deletion as an object, for admission. */
export function deleteOptionsObject({
  dryRun,
  gracePeriodSeconds,
  propagationPolicy: propagation,
  orphanDependents,
  uid,
  resourceVersion,
}: DeleteOptions): JsonObject {
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) }
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagation !== undefined && { propagationPolicy: propagation }),
    ...(dryRun && { dryRun: ['All'] }),
  }
}

type RawDeleteOptions = Omit<DeleteOptions, 'dryRun' | 'propagationPolicy'> & {
  readonly dryRun: readonly string[]
  readonly propagation: string | undefined
}

function fromQuery(query: Query): RawDeleteOptions {
  return {
    dryRun: readDryRun(query),
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    propagation: query.get('propagationPolicy') ?? undefined,
    orphanDependents: readFlag(query, 'orphanDependents'),
    uid: undefined,
    resourceVersion: undefined,
  }
}

function fromBody(body: JsonObject): RawDeleteOptions {
  if (!deleteOptionsKinds.has(body['kind']))
    throw badRequest(`the body of a deletion must be DeleteOptions, got ${stringifyJson(body['kind'])}`)
  const preconditions = isJsonObject(body['preconditions']) ? body['preconditions'] : {}
  return {
    dryRun: textsOf(body['dryRun']),
    gracePeriodSeconds: numberOf(body, 'gracePeriodSeconds'),
    propagation: textOf(body, 'propagationPolicy'),
    orphanDependents: flagOf(body, 'orphanDependents'),
    uid: textOf(preconditions, 'uid'),
    resourceVersion: textOf(preconditions, 'resourceVersion'),
  }
}

function textsOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw badRequest('dryRun of DeleteOptions must be a list of texts')
  return value
}

function textOf(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'string') throw badRequest(`${name} of DeleteOptions must be a text`)
  return value
}

function numberOf(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && !Number.isSafeInteger(value))
    throw badRequest(`${name} of DeleteOptions must be a whole number`)
  return value as number | undefined
}

function flagOf(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'boolean')
    throw badRequest(`${name} of DeleteOptions must be true or false`)
  return value
}
