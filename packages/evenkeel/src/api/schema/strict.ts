/**
 * What fieldValidation reports: one sentence per field that a strict reader objects to, in upstream's words.
 *
 * The same sentences are warnings (`Warn`) or one refusal (`Strict`).
 */
import { badRequest } from '../error/makers.ts'
import type { ApiError } from '../error/api-error.ts'
import { quote } from '../text.ts'

interface StrictFindings {
  /** Paths of keys that were there twice. */
  readonly duplicates?: readonly string[]
  /** Paths of fields nobody knows. */
  readonly unknown?: readonly string[]
}

/** As many as upstream reports. */
const messagesMax = 100

/** The sentences: `duplicate field "metadata.labels.a"`, `unknown field "spec.foo"`. */
export function strictDecodingMessages({ duplicates = [], unknown = [] }: StrictFindings): string[] {
  // What lies in an unknown field is not looked at, so a key twice in there, or such a field twice, is no second finding.
  const counted =
    unknown.length === 0 ? duplicates : duplicates.filter((path) => !unknown.some((field) => isWithin(path, field)))
  const sentences = [
    ...counted.map((path) => `duplicate field ${quote(path)}`),
    ...unknown.map((path) => `unknown field ${quote(path)}`),
  ]
  return [...new Set(sentences)].slice(0, messagesMax)
}

/** The refusal of a body, when the client asked for `Strict`. `kind` and `version` as in other decoding errors. */
export function strictDecodingError(kind: string, version: string, sentences: readonly string[]): ApiError {
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${sentences.join(', ')}`,
  )
}

function isWithin(path: string, field: string): boolean {
  return (
    path.startsWith(field) && (path.length === field.length || path[field.length] === '.' || path[field.length] === '[')
  )
}
