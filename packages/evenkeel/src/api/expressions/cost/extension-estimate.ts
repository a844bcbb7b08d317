/**
 * Estimates for the list and set extensions.
 */
import type { CallEstimate, EstimatedCall } from './call-estimate.ts'
import type { CostEstimator, Operand } from './estimate.ts'
import { countMax, exactly, product, scaled, sum, unknownRange, type CountRange } from './range.ts'

/** Undefined when the overload is none of theirs. */
export function estimateExtension(
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

/** Everything is compared with everything. */
function sorting(size: CountRange, isText: boolean): CallEstimate {
  return allocating(isText ? 2.1 : 2, product(size, size))
}

/** A call and a new list, and a price per element. */
function allocating(factor: number, size: CountRange): CallEstimate {
  return { cost: sum(scaled(size, factor), exactly(1), exactly(10)), size }
}

function literalCount(operand: Operand | undefined, otherwise: bigint): bigint {
  const value = operand?.node?.kind === 'literal' ? operand.node.value : undefined
  if (typeof value !== 'number' && typeof value !== 'bigint') return otherwise
  return value < 0 ? 0n : BigInt(value)
}
