/**
 * Resource quantities in specs: `{ cpu: '500m', memory: '1Gi' }`.
 *
 * They are stored in canonical form (0.5 becomes 500m, 1024Mi becomes 1Gi) and rounded up to thousandths, so that equal
 * quantities are equal strings.
 */
import {
  checkQualifiedName,
  fieldError,
  formatQuantity,
  parseQuantity,
  quantityAsInteger,
  setOwn,
  type FieldError,
  type FieldPath,
  type JsonObject,
  type JsonObjectDraft,
  type Quantity,
} from 'evenkeel/unstable/builtins'
import { draftIn } from './defaulting.ts'
import { refuse } from './validation.ts'

/** The quantity of a value; `undefined` for an invalid one. Plain numbers are quantities too. */
export function quantityFrom(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return parseQuantity(String(value))
  } catch {
    return undefined
  }
}

/** Canonicalizes the quantities in the map under a key. Invalid ones are left for validation. */
export function canonicalizeQuantities(parent: JsonObjectDraft, key: string): void {
  const amounts = draftIn(parent, key)
  if (amounts === undefined) return
  for (const [name, value] of Object.entries(amounts)) {
    const quantity = quantityFrom(value)
    if (quantity !== undefined) setOwn(amounts, name, formatQuantity(roundUpToMilli(quantity)))
  }
}

/** Canonicalizes one quantity. */
export function canonicalizeQuantity(parent: JsonObjectDraft, key: string): void {
  const quantity = quantityFrom(parent[key])
  if (quantity !== undefined) parent[key] = formatQuantity(quantity)
}

/** Adds the missing quantities of a map; creates the map under `key` if it is missing. */
export function fillQuantities(parent: JsonObjectDraft, key: string, from: JsonObject): void {
  const amounts: JsonObjectDraft = draftIn(parent, key) ?? {}
  for (const [name, value] of Object.entries(from)) if (!Object.hasOwn(amounts, name)) setOwn(amounts, name, value)
  parent[key] = amounts
}

/** Validates the quantity of a resource. */
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
  // Parsing again normalizes the rounded value.
  const rounded = parseQuantity(`${quantityAsInteger(quantity, { scale: -3 })}m`)
  return { ...rounded, format: quantity.format }
}

// Names of compute resources (`cpu`, `hugepages-2Mi`, `example.com/gpu`) and where each kind of name is valid.

const objectCounts = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const quotaResources: ReadonlySet<string> = new Set([
  ...objectCounts,
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
])
const wholeResources: ReadonlySet<string> = new Set(objectCounts)
const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Resources with integer quantities: object counts and extended resources. */
function isWholeResource(name: string): boolean {
  return wholeResources.has(name) || isExtendedResource(name)
}

/** Resources that can be overcommitted. */
export function mayOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name)
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** A standard resource name of a quota. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** The name of any resource. */
export function validateResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = refuse(name, path, checkQualifiedName(name))
  if (errors.length > 0 || name.includes('/') || name === 'storage' || isQuotaResource(name)) return errors
  return [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')]
}

/** The name of a resource that a container can request. */
export function validateContainerResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = validateResourceName(name, path)
  if (!name.includes('/')) {
    if (!containerResources.has(name) && !isHugePages(name))
      errors.push(fieldError.invalid(path, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(fieldError.invalid(path, name, "doesn't follow extended resource name standard"))
  }
  return errors
}

/** The name of a resource that a quota can limit. */
export function validateQuotaResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = validateResourceName(name, path)
  if (!name.includes('/') && !isQuotaResource(name))
    errors.push(fieldError.invalid(path, name, 'must be a standard resource for quota'))
  return errors
}

function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return checkQualifiedName(`requests.${name}`).length === 0
}
