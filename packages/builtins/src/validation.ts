/**
 * Validation shared by many kinds, with the messages of kube-apiserver.
 */
import {
  checkQualifiedName,
  deepEqual,
  fieldError,
  objectsIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  textsIn,
  validateLabelSelector,
  type FieldError,
  type FieldPath,
  type Fields,
  type LabelSelector,
  type LabelSelectorRequirement,
} from 'evenkeel/unstable/builtins'

const portComplaint = 'must be between 1 and 65535, inclusive'
const portNameCharacters = /^[a-z0-9-]+$/

/** The messages of a name check as field errors. */
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

/** The positions of texts that are earlier in the list already: each is looked up once, however long the list. */
export function repeatedAt(list: readonly string[]): ReadonlySet<number> {
  const [seen, repeated] = [new Set<string>(), new Set<number>()]
  for (const [index, text] of list.entries()) {
    if (seen.has(text)) repeated.add(index)
    seen.add(text)
  }
  return repeated
}

/** An absent value counts as the empty string, which is rarely supported. */
export function requireOneOf(value: string, path: FieldPath, supported: readonly string[]): FieldError[] {
  return supported.includes(value) ? [] : [fieldError.notSupported(path, value, supported)]
}

/** Like {@link requireOneOf}, for an optional field. */
export function allowOneOf(value: unknown, path: FieldPath, supported: readonly string[]): FieldError[] {
  return typeof value === 'string' ? requireOneOf(value, path, supported) : []
}

/** Like {@link requireOneOf}, with a separate message for an absent value. */
export function requireChoice(value: string, path: FieldPath, supported: readonly string[]): FieldError[] {
  return value === '' ? [fieldError.required(path)] : requireOneOf(value, path, supported)
}

export function requireQualifiedName(value: string, path: FieldPath): FieldError[] {
  return refuse(value, path, checkQualifiedName(value))
}

export function requirePort(value: number | undefined, path: FieldPath): FieldError[] {
  return isPort(value ?? 0) ? [] : [fieldError.invalid(path, value ?? 0, portComplaint)]
}

/** A port number or a port name. */
export function requirePortOrName(value: unknown, path: FieldPath): FieldError[] {
  if (typeof value === 'string') return refuse(value, path, checkPortName(value))
  return requirePort(typeof value === 'number' ? value : undefined, path)
}

/** An IANA service name: short, with at least one letter, no adjacent or outer dashes. */
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

/** An immutable field. */
export function requireSame(value: unknown, old: unknown, path: FieldPath): FieldError[] {
  return deepEqual(value, old) ? [] : [fieldError.invalid(path, value, 'field is immutable')]
}

// Label selectors in specs: parsing from unchecked JSON, and validation.

/** The selector under a key; `undefined` when there is none, which selects nothing. */
export function selectorIn(fields: Fields | undefined, key: string): LabelSelector | undefined {
  const selector = optionalObjectIn(fields, key)
  if (selector === undefined) return undefined
  const matchExpressions = objectsIn(selector, 'matchExpressions').map((expression): LabelSelectorRequirement => ({
    key: textIn(expression, 'key'),
    // Unchecked; validation reports an unknown operator.
    operator: textIn(expression, 'operator') as LabelSelectorRequirement['operator'],
    values: textsIn(expression, 'values'),
  }))
  return { matchLabels: textMapIn(selector, 'matchLabels'), matchExpressions }
}

/** Validates the selector under a key, if there is one. */
export function validateSelectorIn(fields: Fields | undefined, key: string, path: FieldPath): FieldError[] {
  const selector = selectorIn(fields, key)
  return selector === undefined ? [] : validateLabelSelector(selector, path.child(key))
}

/** Whether a selector is empty, and so selects everything. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}

// Numbers or percentages, such as maxUnavailable and maxSurge.

const percentComplaint =
  "a valid percent string must be a numeric string followed by an ending '%' " +
  "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** The number in `30%`; `undefined` for other text. */
export function percentOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined
}

/** A non-negative number, or a percentage. */
export function validateIntOrPercent(value: unknown, path: FieldPath): FieldError[] {
  if (typeof value === 'number') return requireNonNegative(value, path)
  if (typeof value !== 'string')
    return [fieldError.invalid(path, value, "must be an integer or percentage (e.g '5%%')")]
  return percentOf(value) === undefined ? [fieldError.invalid(path, value, percentComplaint)] : []
}

/** A percentage of at most 100 %. */
export function validateNotMoreThan100Percent(value: unknown, path: FieldPath): FieldError[] {
  return (percentOf(value) ?? 0) > 100 ? [fieldError.invalid(path, value, 'must not be greater than 100%')] : []
}
