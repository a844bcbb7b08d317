/**
 * Numbers or percentages: how many pods may be gone, missing or too many during a change.
 */
import { fieldError } from '#api'
import type { FieldError, FieldPath } from '#api'
import { requireNonNegative } from './checks.ts'

const percentComplaint =
  "a valid percent string must be a numeric string followed by an ending '%' " +
  "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** The number in `30%`; `undefined` for anything else. */
export function percentOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined
}

/** A number that is not negative, or a percentage. */
export function validateIntOrPercent(value: unknown, path: FieldPath): FieldError[] {
  if (typeof value === 'number') return requireNonNegative(value, path)
  if (typeof value !== 'string')
    return [fieldError.invalid(path, value, "must be an integer or percentage (e.g '5%%')")]
  return percentOf(value) === undefined ? [fieldError.invalid(path, value, percentComplaint)] : []
}

/** A percentage of at most everything. */
export function validateNotMoreThan100Percent(value: unknown, path: FieldPath): FieldError[] {
  return (percentOf(value) ?? 0) > 100 ? [fieldError.invalid(path, value, 'must not be greater than 100%')] : []
}
