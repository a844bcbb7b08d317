/**
 * The cost estimate: the minimum and maximum cost of an expression, from its tree, its types and the limits of its schema,
 * before it runs.
 *
 * kube-apiserver refuses CustomResourceDefinitions by these numbers, so they equal those of cel-go exactly, oddities included:
 * where cel-go loses the origin of a variable and takes the size of the root instead, so does this.
 *
 * Example. `self.ports.all(p, p.port > 0)` with `maxItems: 100` for `ports`:
 *
 *     range      self.ports                          2
 *     initial    true                                0
 *     per item   condition @not_strictly_false       2       the accumulator and the call
 *                step result && p.port > 0           1 to 4  the accumulator; then p, p.port and the comparison
 *     result     the accumulator                     1
 *     total      2 + 0..100 * (3 to 6) + 1           3 to 603
 *
 * Without `maxItems` the range has no limit; the size then follows from the limits of a request.
 */
import {
  accumulatorName,
  type CallNode,
  type ComprehensionNode,
  type ListNode,
  type MapNode,
  type Node,
  type SelectNode,
} from './ast.ts'
import { estimateCall } from './call-estimate.ts'
import type { Checked } from './checker.ts'
import type { Adapt } from './collections.ts'
import {
  exactly,
  listCreationCost,
  mapCreationCost,
  messageCreationCost,
  nothing,
  product,
  sum,
  union,
  unknownRange,
  type CountRange,
} from './cost.ts'
import { NodePath } from './node-path.ts'
import { characterCount } from './primitives/text.ts'
import { insideOptional, type Type } from './types.ts'
import { Bytes } from './values.ts'

/** Sizes of the elements of a list or map. */
export interface EntrySize {
  readonly container: 'list' | 'map'
  readonly key: CountRange
  readonly value: CountRange
}

/** An operand of a call: its type, its path in the schema and its size, as far as they are known. */
export interface Operand {
  readonly node: Node | undefined
  readonly type: Type
  readonly path: NodePath | undefined
  readonly size: CountRange | undefined
}

/** The estimate for a checked expression; `root` is the declared type of `self`. */
export function estimateCost(node: Node, checked: Checked, root?: DeclType): CountRange {
  return new CostEstimator(checked, root).cost(node)
}

interface LocalVariable {
  readonly path: NodePath | undefined
  readonly size: CountRange | undefined
  readonly entrySize: EntrySize | undefined
}

export class CostEstimator {
  readonly #checked: Checked
  readonly #root: DeclType | undefined
  readonly #paths = new Map<Node, NodePath>()
  readonly #sizes = new Map<Node, CountRange>()
  readonly #entrySizes = new Map<Node, EntrySize>()
  readonly #locals = new Map<string, LocalVariable[]>()

  constructor(checked: Checked, root: DeclType | undefined) {
    this.#checked = checked
    this.#root = root
  }

  cost(node: Node): CountRange {
    switch (node.kind) {
      case 'literal':
        return nothing
      case 'identifier':
        this.#setPath(node, this.#local(node.name) ? this.#local(node.name)?.path : NodePath.of(node.name))
        return exactly(1)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'struct':
        return sum(...node.fields.map(({ value }) => this.cost(value)), exactly(messageCreationCost))
      case 'comprehension':
        return isBinding(node) ? this.#binding(node) : this.#comprehension(node)
    }
  }

  /** The size of a node, as far as it is known. */
  size(node: Node): CountRange | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node)
    if (known) return known
    const declared = this.declaredSize(this.#path(node))
    if (declared) {
      this.#sizes.set(node, declared)
      return declared
    }
    const type = this.#checked.types.get(node)
    if (type && isScalar(type)) return exactly(1)
    return node.kind === 'identifier' ? this.#local(node.name)?.size : undefined
  }

  entrySize(node: Node): EntrySize | undefined {
    return this.#entrySizes.get(node) ?? (node.kind === 'identifier' ? this.#local(node.name)?.entrySize : undefined)
  }

  setEntrySize(node: Node, size: EntrySize | undefined): void {
    if (size) this.#entrySizes.set(node, size)
  }

  /** The size that the schema allows at a path. */
  declaredSize(path: NodePath | undefined): CountRange | undefined {
    if (!path) return undefined
    let declared = this.#root
    for (const step of path.steps().slice(1)) {
      if (step === '@items' || step === '@values') declared = declared?.element
      else if (step === '@keys') declared = declared?.key
      else declared = declared?.fields?.get(step)
    }
    return declared && { min: 0n, max: BigInt(declared.maxElements) }
  }

  #select(node: SelectNode): CountRange {
    if (this.#checked.names.has(node)) return this.#qualified(node)
    const cost = this.cost(node.operand)
    if (node.testOnly) return cost
    this.#setPath(node, NodePath.append(this.#path(node.operand), node.field))
    const { kind } = this.#checked.types.get(node.operand)!
    return kind === 'map' || kind === 'object' || kind === 'parameter' ? sum(cost, exactly(1)) : cost
  }

  #qualified(node: SelectNode): CountRange {
    this.#setPath(node, NodePath.of(this.#checked.names.get(node)!))
    return exactly(1)
  }

  #call(node: CallNode): CountRange {
    const name = this.#checked.names.get(node) ?? node.name
    if (name === 'dyn') return this.#dyn(node)
    const costs: CountRange[] = []
    const operands: Operand[] = []
    for (const argument of node.arguments) {
      costs.push(this.cost(argument))
      operands.push(this.#operand(argument))
    }
    const isMember = node.target !== undefined && !this.#checked.names.has(node)
    const targetCost = isMember ? this.cost(node.target) : nothing
    const target = isMember ? this.#operand(node.target) : undefined
    return sum(targetCost, this.#overloads(node, { name, target, operands, costs }))
  }

  /** One range that covers all possible overloads. */
  #overloads(
    node: CallNode,
    call: { name: string; target: Operand | undefined; operands: readonly Operand[]; costs: readonly CountRange[] },
  ): CountRange {
    let cost: CountRange | undefined
    let size: CountRange | undefined
    for (const { id } of this.#checked.overloads.get(node) ?? []) {
      const estimated = estimateCall(this, { ...call, node, overload: id })
      cost = cost ? union(cost, estimated.cost) : estimated.cost
      if (estimated.size) size = size ? union(size, estimated.size) : estimated.size
      if (id === 'index_list' || id === 'index_map')
        size = this.#index(node, id === 'index_list' ? '@items' : '@values')
      size ??= this.size(node)
    }
    if (size) this.#sizes.set(node, size)
    return cost ?? nothing
  }

  #index(node: CallNode, step: string): CountRange | undefined {
    const container = node.arguments[0]!
    this.#setPath(node, NodePath.append(this.#path(container), step))
    return this.entrySize(container)?.value
  }

  #dyn(node: CallNode): CountRange {
    const [argument] = node.arguments
    const cost = this.cost(argument!)
    this.#copySizes(node, argument!)
    return sum(cost, exactly(1))
  }

  #list(node: ListNode): CountRange {
    let cost = nothing
    let value: CountRange | undefined
    for (const element of node.elements) {
      cost = sum(cost, this.cost(element))
      const size = this.size(element) ?? unknownRange
      value = value ? union(value, size) : size
    }
    this.setEntrySize(node, { container: 'list', key: exactly(1), value: value ?? nothing })
    return sum(cost, exactly(listCreationCost))
  }

  #map(node: MapNode): CountRange {
    let cost = nothing
    let [keys, values]: (CountRange | undefined)[] = []
    for (const { key, value } of node.entries) {
      cost = sum(cost, this.cost(key), this.cost(value))
      const [keySize, valueSize] = [this.size(key) ?? unknownRange, this.size(value) ?? unknownRange]
      keys = keys ? union(keys, keySize) : keySize
      values = values ? union(values, valueSize) : valueSize
    }
    this.setEntrySize(node, { container: 'map', key: keys ?? nothing, value: values ?? nothing })
    return sum(cost, exactly(mapCreationCost))
  }

  #comprehension(node: ComprehensionNode): CountRange {
    const start = sum(this.cost(node.range), this.cost(node.initial))
    this.#push(node.accumulator, {
      path: this.#path(node.initial),
      size: this.size(node.initial),
      entrySize: this.entrySize(node.initial),
    })
    this.#pushVariables(node)
    const turn = sum(this.cost(node.condition), this.cost(node.step))
    this.#pop(node.variable)
    if (node.secondVariable !== undefined) this.#pop(node.secondVariable)
    const result = this.cost(node.result)
    this.#pop(node.accumulator)
    const turns = this.size(node.range) ?? unknownRange
    const { kind } = node.initial
    if (kind === 'literal') this.#setSize(node, this.size(node.initial))
    else if (kind === 'list' || kind === 'map') {
      this.#setSize(node, turns)
      this.setEntrySize(node, this.entrySize(node.step))
    }
    return sum(start, result, product(turns, turn))
  }

  #pushVariables({ variable, secondVariable, range }: ComprehensionNode): void {
    const entry = this.entrySize(range)
    const container = entry?.container ?? this.#checked.types.get(range)!.kind
    const path = this.#path(range)
    const isList = container === 'list'
    const push = (name: string, step: string, size: CountRange | undefined) =>
      this.#push(name, { path: NodePath.append(path, step), size, entrySize: undefined })
    if (secondVariable !== undefined) {
      push(variable, isList ? '@indices' : '@keys', entry?.key)
      push(secondVariable, isList ? '@items' : '@values', entry?.value)
    } else push(variable, isList ? '@items' : '@keys', isList ? entry?.value : entry?.key)
  }

  #binding(node: ComprehensionNode): CountRange {
    const start = sum(this.cost(node.range), this.cost(node.initial))
    this.#push(node.accumulator, {
      path: this.#path(node.initial),
      size: this.size(node.initial),
      entrySize: this.entrySize(node.initial),
    })
    const result = this.cost(node.result)
    this.#pop(node.accumulator)
    this.#copySizes(node, node.result)
    return sum(start, result)
  }

  #operand(node: Node): Operand {
    const path = this.#path(node)
    return {
      node,
      type: this.#checked.types.get(node)!,
      size: this.size(node),
      path: path?.first === accumulatorName ? undefined : path,
    }
  }

  #copySizes(to: Node, from: Node): void {
    this.#setSize(to, this.size(from))
    this.setEntrySize(to, this.entrySize(from))
  }

  #setSize(node: Node, size: CountRange | undefined): void {
    if (size) this.#sizes.set(node, size)
  }

  #path(node: Node): NodePath | undefined {
    const local = node.kind === 'identifier' ? this.#local(node.name) : undefined
    return local ? local.path : this.#paths.get(node)
  }

  #setPath(node: Node, path: NodePath | undefined): void {
    if (path) this.#paths.set(node, path)
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, local: LocalVariable): void {
    const stack = this.#locals.get(name)
    if (stack) stack.push(local)
    else this.#locals.set(name, [local])
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }
}

function isBinding({ range, condition, accumulator }: ComprehensionNode): boolean {
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accumulator !== accumulatorName
  )
}

function literalSize(node: Node): CountRange | undefined {
  if (node.kind === 'list') return exactly(node.elements.length)
  if (node.kind === 'map') return exactly(node.entries.length)
  if (node.kind !== 'literal') return undefined
  if (typeof node.value === 'string') return exactly(characterCount(node.value))
  return exactly(node.value instanceof Bytes ? node.value.value.length : 1)
}

function isScalar(type: Type): boolean {
  const inside = insideOptional(type)
  return inside ? isScalar(inside) : scalars.has(type.kind)
}

const scalars: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

/** A type with the limits of its schema. */
export interface DeclType {
  readonly type: Type
  readonly adapt: Adapt
  /** The maximum number of elements, entries or characters; 0 for types without a size. */
  readonly maxElements: number
  /** The minimum number of bytes in JSON. */
  readonly minSerializedSize: number
  readonly fields?: ReadonlyMap<string, DeclType>
  readonly key?: DeclType
  readonly element?: DeclType
}
