/**
 * Costs, in the units and with the numbers of cel-go and kube-apiserver: the cost of a call at run time, and the arithmetic
 * of cost estimates.
 *
 * The cost of a call comes from three tables, in this order: the list and set extensions by overload, the Kubernetes libraries
 * by name, CEL itself by overload. A call whose overload is not certain is looked up by name only; an unknown call costs 1.
 *
 * Example. `self.name.startsWith('ab') && self.ports.size() > 0` with a name of 25 characters:
 *
 *     self.name        2       1 for the variable, 1 for the field
 *     startsWith       3       ceil(25 * 0.1), a traversal of the target
 *     self.ports       2
 *     size             1
 *     > 0              1       the literal is free, and so is &&
 *     total            9
 *
 * An estimate is a range of 64-bit counts that saturates at the largest count instead of overflowing. The estimate of the
 * expression above is 3 to 7: at least the left side, at most both sides. It is below the real cost, because cel-go estimates
 * `startsWith` by the size of its argument, ceil(2 * 0.1) = 1.
 */
import { ListValue, MapValue } from './collections.ts'
import { NamedFormat } from './library/format.ts'
import { characterCount, utf8Length } from './primitives/text.ts'
import { typeNameOf } from './type-names.ts'
import { Bytes, Opaque, Optional, type Value } from './values.ts'

/** The cost per character of traversing a string once. */
export const traversalFactor = 0.1
/** The cost per character of a regular expression. */
export const regexFactor = 0.25
/** The cost of creating a list, a map and a message. */
export const listCreationCost = 10
export const mapCreationCost = 30
export const messageCreationCost = 40

/** Functions of the Kubernetes libraries with a constant cost of 1. */
export const constantCostFunctions: readonly string[] = [
  'masked',
  'prefixLength',
  'family',
  'isUnspecified',
  'isLoopback',
  'isLinkLocalMulticast',
  'isLinkLocalUnicast',
  'isGlobalUnicast',
  'format.named',
  'sign',
  'asInteger',
  'isInteger',
  'asApproximateFloat',
  'isGreaterThan',
  'isLessThan',
  'compareTo',
  'add',
  'sub',
  'major',
  'minor',
  'patch',
  'getScheme',
  'getHostname',
  'getHost',
  'getPort',
  'getEscapedPath',
  'getQuery',
]

/** The cost of a call: constant, or computed from its operands and its result. */
export type CallCost = number | ((values: readonly Value[], result: Value) => number)

export function callCost(name: string, overload: string): CallCost {
  return extensions.get(overload) ?? byName.get(name)?.(overload) ?? byOverload.get(overload) ?? 1
}

/** The cost of comparing two values: a traversal of the shorter one. */
export function comparisonCost(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return 1
  if (typeof a === 'string' && typeof b === 'string') {
    // Up to ten UTF-16 units, the number of characters does not change the result.
    const units = Math.min(a.length, b.length)
    if (units <= 10) return units === 0 ? 0 : 1
  }
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * traversalFactor)
}

const callOverhead = 1

const operand = (values: readonly Value[], index: number) => sizeOf(values[index] ?? null)
const overFirst: CallCost = (values) => Math.ceil(operand(values, 0) * traversalFactor)
const overFirstTwice: CallCost = (values) => Math.ceil(operand(values, 0) * 2 * traversalFactor)
const search: CallCost = (values) =>
  Math.ceil((1 + operand(values, 0)) * traversalFactor) * Math.ceil(operand(values, 1) * regexFactor)
const overShorter: CallCost = (values) => comparisonCost(values[0] ?? null, values[1] ?? null)
const overBoth: CallCost = (values) => Math.ceil((operand(values, 0) + operand(values, 1)) * traversalFactor)

const comparables = [
  'int',
  'uint',
  'double',
  'bool',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'string',
  'bytes',
]

const byResult: CallCost = (_, result) => allocating(1, sizeOf(result))
const flattening: CallCost = (values) => allocating(values.length === 2 ? Number(values[1]) : 1, operand(values, 0))

const extensions: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ['list_slice', byResult],
  ['lists_range', byResult],
  ['list_reverse', byResult],
  ['list_flatten', flattening],
  ['list_flatten_int', flattening],
  ['list_distinct', (values) => selfCompare(values[0])],
  ...comparables.flatMap((type): [string, CallCost][] => [
    [`list_${type}_sort`, (values) => selfCompare(values[0])],
    [`list_${type}_sortByAssociatedKeys`, (values) => selfCompare(values[1])],
  ]),
  ['list_sets_contains_list', (values) => callOverhead + operand(values, 0) * operand(values, 1)],
  ['list_sets_intersects_list', (values) => callOverhead + operand(values, 0) * operand(values, 1)],
  ['list_sets_equivalent_list', (values) => callOverhead + operand(values, 0) * operand(values, 1) * 2],
])

function allocating(factor: number, size: number): number {
  return Math.floor(size * factor) + callOverhead + listCreationCost
}

function selfCompare(list: Value | undefined): number {
  if (!(list instanceof ListValue) || list.size === 0) return allocating(2, 0)
  const type = typeNameOf(list.at(0))
  return allocating(type === 'string' || type === 'bytes' ? 2 + traversalFactor : 2, list.size * list.size)
}

function always(names: readonly string[], cost: CallCost): [string, (overload: string) => CallCost][] {
  return names.map((name) => [name, () => cost])
}

const byName: ReadonlyMap<string, (overload: string) => CallCost> = new Map([
  ...always(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'], (values) => traversalCost(values[0] ?? null)),
  ...always(
    [
      'url',
      'jsonpatch.escapeKey',
      'lowerAscii',
      'upperAscii',
      'substring',
      'trim',
      'cidr',
      'isIP',
      'isCIDR',
      'quantity',
      'isQuantity',
      'semver',
      'isSemver',
    ],
    overFirst,
  ),
  ...always(['replace', 'split', 'ip.isCanonical'], overFirstTwice),
  ...always(['join'], (_, result) => Math.ceil(sizeOf(result) * 2 * traversalFactor)),
  ...always(['find', 'findAll'], search),
  ...always(constantCostFunctions, 1),
  // A call of the authorizer.
  ...always(['check'], 350_000),
  ...always(['validate'], (values) => validation(values)),
  ['ip', (overload) => (overload === 'cidr_ip' ? 1 : overFirst)],
  ['containsIP', (overload) => (values) => containment(values, overload === 'cidr_contains_ip_string')],
  [
    'containsCIDR',
    (overload) => (values) =>
      containment(values, overload === 'cidr_contains_cidr_string') +
      Math.ceil(operand(values, 0) * traversalFactor) +
      1,
  ],
])

function containment(values: readonly Value[], isText: boolean): number {
  const network = operand(values, 0)
  return (
    Math.ceil((network + network) * traversalFactor) + (isText ? Math.ceil(operand(values, 1) * traversalFactor) : 0)
  )
}

function validation([format, text]: readonly Value[]): number {
  if (!(format instanceof NamedFormat)) return 1
  return Math.ceil((1 + sizeOf(text ?? null)) * traversalFactor) * Math.ceil(format.patternSize * regexFactor)
}

const byOverload: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ...[
    'starts_with_string',
    'ends_with_string',
    'string_to_bytes',
    'bytes_to_string',
    'strings_quote',
    'string_format',
  ].map((id): [string, CallCost] => [id, overFirst]),
  ['in_list', (values) => operand(values, 1)],
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((relation): [string, CallCost][] => [
    [`${relation}_string`, overShorter],
    [`${relation}_bytes`, overShorter],
  ]),
  ['add_string', overBoth],
  ['add_bytes', overBoth],
  ['matches_string', search],
  [
    'contains_string',
    (values) => Math.ceil(operand(values, 0) * traversalFactor) * Math.ceil(operand(values, 1) * traversalFactor),
  ],
])

/** The size of a value: characters, bytes, elements or entries; 1 for any other value. */
function sizeOf(value: Value): number {
  if (typeof value === 'string') return characterCount(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Bytes) return value.value.length
  if (value instanceof Opaque) return value.costSize
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1
}

/** The cost of traversing a whole value. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * traversalFactor)
  if (value instanceof Bytes) return Math.floor(value.value.length * traversalFactor)
  let cost = 0
  if (value instanceof ListValue) {
    for (const element of value.values()) cost += traversalCost(element)
    return cost
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null)
  return cost
}

/** The lower and upper bound of a cost or size. */
export interface CountRange {
  readonly min: bigint
  readonly max: bigint
}

export const countMax = 2n ** 64n - 1n
export const nothing: CountRange = { min: 0n, max: 0n }
export const unknownRange: CountRange = { min: 0n, max: countMax }

export function exactly(count: bigint | number): CountRange {
  const value = BigInt(count)
  return { min: value, max: value }
}

export function sum(...ranges: readonly CountRange[]): CountRange {
  return ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }), nothing)
}

export function product(a: CountRange, b: CountRange): CountRange {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) }
}

/** The range times a factor, rounded up; computed in doubles, as in cel-go. */
export function scaled({ min, max }: CountRange, factor: number): CountRange {
  return { min: scaledCount(min, factor), max: scaledCount(max, factor) }
}

/** The range that covers both. */
export function union(a: CountRange, b: CountRange): CountRange {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max }
}

function capped(count: bigint): bigint {
  return count > countMax ? countMax : count
}

function scaledCount(count: bigint, factor: number): bigint {
  const value = Number(count)
  if (value > 0 && factor > 0 && value > Number(countMax) / factor) return countMax
  const result = Math.ceil(value * factor)
  return result >= 2 ** 64 ? countMax : BigInt(result)
}
