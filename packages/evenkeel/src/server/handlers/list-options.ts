/**
 * Options of lists and watches, read from the query and checked together.
 *
 * Values are read as kube-apiserver reads them: a flag without a value is true, an invalid number is a bad request.
 */
import {
  badRequest,
  fieldError,
  FieldPath,
  invalid,
  parseFieldSelector,
  parseLabelSelector,
  quote,
  type FieldError,
  type FieldRequirement,
  type LabelRequirement,
} from '#api'
import type { Query } from '#wire'

export interface ListOptions {
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** Empty when the client does not say. */
  readonly resourceVersion: string
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan'
  /** 0 for no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
}

/**
 * Reads the options of a list or, with `watch`, of a watch.
 *
 * @throws {ApiError} `BadRequest` for an unreadable value, `Invalid` for options that exclude each other.
 */
export function readListOptions(query: Query, { watch }: { watch: boolean }): ListOptions {
  const options: ListOptions = {
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: parseFieldSelector(query.get('fieldSelector') ?? ''),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as ListOptions['resourceVersionMatch'],
    limit: Math.max(0, readInteger(query, 'limit') ?? 0),
    continueToken: query.get('continue') ?? '',
    watch,
    allowWatchBookmarks: readFlag(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: readFlag(query, 'sendInitialEvents'),
    timeoutSeconds: readInteger(query, 'timeoutSeconds'),
  }
  const errors = watch ? checkWatch(options) : checkList(options)
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, errors)
  return options
}

/** Whether a query requests a watch instead of a list. */
export function asksForWatch(query: Query): boolean {
  return readFlag(query, 'watch') ?? false
}

const matchPath = FieldPath.of('resourceVersionMatch')

function checkList({
  resourceVersionMatch: match,
  resourceVersion,
  continueToken,
  sendInitialEvents,
}: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (match.length > 0) {
    if (resourceVersion === '')
      errors.push(
        fieldError.forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      )
    if (continueToken !== '') errors.push(forbiddenWithContinue())
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(fieldError.notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && resourceVersion === '0')
      errors.push(fieldError.forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (sendInitialEvents !== undefined)
    errors.push(fieldError.forbidden(FieldPath.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  return errors
}

function checkWatch({ resourceVersionMatch: match, continueToken, sendInitialEvents }: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(
      fieldError.forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    )
  }
  if (match.length > 0) {
    if (sendInitialEvents === undefined)
      errors.push(
        fieldError.forbidden(
          matchPath,
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      )
    if (match !== 'NotOlderThan') errors.push(fieldError.notSupported(matchPath, match, ['NotOlderThan']))
    if (continueToken !== '') errors.push(forbiddenWithContinue())
  }
  return errors
}

function forbiddenWithContinue(): FieldError {
  return fieldError.forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided')
}

/** Absent is undefined; empty counts as true, `0` and `false` as false, anything else as true. */
export function readFlag(query: Query, name: string): boolean | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  return value !== '0' && value.toLowerCase() !== 'false'
}

/**
 * A whole number, or undefined when it is absent or empty.
 *
 * @throws {ApiError} `BadRequest`
 */
export function readInteger(query: Query, name: string): number | undefined {
  const value = query.get(name)
  if (value === null || value === '') return undefined
  const number = Number(value)
  if (!/^[+-]?\d+$/.test(value) || !Number.isSafeInteger(number))
    throw badRequest(`${name}: strconv.ParseInt: parsing ${quote(value)}: invalid syntax`)
  return number
}
