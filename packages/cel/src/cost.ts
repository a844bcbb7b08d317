/**
 * What a call costs when it runs, with upstream's numbers.
 *
 * Three sources, asked in this order: the list and set extensions by overload, Kubernetes by name, CEL itself by overload.
 * A call whose overload is not certain is only found by name; everything unknown costs 1.
 */
import { ListValue, MapValue } from './collections.ts'
import { NamedFormat } from './library/format.ts'
import { characterCount, utf8Length } from './primitives/text.ts'
import { typeNameOf } from './type-names.ts'
import { Bytes, Opaque, Optional, type Value } from './values.ts'

export type CallCost = number | ((values: readonly Value[], result: Value) => number)

export function callCost(name: string, overload: string): CallCost {
  return extensions.get(overload) ?? byName.get(name)?.(overload) ?? byOverload.get(overload) ?? 1
}

/** What it costs to compare two values: as much as looking at the shorter one. */
export function comparisonCost(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return 1
  if (typeof a === 'string' && typeof b === 'string') {
    // Up to ten units it does not matter how many characters they are.
    const units = Math.min(a.length, b.length)
    if (units <= 10) return units === 0 ? 0 : 1
  }
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * traversal)
}

/** Looking at a text once, per character. */
const traversal = 0.1
/** A regular expression, per character. */
const regex = 0.25
const listCreation = 10
const call = 1

const operand = (values: readonly Value[], index: number) => sizeOf(values[index] ?? null)
const overFirst: CallCost = (values) => Math.ceil(operand(values, 0) * traversal)
const overFirstTwice: CallCost = (values) => Math.ceil(operand(values, 0) * 2 * traversal)
const search: CallCost = (values) =>
  Math.ceil((1 + operand(values, 0)) * traversal) * Math.ceil(operand(values, 1) * regex)
const overShorter: CallCost = (values) => comparisonCost(values[0] ?? null, values[1] ?? null)
const overBoth: CallCost = (values) => Math.ceil((operand(values, 0) + operand(values, 1)) * traversal)

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
  ['list_sets_contains_list', (values) => call + operand(values, 0) * operand(values, 1)],
  ['list_sets_intersects_list', (values) => call + operand(values, 0) * operand(values, 1)],
  ['list_sets_equivalent_list', (values) => call + operand(values, 0) * operand(values, 1) * 2],
])

function allocating(factor: number, size: number): number {
  return Math.floor(size * factor) + call + listCreation
}

function selfCompare(list: Value | undefined): number {
  if (!(list instanceof ListValue) || list.size === 0) return allocating(2, 0)
  const type = typeNameOf(list.at(0))
  return allocating(type === 'string' || type === 'bytes' ? 2 + traversal : 2, list.size * list.size)
}

const constantNames = [
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
  ...always(['join'], (_, result) => Math.ceil(sizeOf(result) * 2 * traversal)),
  ...always(['find', 'findAll'], search),
  ...always(constantNames, 1),
  // Somebody else has to decide.
  ...always(['check'], 350_000),
  ...always(['validate'], (values) => validation(values)),
  ['ip', (overload) => (overload === 'cidr_ip' ? 1 : overFirst)],
  ['containsIP', (overload) => (values) => containment(values, overload === 'cidr_contains_ip_string')],
  [
    'containsCIDR',
    (overload) => (values) =>
      containment(values, overload === 'cidr_contains_cidr_string') + Math.ceil(operand(values, 0) * traversal) + 1,
  ],
])

function containment(values: readonly Value[], isText: boolean): number {
  const network = operand(values, 0)
  return Math.ceil((network + network) * traversal) + (isText ? Math.ceil(operand(values, 1) * traversal) : 0)
}

function validation([format, text]: readonly Value[]): number {
  if (!(format instanceof NamedFormat)) return 1
  return Math.ceil((1 + sizeOf(text ?? null)) * traversal) * Math.ceil(format.patternSize * regex)
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
    (values) => Math.ceil(operand(values, 0) * traversal) * Math.ceil(operand(values, 1) * traversal),
  ],
])

/*
 * How large a value is, for prices: characters, bytes, elements, entries; everything else is 1.
 */

function sizeOf(value: Value): number {
  if (typeof value === 'string') return characterCount(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Bytes) return value.value.length
  if (value instanceof Opaque) return value.costSize
  return value instanceof Optional && value.value !== undefined ? sizeOf(value.value) : 1
}

/** What it costs to look at everything in a value once. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * 0.1)
  if (value instanceof Bytes) return Math.floor(value.value.length * 0.1)
  let cost = 0
  if (value instanceof ListValue) {
    for (const element of value.values()) cost += traversalCost(element)
    return cost
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null)
  return cost
}

/*
 * Estimates are ranges of 64-bit counts that stop at the largest count instead of overflowing.
 */

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

/** Times a price per unit, rounded up; computed in doubles, as upstream does. */
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
