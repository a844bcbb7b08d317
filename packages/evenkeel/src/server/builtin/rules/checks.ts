/**
 * Complaints that many kinds share, in upstream's words.
 */
import { checkQualifiedName, deepEqual, fieldError } from '#api'
import type { FieldError, FieldPath } from '#api'

const portComplaint = 'must be between 1 and 65535, inclusive'
const portNameCharacters = /^[a-z0-9-]+$/

/** The complaints of a name check as field errors. */
export function refuse(value: string, path: FieldPath, complaints: readonly string[]): FieldError[] {
  return complaints.map((complaint) => fieldError.invalid(path, value, complaint))
}

export function requireText(value: string, path: FieldPath, { detail = '' } = {}): FieldError[] {
  return value === '' ? [fieldError.required(path, detail)] : []
}

/** Absent is fine. */
export function requireNonNegative(value: number | undefined, path: FieldPath): FieldError[] {
  return value !== undefined && value < 0 ? [fieldError.invalid(path, value, 'must be greater than or equal to 0')] : []
}

/** Absent is fine. */
export function requirePositive(value: number | undefined, path: FieldPath): FieldError[] {
  return value !== undefined && value <= 0 ? [fieldError.invalid(path, value, 'must be greater than 0')] : []
}

/** Absent counts as the empty text, which is rarely supported. */
export function requireOneOf(value: string, path: FieldPath, supported: readonly string[]): FieldError[] {
  return supported.includes(value) ? [] : [fieldError.notSupported(path, value, supported)]
}

/** As {@link requireOneOf} for a field that may be absent. */
export function allowOneOf(value: unknown, path: FieldPath, supported: readonly string[]): FieldError[] {
  return typeof value === 'string' ? requireOneOf(value, path, supported) : []
}

/** As {@link requireOneOf}, and an absent value is its own complaint. */
export function requireChoice(value: string, path: FieldPath, supported: readonly string[]): FieldError[] {
  return value === '' ? [fieldError.required(path)] : requireOneOf(value, path, supported)
}

export function requireQualifiedName(value: string, path: FieldPath): FieldError[] {
  return refuse(value, path, checkQualifiedName(value))
}

export function requirePort(value: number | undefined, path: FieldPath): FieldError[] {
  return isPort(value ?? 0) ? [] : [fieldError.invalid(path, value ?? 0, portComplaint)]
}

/** A port as a number or as the name of one. */
export function requirePortOrName(value: unknown, path: FieldPath): FieldError[] {
  if (typeof value === 'string') return refuse(value, path, checkPortName(value))
  return requirePort(typeof value === 'number' ? value : undefined, path)
}

/** The name of a port as IANA has it: short, with a letter, no stray dashes. */
export function checkPortName(name: string): string[] {
  const complaints: string[] = []
  if (name.length > 15) complaints.push('must be no more than 15 characters')
  if (!portNameCharacters.test(name))
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) complaints.push('must contain at least one letter (a-z)')
  if (name.includes('--')) complaints.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) complaints.push('must not begin or end with a hyphen')
  return complaints
}

export function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65_535
}

/** A field that keeps its first value. */
export function requireSame(value: unknown, old: unknown, path: FieldPath): FieldError[] {
  return deepEqual(value, old) ? [] : [fieldError.invalid(path, value, 'field is immutable')]
}
