/**
 * Amounts of resources in specs: `{ cpu: '500m', memory: '1Gi' }`.
 *
 * They are kept in canonical form (0.5 becomes 500m, 1024Mi becomes 1Gi) and rounded up to thousandths, so that equal
 * amounts are equal texts.
 */
import { fieldError, formatQuantity, parseQuantity, quantityAsInteger, setOwn } from '#api'
import type { FieldError, FieldPath, JsonObject, JsonObjectDraft, Quantity } from '#api'
import { draftIn } from './drafts.ts'
import { isWholeResource } from './resource-names.ts'

/** The amount a value says; `undefined` when it is none. Plain numbers are amounts as well. */
export function quantityFrom(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return parseQuantity(String(value))
  } catch {
    return undefined
  }
}

/** Brings the amounts in the map under a key into canonical form. What is no amount is left for validation. */
export function canonicalizeQuantities(parent: JsonObjectDraft, key: string): void {
  const amounts = draftIn(parent, key)
  if (amounts === undefined) return
  for (const [name, value] of Object.entries(amounts)) {
    const quantity = quantityFrom(value)
    if (quantity !== undefined) setOwn(amounts, name, formatQuantity(roundUpToMilli(quantity)))
  }
}

/** Brings one amount into canonical form. */
export function canonicalizeQuantity(parent: JsonObjectDraft, key: string): void {
  const quantity = quantityFrom(parent[key])
  if (quantity !== undefined) parent[key] = formatQuantity(quantity)
}

/** Adds the amounts of one map that another lacks; the map under `key` is made when it is missing. */
export function fillQuantities(parent: JsonObjectDraft, key: string, from: JsonObject): void {
  const amounts: JsonObjectDraft = draftIn(parent, key) ?? {}
  for (const [name, value] of Object.entries(from)) if (!Object.hasOwn(amounts, name)) setOwn(amounts, name, value)
  parent[key] = amounts
}

/** What is wrong with the amount of a resource, whoever asks for it. */
export function validateQuantity(resource: string, value: unknown, path: FieldPath): FieldError[] {
  const quantity = quantityFrom(value)
  if (quantity === undefined) return [fieldError.invalid(path, value, quantityComplaint)]
  const errors: FieldError[] = []
  if (quantity.unscaled < 0n)
    errors.push(fieldError.invalid(path, formatQuantity(quantity), 'must be greater than or equal to 0'))
  if (isWholeResource(resource) && quantityAsInteger(quantity, { scale: -3 }) % 1000n !== 0n) {
    errors.push(fieldError.invalid(path, formatQuantity(quantity), 'must be an integer'))
  }
  return errors
}

const quantityComplaint = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

function roundUpToMilli(quantity: Quantity): Quantity {
  if (quantity.scale >= -3) return quantity
  // Reading it again brings the rounded value into normal form.
  const rounded = parseQuantity(`${quantityAsInteger(quantity, { scale: -3 })}m`)
  return { ...rounded, format: quantity.format }
}
