/**
 * What a call can cost, and how large its result can be, by what is known about its operands.
 *
 * The order of the sources is that of `call-cost.ts`: list and set extensions, Kubernetes, CEL itself.
 */
import type { CallNode } from '../syntax/tree.ts'
import type { CostEstimator, EntrySize, Operand } from './estimate.ts'
import { estimateExtension } from './extension-estimate.ts'
import { estimateKubernetes } from './kubernetes-estimate.ts'
import { countMax, exactly, product, scaled, sum, union, unknownRange, type CountRange } from './range.ts'

export interface EstimatedCall {
  readonly node: CallNode
  readonly name: string
  readonly overload: string
  readonly target: Operand | undefined
  readonly operands: readonly Operand[]
  readonly costs: readonly CountRange[]
}

export interface CallEstimate {
  readonly cost: CountRange
  readonly size?: CountRange | undefined
}

export function estimateCall(estimate: CostEstimator, call: EstimatedCall): CallEstimate {
  const own = estimateExtension(estimate, call) ?? estimateKubernetes(estimate, call)
  if (own) return { ...own, cost: sum(own.cost, ...call.costs) }
  return estimateCore(estimate, call)
}

const traversalFactor = 0.1
const regexFactor = 0.25
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

/** Upstream does not look for overflow in these few places. */
function wrapped(count: bigint): bigint {
  return count & countMax
}
