/**
 * Positions in the logs of a Process: where a reader whose connection broke goes on.
 *
 *   2:1234       run 2, its bytes up to 1234 were read
 *   2:1234,88    the same with stderr in a file of its own
 *
 * Offsets of a log never change, also when its beginning is released and when another Evenkeel serves it.
 */
import { ApiError } from 'evenkeel'

export interface LogPosition {
  readonly run: number
  /** One for each file of the run. */
  readonly offsets: readonly number[]
}

export function formatPosition({ run, offsets }: LogPosition): string {
  return `${run}:${offsets.join(',')}`
}

/** @throws {ApiError} `BadRequest` */
export function parsePosition(text: string): LogPosition {
  const match = /^(\d{1,9}):(\d{1,15})(?:,(\d{1,15}))?$/.exec(text)
  if (!match)
    throw new ApiError(
      'BadRequest',
      `after: ${JSON.stringify(text)} is not a position: use one that a log with positions=true has shown`,
    )
  return {
    run: Number(match[1]),
    offsets: match.slice(2).flatMap((each) => (each === undefined ? [] : [Number(each)])),
  }
}
