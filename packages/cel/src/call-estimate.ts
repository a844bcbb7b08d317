/**
 * The estimated cost of a call and the size of its result, from the sizes of its operands.
 *
 * The tables are tried in the same order as in `cost.ts`: list and set extensions, Kubernetes libraries, CEL itself.
 *
 * Example. `self.name.matches('[a-z]+')` with `maxLength: 60`: the target has 0 to 60 characters, the pattern 6. The cost is
 * ceil((size + 1) * 0.1) * ceil(6 * 0.25): 1 * 2 = 2 at least and 7 * 2 = 14 at most, plus 2 for `self.name`.
 */
import type { CallNode } from './ast.ts'
import {
  constantCostFunctions,
  countMax,
  exactly,
  listCreationCost,
  product,
  regexFactor,
  scaled,
  sum,
  traversalFactor,
  union,
  unknownRange,
  type CountRange,
} from './cost.ts'
import type { CostEstimator, EntrySize, Operand } from './estimate.ts'
import { namedFormatType } from './library/format.ts'
import { cidrType, ipType } from './library/ip.ts'
import { quantityType } from './library/quantity.ts'
import { semverType } from './library/semver.ts'
import { urlType } from './library/url.ts'
import { sameType, type Type } from './types.ts'

interface EstimatedCall {
  readonly node: CallNode
  readonly name: string
  readonly overload: string
  readonly target: Operand | undefined
  readonly operands: readonly Operand[]
  readonly costs: readonly CountRange[]
}

interface CallEstimate {
  readonly cost: CountRange
  readonly size?: CountRange | undefined
}

export function estimateCall(estimate: CostEstimator, call: EstimatedCall): CallEstimate {
  const own = estimateExtension(estimate, call) ?? estimateKubernetes(estimate, call)
  if (own) return { ...own, cost: sum(own.cost, ...call.costs) }
  return estimateCore(estimate, call)
}

const sizeOf = (operand: Operand | undefined) => operand?.size ?? unknownRange

function estimateCore(estimate: CostEstimator, call: EstimatedCall): CallEstimate {
  const { operands, costs, overload, target } = call
  const paid = (cost: CountRange, size?: CountRange): CallEstimate => ({ cost: sum(cost, ...costs), size })
  const first = sizeOf(operands[0])
  switch (overload) {
    case 'string_format':
      return paid(scaled(sizeOf(target), traversalFactor))
    case 'string_to_bytes':
      return paid(scaled(first, traversalFactor), { min: first.min, max: wrapped(first.max * 4n) })
    case 'bytes_to_string':
      return paid(scaled(first, traversalFactor), { min: first.min / 4n, max: first.max })
    case 'strings_quote':
      return paid(scaled(first, traversalFactor), { min: wrapped(first.min + 2n), max: wrapped(first.max * 2n + 2n) })
    case 'starts_with_string':
    case 'ends_with_string':
      return paid(scaled(first, traversalFactor))
    case 'in_list':
      return paid(scaled(sizeOf(operands[1]), 1))
    case 'matches_string':
      return paid(product(scaled(sum(sizeOf(target), exactly(1)), traversalFactor), scaled(first, regexFactor)))
    case 'contains_string':
      return paid(product(scaled(sizeOf(target), traversalFactor), scaled(first, traversalFactor)))
    case 'logical_or':
    case 'logical_and':
      return { cost: { min: costs[0]!.min, max: sum(...costs).max } }
    case 'conditional':
      return conditional(estimate, call)
    default:
      return estimateOperator(estimate, call)
  }
}

function estimateOperator(estimate: CostEstimator, { overload, operands, costs, node }: EstimatedCall): CallEstimate {
  const [a, b] = [sizeOf(operands[0]), sizeOf(operands[1])]
  if (overload === 'add_list' || overload === 'add_string' || overload === 'add_bytes') {
    const size = sum(a, b)
    estimate.setEntrySize(node, joined(estimate.entrySize(node.arguments[0]!), estimate.entrySize(node.arguments[1]!)))
    return { cost: sum(overload === 'add_list' ? exactly(1) : scaled(size, traversalFactor), ...costs), size }
  }
  if (!comparisons.has(overload)) return { cost: sum(exactly(1), ...costs) }
  const smallest = a.max < b.max ? a.max : b.max
  return { cost: sum(scaled({ min: smallest > 0n ? 1n : 0n, max: smallest }, traversalFactor), ...costs) }
}

function conditional(estimate: CostEstimator, { operands, costs, node }: EstimatedCall): CallEstimate {
  estimate.setEntrySize(node, joined(estimate.entrySize(node.arguments[1]!), estimate.entrySize(node.arguments[2]!)))
  return { cost: sum(costs[0]!, union(costs[1]!, costs[2]!)), size: union(sizeOf(operands[1]), sizeOf(operands[2])) }
}

const comparisons: ReadonlySet<string> = new Set([
  'equals',
  'not_equals',
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((name) => [`${name}_string`, `${name}_bytes`]),
])

function joined(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  return a && b && { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) }
}

/** cel-go does not check these few operations for overflow. */
function wrapped(count: bigint): bigint {
  return count & countMax
}

/** The estimate for a list or set extension; undefined for other overloads. */
function estimateExtension(
  estimate: CostEstimator,
  { overload, target, operands }: EstimatedCall,
): CallEstimate | undefined {
  const sizeOf = (operand: Operand | undefined) => operand?.size ?? estimate.declaredSize(operand?.path) ?? unknownRange
  const sort = /^list_(.*)_(sort|sortByAssociatedKeys)$/.exec(overload)
  if (sort)
    return sorting(sizeOf(sort[2] === 'sort' ? target : operands[0]), sort[1] === 'string' || sort[1] === 'bytes')
  const size = sizeOf(target)
  switch (overload) {
    case 'list_slice':
      return allocating(
        1,
        exactly(BigInt.asUintN(64, literalCount(operands[1], size.max) - literalCount(operands[0], 0n))),
      )
    case 'lists_range':
      return allocating(1, exactly(literalCount(operands[0], countMax)))
    case 'list_reverse':
      return allocating(1, size)
    case 'list_flatten':
      return allocating(1, size)
    case 'list_flatten_int':
      return allocating(Number(literalCount(operands[0], countMax)), size)
    case 'list_distinct':
      return sorting(size, false)
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return { cost: sum(scaled(product(sizeOf(operands[0]), sizeOf(operands[1])), 1), exactly(1)) }
    case 'list_sets_equivalent_list':
      return { cost: sum(scaled(product(sizeOf(operands[0]), sizeOf(operands[1])), 2), exactly(1)) }
    default:
      return undefined
  }
}

/** Sorting is estimated as a comparison of all pairs. */
function sorting(size: CountRange, isText: boolean): CallEstimate {
  return allocating(isText ? 2 + traversalFactor : 2, product(size, size))
}

/** A call, a new list, and a cost per element. */
function allocating(factor: number, size: CountRange): CallEstimate {
  return { cost: sum(scaled(size, factor), exactly(1), exactly(listCreationCost)), size }
}

function literalCount(operand: Operand | undefined, otherwise: bigint): bigint {
  const value = operand?.node?.kind === 'literal' ? operand.node.value : undefined
  if (typeof value !== 'number' && typeof value !== 'bigint') return otherwise
  return value < 0 ? 0n : BigInt(value)
}

/** The assumed pattern length of a named format. */
const formatPatternMax = 128
const one: CallEstimate = { cost: exactly(1) }

/** The estimate for a function of the Kubernetes libraries, by name; undefined for other functions. */
function estimateKubernetes(estimate: CostEstimator, call: EstimatedCall): CallEstimate | undefined {
  return functions.get(call.name)?.(call, new Sizes(estimate))
}

type Estimator = (call: EstimatedCall, sizes: Sizes) => CallEstimate | undefined

class Sizes {
  readonly #estimate: CostEstimator

  constructor(estimate: CostEstimator) {
    this.#estimate = estimate
  }

  of(operand: Operand | undefined): CountRange {
    return operand?.size ?? this.#estimate.declaredSize(operand?.path) ?? unknownRange
  }

  /** An element of a list; undefined when the operand is not a list. */
  elementOf({ type, path }: Operand): Operand | undefined {
    const [element] = type.parameters
    return element && { node: undefined, type: element, path: path?.separately('@items'), size: undefined }
  }
}

const overTarget: Estimator = ({ target }, sizes) =>
  target && { cost: scaled(sizes.of(target), traversalFactor), size: sizes.of(target) }
const overFirst: Estimator = ({ operands }, sizes) =>
  operands[0] && { cost: scaled(sizes.of(operands[0]), traversalFactor) }
const accessor: Estimator = () => one

const functions: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ...named(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'], overElements),
  [
    'url',
    ({ operands }, sizes) =>
      operands.length === 1
        ? { cost: scaled(sizes.of(operands[0]), traversalFactor), size: sizes.of(operands[0]) }
        : undefined,
  ],
  ...named(['lowerAscii', 'upperAscii', 'substring', 'trim'], overTarget),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ...named(['find', 'findAll'], find),
  ...named(['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'], overFirst),
  ['ip', (call, sizes) => (call.overload === 'cidr_ip' ? one : overFirst(call, sizes))],
  [
    'ip.isCanonical',
    ({ operands }, sizes) => operands[0] && { cost: scaled(sizes.of(operands[0]), 2 * traversalFactor) },
  ],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  [
    'validate',
    ({ operands }, sizes) =>
      operands[0] && {
        cost: scaled(scaled(sizes.of(operands[0]), traversalFactor), formatPatternMax * regexFactor),
      },
  ],
  ...named(constantCostFunctions, accessor),
  ['_==_', equality],
])

function named(names: readonly string[], estimator: Estimator): [string, Estimator][] {
  return names.map((name) => [name, estimator])
}

function overElements({ target }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const element = sizes.elementOf(target)
  if (!element) return { cost: scaled(sizes.of(target), traversalFactor) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  const each = isText ? sum(exactly(1), scaled(sizes.of(element), traversalFactor)) : exactly(1)
  return { cost: product(sizes.of(target), each) }
}

/** The longest result replaces as many of the shortest matches as possible by the longest replacement; the shortest result the other way round. */
function replace({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target || operands.length < 2) return undefined
  const [size, from, to] = [sizes.of(target), sizes.of(operands[0]), sizes.of(operands[1])]
  const longest =
    from.min === 0n
      ? ([size.max < countMax ? size.max + 1n : size.max, size.max] as const)
      : to.max <= from.min
        ? ([0n, size.max] as const)
        : ([quotient(size.max, from.min), 0n] as const)
  const shortest =
    from.max === 0n
      ? ([size.min < countMax ? size.min + 1n : size.min, size.min] as const)
      : from.max <= to.min
        ? ([0n, size.min] as const)
        : ([quotient(size.min, from.max), 0n] as const)
  const result = sum(product({ min: shortest[0], max: longest[0] }, to), { min: shortest[1], max: longest[1] })
  return { cost: scaled(size, 2 * traversalFactor), size: result }
}

function quotient(a: bigint, b: bigint): bigint {
  const result = Math.ceil(Number(a) / Number(b))
  return result >= 2 ** 64 ? countMax : BigInt(result)
}

function split({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const size = sizes.of(target)
  const limit = operands[1]?.node?.kind === 'literal' ? operands[1].node.value : undefined
  const max = typeof limit === 'number' || typeof limit === 'bigint' ? BigInt.asUintN(64, BigInt(limit)) : size.max
  return { cost: scaled(size, 2 * traversalFactor), size: { min: 0n, max } }
}

function join({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const count = sizes.of(target)
  const element = sizes.elementOf(target)
  let size = element ? product(count, sizes.of(element)) : exactly(0)
  if (operands[0]) {
    const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n }
    size = sum(size, product(sizes.of(operands[0]), separators))
  }
  return { cost: scaled(size, traversalFactor), size }
}

function find({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target || !operands[0]) return undefined
  const size = sizes.of(target)
  const text = scaled(sum(size, exactly(1)), traversalFactor)
  return { cost: product(text, scaled(sizes.of(operands[0]), regexFactor)), size: { min: 0n, max: size.max } }
}

/** Addresses have 4 or 16 bytes. */
const addressSize: CountRange = { min: 4n, max: 16n }

function containsIp({ operands, overload }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!operands[0]) return undefined
  const parsing = overload === 'cidr_contains_ip_string' ? scaled(sizes.of(operands[0]), traversalFactor) : exactly(0)
  return { cost: sum(scaled(sum(addressSize, addressSize), traversalFactor), parsing) }
}

function containsCidr({ operands, overload }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!operands[0]) return undefined
  const parsing = overload === 'cidr_contains_cidr_string' ? scaled(sizes.of(operands[0]), traversalFactor) : exactly(0)
  return {
    cost: sum(
      scaled(sum(addressSize, addressSize), traversalFactor),
      scaled(addressSize, traversalFactor),
      exactly(1),
      parsing,
    ),
  }
}

const simplyEqual: readonly Type[] = [ipType, cidrType, quantityType, semverType]

function equality({ operands: [left, right] }: EstimatedCall): CallEstimate | undefined {
  if (!left || !right || !sameType(left.type, right.type)) return undefined
  if (simplyEqual.some((type) => sameType(type, left.type))) return one
  if (sameType(left.type, namedFormatType)) return { cost: scaled({ min: 1n, max: 64n }, traversalFactor) }
  if (!sameType(left.type, urlType)) return undefined
  return { cost: scaled({ min: 1n, max: right.size?.max ?? 1n }, traversalFactor) }
}
