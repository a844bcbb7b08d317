/**
 * The query of a log: `?follow&source&timestamps&limit&tail&skip&line_numbers`.
 *
 *   ?source=stderr&tail=20&follow=true   the last 20 lines of stderr, then new ones
 *   ?skip=100&limit=50                   lines 101 to 150
 *   ?tail=20&skip=5                      400: both choose where to begin
 */
import { ApiError } from 'evenkeel'

const logSources = ['stdout', 'stderr', 'startup_stdout', 'startup_stderr', 'system'] as const
export type LogSource = (typeof logSources)[number]

export interface LogQuery {
  readonly source: LogSource
  readonly follow: boolean
  /** Keep the time in front of each line. */
  readonly timestamps: boolean
  /** Keep the number in front of each line. */
  readonly lineNumbers: boolean
  readonly limit?: number
  readonly tail?: number
  readonly skip: number
}

const tailMax = 1_000_000

/** @throws {ApiError} `BadRequest`, naming everything that is wrong. */
export function readLogQuery(query: URLSearchParams): LogQuery {
  const problems: string[] = []
  const [follow, source] = [flagOf(query, 'follow'), query.get('source') || 'stdout']
  const number = (name: string, min: number): number | undefined => numberOf(query, name, { min, problems })
  const [limit, tail, skip] = [number('limit', 1), number('tail', 1), number('skip', 0)]
  if (!isSource(source)) problems.push(`source ${JSON.stringify(source)} must be one of ${logSources.join(', ')}`)
  if (limit !== undefined && follow) problems.push('limit cannot be used with follow')
  if (tail !== undefined && tail > tailMax) problems.push(`tail ${tail} must be at most ${tailMax}`)
  if (tail !== undefined && skip) problems.push('tail cannot be used with skip')
  if (problems.length > 0 || !isSource(source)) throw new ApiError('BadRequest', problems.join('; '))
  return {
    source,
    follow,
    timestamps: flagOf(query, 'timestamps'),
    lineNumbers: flagOf(query, 'line_numbers'),
    ...(limit !== undefined && { limit }),
    ...(tail !== undefined && { tail }),
    skip: skip ?? 0,
  }
}

function isSource(text: string): text is LogSource {
  return (logSources as readonly string[]).includes(text)
}

function flagOf(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

interface NumberOptions {
  readonly min: number
  readonly problems: string[]
}

function numberOf(query: URLSearchParams, name: string, { min, problems }: NumberOptions): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min) return value
  problems.push(`${name} ${JSON.stringify(text)} must be a whole number of at least ${min}`)
  return undefined
}
