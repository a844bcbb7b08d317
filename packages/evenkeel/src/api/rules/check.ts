/**
 * Validates the CEL rules of a CRD: every expression compiles, uses `oldSelf` only where an old value can be
 * correlated, and stays within the cost limit.
 *
 * Rules are compiled only where the schema at and below them is valid: types from an invalid schema would cause
 * misleading errors.
 *
 * The cost is the worst case, estimated per expression and for all rules of a schema together. Counts have 64 bits and
 * saturate instead of overflowing.
 */
import { pushAll } from '@evenkeel/cel/primitives'
import { countMax, escapeName, type DeclType } from '@evenkeel/cel'
import { fieldError, type FieldError, type FieldPath } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { compileSchema } from '../schema/compile.ts'
import { compileRules, declTypeAt, type CompiledRule } from './compile.ts'
import { crdEstimateMax, ruleEstimateMax, showRule } from './rules.ts'

interface CheckRulesOptions {
  /** The path of the schema. */
  readonly path: FieldPath
  /** Whether a schema node and all nodes below it are valid. */
  readonly isSound: (node: SchemaNode) => boolean
  /** Whether the schema is unchanged: then no single rule is rejected for its cost. */
  readonly isUnchanged: boolean
}

/** All errors in the rules of a schema. */
export function checkRules(schema: SchemaNode, { path, isSound, isUnchanged }: CheckRulesOptions): FieldError[] {
  const check = new RuleChecker({ isSound, isUnchanged })
  check.visit({
    node: schema,
    path,
    cardinality: 1n,
    parent: undefined,
    typeFrom: () => undefined,
    hasRulesAbove: false,
    uncorrelated: undefined,
  })
  return [...check.errors, ...check.total.errors(path)]
}

interface SchemaLocation {
  readonly node: SchemaNode
  readonly path: FieldPath
  readonly cardinality: Cardinality
  readonly parent: SchemaLocation | undefined
  /** The type of this node, from the type of its parent; `missing` when the parent has no type for it. */
  readonly typeFrom: (parent: DeclType) => DeclType | Missing | undefined
  readonly hasRulesAbove: boolean
  /** The list above whose items cannot be correlated between old and new object. */
  readonly uncorrelated: FieldPath | undefined
}

type Missing = 'missing'

class RuleChecker {
  readonly errors: FieldError[] = []
  readonly total = new TotalCostEstimate()
  readonly #isSound: (node: SchemaNode) => boolean
  readonly #isUnchanged: boolean
  readonly #types = new Map<SchemaLocation, DeclType | Missing | string>()

  constructor({ isSound, isUnchanged }: Pick<CheckRulesOptions, 'isSound' | 'isUnchanged'>) {
    this.#isSound = isSound
    this.#isUnchanged = isUnchanged
  }

  visit(place: SchemaLocation): void {
    const { node, path } = place
    const inside = {
      cardinality: cardinalityInside(node, place.cardinality),
      parent: place,
      hasRulesAbove: hasRulesInScope(place),
      uncorrelated: place.uncorrelated,
    }
    if (typeof node.additionalProperties === 'object') {
      this.visit({
        ...inside,
        node: node.additionalProperties,
        path: path.child('additionalProperties'),
        typeFrom: elementOf,
      })
    }
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      this.visit({
        ...inside,
        node: property,
        path: path.child('properties').key(name),
        typeFrom: (type) => fieldOf(type, name),
      })
    }
    if (node.items) {
      const uncorrelated = place.uncorrelated ?? (node['x-kubernetes-list-type'] === 'map' ? undefined : path)
      this.visit({ ...inside, node: node.items, path: path.child('items'), typeFrom: elementOf, uncorrelated })
    }
    if (hasOwnRules(node) && this.#isSound(node)) this.#checkPlace(place)
  }

  #checkPlace(place: SchemaLocation): void {
    const { node, path } = place
    const type = this.#typeOf(place)
    const at = path.child('x-kubernetes-validations')
    if (type === 'missing')
      this.errors.push(fieldError.internal(at, 'failed to convert to declType for CEL validation rules'))
    else if (typeof type === 'string')
      this.errors.push(
        fieldError.internal(
          at,
          `internal error: failed to construct type information for x-kubernetes-validations rules: ${type}`,
        ),
      )
    else {
      const cardinality = place.cardinality ?? cardinalityOf(type.minSerializedSize)
      const isResource = place.parent === undefined || isEmbedded(node)
      for (const [index, compiled] of compileRules({ schema: compileSchema(node), type, isResource }).entries()) {
        this.#checkRule(compiled, { path: at.index(index), type, cardinality, uncorrelated: place.uncorrelated })
      }
    }
  }

  #checkRule(compiled: CompiledRule, { path, type, cardinality, uncorrelated }: RuleContext): void {
    const { rule, expression, error: mistake, usesOld, messageExpression, messageError: messageMistake } = compiled
    const at = path.child('rule')
    this.#estimate('estimated rule cost', times(expression?.estimateCost(type).max ?? 0n, cardinality), at)
    if (mistake !== undefined) this.errors.push(fieldError.invalid(at, showRule(rule), mistake))
    if (messageMistake !== undefined)
      this.errors.push(fieldError.invalid(path.child('messageExpression'), showRule(rule), messageMistake))
    if (messageExpression)
      this.#estimate(
        'estimated messageExpression cost',
        messageExpression.estimateCost(type).max,
        path.child('messageExpression'),
      )
    if (usesOld && uncorrelated) {
      this.errors.push(
        fieldError.invalid(
          at,
          rule.text,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated.toString()}`,
        ),
      )
    }
    if (!usesOld && rule.optionalOldSelf !== undefined) {
      this.errors.push(
        fieldError.invalid(
          path.child('optionalOldSelf'),
          rule.optionalOldSelf,
          'may not be set if oldSelf is not used in rule',
        ),
      )
    }
  }

  #estimate(what: string, cost: bigint, path: FieldPath): void {
    if (!this.#isUnchanged) pushAll(this.errors, checkEstimate(what, cost, path))
    this.total.add(path, cost)
  }

  /**
   * The parent's type if rules of the parent need it as well, else derived from the schema; a string is the reason why
   * there is none.
   */
  #typeOf(place: SchemaLocation): DeclType | Missing | string {
    let type = this.#types.get(place)
    if (type === undefined) this.#types.set(place, (type = this.#findType(place)))
    return type
  }

  #findType({ node, parent, typeFrom }: SchemaLocation): DeclType | Missing | string {
    if (parent && hasRulesInScope(parent)) {
      const above = this.#typeOf(parent)
      if (typeof above === 'string') return above
      const type = typeFrom(above)
      if (type !== undefined) return type
    }
    return (
      declTypeAt(compileSchema(node), parent === undefined || isEmbedded(node)) ??
      'unable to convert structural schema to CEL declarations'
    )
  }
}

interface RuleContext {
  readonly path: FieldPath
  readonly type: DeclType
  readonly cardinality: bigint
  readonly uncorrelated: FieldPath | undefined
}

function hasRulesInScope({ node, hasRulesAbove }: SchemaLocation): boolean {
  return hasRulesAbove || hasOwnRules(node)
}

function hasOwnRules(node: SchemaNode): boolean {
  return (node['x-kubernetes-validations']?.length ?? 0) > 0
}

function isEmbedded(node: SchemaNode): boolean {
  return node['x-kubernetes-embedded-resource'] === true
}

function elementOf({ element }: DeclType): DeclType | Missing {
  return element ?? 'missing'
}

function fieldOf({ fields }: DeclType, name: string): DeclType | undefined {
  const escaped = escapeName(name)
  return escaped === undefined ? undefined : fields?.get(escaped)
}

// Cost estimates.

/** How often a value can occur in an object; `undefined` when only the size of a request limits it. */
type Cardinality = bigint | undefined

/** How often the direct content of a value can occur. */
function cardinalityInside(node: SchemaNode, outer: Cardinality): Cardinality {
  const factor = occurrences(node)
  return outer === undefined || factor === undefined ? undefined : times(outer, factor)
}

/** How often data of at least this size fits into a request. */
function cardinalityOf(minSize: number): bigint {
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

function times(cost: bigint, count: bigint): bigint {
  const product = cost * count
  return product > countMax ? countMax : product
}

/** The sum over a schema, and those that contribute most to it. */
class TotalCostEstimate {
  #total = 0n
  #largest: { readonly path: FieldPath; readonly cost: bigint }[] = []

  add(path: FieldPath, cost: bigint): void {
    this.#total = this.#total + cost > countMax ? countMax : this.#total + cost
    if (cost < crdEstimateMax / 100n) return
    this.#largest = [...this.#largest, { path, cost }]
      .sort((a, b) => (a.cost === b.cost ? 0 : a.cost > b.cost ? -1 : 1))
      .slice(0, 4)
  }

  /** The errors, when the sum exceeds the limit; `path` is that of the schema. */
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

/** The error about an expression whose estimate exceeds the limit. */
function checkEstimate(what: string, cost: bigint, path: FieldPath): FieldError[] {
  return cost > ruleEstimateMax ? [fieldError.forbidden(path, excess(what, cost, ruleEstimateMax))] : []
}

function excess(what: string, cost: bigint, costMax: bigint): string {
  const factor = Number(cost) / Number(costMax)
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${fixed(factor, 6)}x` : `${fixed(factor, 1)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/** A fixed number of decimals; a tie is rounded to even, as Go does. */
function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5
  return isTie && Math.floor(scaled) % 2 === 0
    ? (Math.floor(scaled) / 10 ** digits).toFixed(digits)
    : value.toFixed(digits)
}
