/**
 * The query of a `log` subresource, with the names of Kubernetes' pod logs, and `source`, `run`, `positions` and `after` beside them.
 *
 * Values are read as kube-apiserver reads them: a flag without a value is true, and only `false` and `0` are false; a
 * number or time that cannot be read is a bad request, one out of range is invalid. Unknown parameters are ignored.
 *
 *   ?follow&tailLines=20&timestamps=true   { follow: true, tailLines: 20, timestamps: true, previous: false }
 *   ?tailLines=many                        400
 *   ?tailLines=-1                          422, with the field
 */
import { badRequest, fieldError, FieldPath, invalid, parseTime, quote, type FieldError } from '#api'

/** What a client wants to see of a log. */
export interface LogOptions {
  /** New lines as they come. */
  readonly follow: boolean
  /** The time before each line. */
  readonly timestamps: boolean
  /** The log of the run before this one. */
  readonly previous: boolean
  /** Only the last so many lines. */
  readonly tailLines?: number
  /** Only lines of the last so many seconds. */
  readonly sinceSeconds?: number
  /** Only lines since then, in milliseconds since 1970. */
  readonly sinceTimeMs?: number
  /** The most bytes to send. */
  readonly limitBytes?: number
  /** Which of several logs. */
  readonly source?: string
  /** Which run, of an object that runs several times. */
  readonly run?: number
  /** The position before each line, from which a client whose connection breaks goes on. */
  readonly positions?: boolean
  /** Only what follows a position. */
  readonly after?: string
}

interface ReadLogOptions {
  /**
   * The names that `source` may have.
   *
   * @default any
   */
  readonly sources?: readonly string[]
}

/**
 * The options in the query of a `log` subresource.
 *
 * @example
 * const { follow, tailLines } = readLogOptions(query, { sources: ['stdout', 'stderr'] })
 *
 * @throws {ApiError} `BadRequest` for a value that cannot be read, `Invalid` for one out of range.
 */
export function readLogOptions(query: URLSearchParams, { sources }: ReadLogOptions = {}): LogOptions {
  const numbers = {
    tailLines: integerOf(query, 'tailLines'),
    sinceSeconds: integerOf(query, 'sinceSeconds'),
    sinceTimeMs: timeOf(query, 'sinceTime'),
    limitBytes: integerOf(query, 'limitBytes'),
    run: integerOf(query, 'run'),
  }
  const after = query.get('after') ?? ''
  const source = query.get('source') ?? ''
  const errors = [...rangeErrors(numbers), ...sourceErrors(source, sources)]
  if (errors.length > 0) throw invalid({ kind: 'PodLogOptions', name: '' }, errors)
  return {
    follow: flagOf(query, 'follow'),
    timestamps: flagOf(query, 'timestamps'),
    previous: flagOf(query, 'previous'),
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
    ...(source !== '' && { source }),
    ...(flagOf(query, 'positions') && { positions: true }),
    ...(after !== '' && { after }),
  }
}

function flagOf(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

function integerOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`)
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: value out of range`)
  return number
}

function timeOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? ''
  if (value === '') return undefined
  const time = parseTime(value)
  if (time === undefined)
    throw badRequest(`${name}: ${quote(value)} is not a time of RFC 3339, such as 2030-01-31T12:00:00Z`)
  return time
}

type LogNumbers = Readonly<
  Record<'tailLines' | 'sinceSeconds' | 'sinceTimeMs' | 'limitBytes' | 'run', number | undefined>
>

function rangeErrors({ tailLines, sinceSeconds, sinceTimeMs, limitBytes, run }: LogNumbers): FieldError[] {
  const tooSmall = (field: string, value: number, text: string): FieldError =>
    fieldError.invalid(FieldPath.of(field), value, text)
  return [
    ...(tailLines !== undefined && tailLines < 0
      ? [tooSmall('tailLines', tailLines, 'must be greater than or equal to 0')]
      : []),
    ...(limitBytes !== undefined && limitBytes < 1
      ? [tooSmall('limitBytes', limitBytes, 'must be greater than 0')]
      : []),
    ...(run !== undefined && run < 1 ? [tooSmall('run', run, 'must be greater than 0')] : []),
    ...(sinceSeconds !== undefined && sinceTimeMs !== undefined
      ? [fieldError.forbidden(FieldPath.of(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified')]
      : []),
    ...(sinceSeconds !== undefined && sinceTimeMs === undefined && sinceSeconds < 1
      ? [tooSmall('sinceSeconds', sinceSeconds, 'must be greater than 0')]
      : []),
  ]
}

function sourceErrors(source: string, sources: readonly string[] | undefined): FieldError[] {
  if (sources === undefined || source === '' || sources.includes(source)) return []
  return [fieldError.notSupported(FieldPath.of('source'), source, sources)]
}
