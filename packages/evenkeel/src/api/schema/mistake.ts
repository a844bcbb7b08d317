/**
 * A value that a typed reader cannot take, in the words of Go's JSON decoder: clients and tests search for them.
 *
 * Thrown inside the walk of an object only; outside it is a sentence.
 */
import type { JsonValue } from '../json.ts'

export class DecodeError extends Error {
  /** What was found and what was wanted, when the mistake is one of types: the sentence then names the field. */
  readonly types: { readonly found: string; readonly wanted: string } | undefined

  constructor(message: string, types?: { readonly found: string; readonly wanted: string }) {
    super(message)
    this.types = types
  }
}

/** The mistake of meeting one type where another belongs. A number that does not fit is named with its digits. */
export function wrongType(
  value: JsonValue,
  wanted: string,
  { digits = false }: { digits?: boolean } = {},
): DecodeError {
  const found = digits ? `number ${String(value)}` : goKind(value)
  return new DecodeError('', { found, wanted })
}

function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value === null ? 'null' : typeof value
}
