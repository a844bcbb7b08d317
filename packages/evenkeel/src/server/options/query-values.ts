/**
 * Single values of a query, read as kube-apiserver reads them: a flag that is only named is true, a number that is
 * none is a bad request.
 */
import { badRequest, quote } from '#api'
import type { Query } from '#wire'

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
