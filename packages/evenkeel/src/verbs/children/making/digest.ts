/**
 * A short text that is the same for the same JSON, whatever the order of its fields.
 */
import { createHash } from 'node:crypto'
import { compareText, getOwn, isJsonObject } from '#api'
import type { JsonValue } from '#api'

/** Sixteen hexadecimal digits. */
export function digestOf(value: JsonValue | undefined): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16)
}

/** Fields in order; what JSON does not have is left out. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value)
    .filter((name) => getOwn(value, name) !== undefined)
    .sort(compareText)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(getOwn(value, name))}`).join()}}`
}
