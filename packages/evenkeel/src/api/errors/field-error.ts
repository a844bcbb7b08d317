/**
 * The error of one field, with the text of upstream; the `Invalid` error for a list of them; and the path of a field.
 *
 * Validators return lists of field errors and throw nothing: a user wants to see all mistakes at once. A list may be as
 * long as the document that is wrong, so an error formats its texts when they are read, and of a long list only the first
 * errors are shown. The value of an error must not change in between. A {@link
 * FieldPath} (`spec.containers[0].name`, `metadata.labels[a/b]`) is a linked list towards its root, so passing it down
 * costs nothing and only an error formats it.
 */
import { exceedsDepth, quote, stringifyJson } from '@evenkeel/cel/primitives'
import { formatGroupName } from '../group-version.ts'
import { ApiError } from './api-error.ts'
import type { NamedSubject } from './constructors.ts'
import { fieldCauses, type FieldCauseType } from './reasons.ts'

/** What is wrong with a field of an object. */
export interface FieldError {
  readonly type: FieldCauseType
  /** The path as text; `<nil>` when there is none, as upstream prints it. */
  readonly field: string
  /** The message without the field: `Invalid value: "x": must be lower case`. */
  readonly body: string
}

type OptionalPath = FieldPath | undefined

/** Constructors of field errors, one per cause type. */
export const fieldError = {
  notFound: (path: OptionalPath, value: unknown): FieldError => withValue('FieldValueNotFound', path, { value }),
  required: (path: OptionalPath, detail = ''): FieldError => withoutValue('FieldValueRequired', path, detail),
  duplicate: (path: OptionalPath, value: unknown): FieldError => withValue('FieldValueDuplicate', path, { value }),
  invalid: (path: OptionalPath, value: unknown, detail: string): FieldError =>
    withValue('FieldValueInvalid', path, { value, detail }),
  typeInvalid: (path: OptionalPath, value: unknown, detail: string): FieldError =>
    withValue('FieldValueTypeInvalid', path, { value, detail }),
  forbidden: (path: OptionalPath, detail: string): FieldError => withoutValue('FieldValueForbidden', path, detail),
  internal: (path: OptionalPath, detail: string): FieldError => withoutValue('InternalError', path, detail),

  notSupported(path: OptionalPath, value: unknown, supported: readonly string[]): FieldError {
    const detail = supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : ''
    return withValue('FieldValueNotSupported', path, { value, detail })
  },

  /** The text has more bytes than allowed; the text itself is not repeated. */
  tooLong(path: OptionalPath, bytesMax: number): FieldError {
    return withoutValue('FieldValueTooLong', path, `may not be more than ${plural(bytesMax, 'byte')}`)
  },

  tooShort(path: OptionalPath, charactersMin: number): FieldError {
    return withoutValue('FieldValueTooShort', path, `must be at least ${plural(charactersMin, 'character')}`)
  },

  tooMany(path: OptionalPath, count: number, countMax: number): FieldError {
    return withValue('FieldValueTooMany', path, {
      value: count,
      detail: `must have at most ${plural(countMax, 'item')}`,
    })
  },

  tooFew(path: OptionalPath, count: number, countMin: number): FieldError {
    return withValue('FieldValueTooFew', path, {
      value: count,
      detail: `must have at least ${plural(countMin, 'item')}`,
    })
  },
}

/** `spec.replicas: Invalid value: -1: must be at least 0`. */
export function formatFieldError({ field, body }: FieldError): string {
  return `${field}: ${body}`
}

/** Several errors as one text: a single one without brackets, several in brackets, without duplicates. */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  const shown = firstErrors(errors)
  const texts = [...new Set(shown.map(formatFieldError))]
  if (shown.length < errors.length) texts.push(`and at least ${errors.length - shown.length} more errors`)
  return texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`
}

/** The object is not valid. The subject names the kind (`Deployment`), not the resource. */
export function invalid(subject: NamedSubject, errors: readonly FieldError[]): ApiError {
  const what = `${formatGroupName(subject.kind, subject.group ?? '')} ${quote(subject.name)} is invalid`
  const causes = firstErrors(errors).map(({ type, field, body }) => ({ reason: type, message: body, field }))
  return new ApiError('Invalid', errors.length > 0 ? `${what}: ${formatFieldErrors(errors)}` : what, {
    subject,
    causes,
  })
}

const shownErrorsMax = 1_000
/** A validator of a long list may stop here: the rest is not shown. */
export const foundErrorsMax = 2_000

/** The errors of the items of a list, which may be as long as a document. */
export function errorsOfEach<T>(
  items: Iterable<T>,
  check: (item: T, index: number) => readonly FieldError[],
): FieldError[] {
  const errors: FieldError[] = []
  let index = 0
  for (const item of items) {
    for (const error of check(item, index++)) errors.push(error)
    if (errors.length > foundErrorsMax) break
  }
  return errors
}

const shownTextMax = 262_144

/** The errors that are shown: the first one in any case, and as many more as a person could read. */
function firstErrors(errors: readonly FieldError[]): readonly FieldError[] {
  let text = 0
  const end = errors.findIndex((error, index) => {
    if (index > 0 && (index === shownErrorsMax || text > shownTextMax)) return true
    text += error.field.length + error.body.length
    return false
  })
  return end < 0 ? errors : errors.slice(0, end)
}

function withoutValue(type: FieldCauseType, path: OptionalPath, detail: string): FieldError {
  return lazyError(type, path, () => (detail ? `${fieldCauses[type]}: ${detail}` : fieldCauses[type]))
}

function withValue(
  type: FieldCauseType,
  path: OptionalPath,
  { value, detail = '' }: { value: unknown; detail?: string },
): FieldError {
  return lazyError(type, path, () => {
    const body = `${fieldCauses[type]}: ${formatValue(value)}`
    return detail ? `${body}: ${detail}` : body
  })
}

/** Texts are formatted once, when they are first read. */
function lazyError(type: FieldCauseType, path: OptionalPath, format: () => string): FieldError {
  let field: string | undefined
  let body: string | undefined
  return {
    type,
    get field() {
      return (field ??= formatPath(path))
    },
    get body() {
      return (body ??= format())
    },
  }
}

function formatPath(path: OptionalPath): string {
  return path === undefined ? '<nil>' : path.toString()
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Deeper values are not shown: `JSON.stringify` is recursive and would run out of stack on a hostile one. */
const shownDepthMax = 200

function formatValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return String(value ?? null)
  if (exceedsDepth(value, shownDepthMax)) return '<value omitted>'
  // Go's JSON writer escapes what HTML would misread.
  return stringifyJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// Field paths.

/** An immutable path. Every method returns a longer path and does not change this one. */
export class FieldPath {
  readonly #parent: FieldPath | undefined
  readonly #step: string

  private constructor(parent: FieldPath | undefined, step: string) {
    this.#parent = parent
    this.#step = step
  }

  /** A path from the root of an object: `FieldPath.of('metadata', 'labels')`. */
  static of(first: string, ...names: readonly string[]): FieldPath {
    return new FieldPath(undefined, first).child(...names)
  }

  child(...names: readonly string[]): FieldPath {
    return names.reduce<FieldPath>((path, name) => new FieldPath(path, `.${name}`), this)
  }

  index(index: number): FieldPath {
    return new FieldPath(this, `[${index}]`)
  }

  key(key: string): FieldPath {
    return new FieldPath(this, `[${key}]`)
  }

  toString(): string {
    const steps: string[] = []
    for (let path: FieldPath | undefined = this; path !== undefined; path = path.#parent) steps.push(path.#step)
    return steps.reverse().join('')
  }
}
