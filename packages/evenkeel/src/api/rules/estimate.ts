/**
 * What rules can cost in the worst case, as definitions are judged by it: per expression, and all of a schema together.
 *
 * Counts are 64 bits wide and stop at the largest one instead of overflowing.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import { countMax } from '../expressions/cost/range.ts'
import { crdEstimateMax, ruleEstimateMax } from '../expressions/expression.ts'
import type { SchemaNode } from '../schema/schema.ts'

/** How often a place can occur in an object; `undefined` when nothing limits it but the size of a request. */
export type Cardinality = bigint | undefined

/** How often what is directly inside a place can occur. */
export function cardinalityInside(node: SchemaNode, outer: Cardinality): Cardinality {
  const factor = occurrences(node)
  return outer === undefined || factor === undefined ? undefined : times(outer, factor)
}

/** How often data of at least this size fits into a request. */
export function cardinalityOf(minSize: number): bigint {
  return BigInt(Math.floor(requestSizeMax / (minSize + 1)))
}

const requestSizeMax = 3 * 1024 * 1024

function occurrences({ type, additionalProperties, maxProperties, maxItems }: SchemaNode): bigint | undefined {
  if (type === 'array') return limit(maxItems)
  return type === 'object' && additionalProperties !== undefined ? limit(maxProperties) : 1n
}

function limit(count: number | undefined): bigint | undefined {
  return count === undefined ? undefined : BigInt(Math.max(0, count))
}

export function times(cost: bigint, count: bigint): bigint {
  const product = cost * count
  return product > countMax ? countMax : product
}

/** The sum over a schema, and those that contribute most to it. */
export class TotalCostEstimate {
  #total = 0n
  #largest: { readonly path: FieldPath; readonly cost: bigint }[] = []

  add(path: FieldPath, cost: bigint): void {
    this.#total = this.#total + cost > countMax ? countMax : this.#total + cost
    if (cost < crdEstimateMax / 100n) return
    this.#largest = [...this.#largest, { path, cost }]
      .sort((a, b) => (a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1))
      .slice(0, 4)
  }

  /** The errors, when it is too much; `path` is that of the schema. */
  errors(path: FieldPath): FieldError[] {
    if (this.#total <= crdEstimateMax) return []
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    return [
      ...this.#largest.map((one) => fieldError.forbidden(one.path, detail)),
      fieldError.forbidden(
        path,
        excess(
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
          this.#total,
          crdEstimateMax,
        ),
      ),
    ]
  }
}

/** The error about an expression that may cost too much, if it may. */
export function checkEstimate(what: string, cost: bigint, path: FieldPath): FieldError[] {
  return cost > ruleEstimateMax ? [fieldError.forbidden(path, excess(what, cost, ruleEstimateMax))] : []
}

function excess(what: string, cost: bigint, costMax: bigint): string {
  const factor = Number(cost) / Number(costMax)
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${fixed(factor, 6)}x` : `${fixed(factor, 1)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/** With that many decimals; what lies exactly between two goes to the even one, as Go rounds. */
function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5
  return isTie && Math.floor(scaled) % 2 === 0
    ? (Math.floor(scaled) / 10 ** digits).toFixed(digits)
    : value.toFixed(digits)
}
