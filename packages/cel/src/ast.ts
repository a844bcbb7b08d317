/**
 * The syntax tree after macro expansion: eight kinds of nodes.
 *
 * Operators are calls with names such as `_+_`. Checker and cost estimate keep their results in maps keyed by node, so a macro
 * that uses a node twice must {@link copyNode} it.
 */
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  intType,
  nullType,
  stringType,
  uintType,
  type Type,
} from './types.ts'
import { Bytes, Double, Uint, type Value } from './values.ts'

interface Positioned {
  /** The position in messages, in UTF-16 units from the start of the text. */
  readonly offset: number
}

interface LiteralNode extends Positioned {
  readonly kind: 'literal'
  readonly value: Value
}

export interface IdentifierNode extends Positioned {
  readonly kind: 'identifier'
  readonly name: string
}

export interface SelectNode extends Positioned {
  readonly kind: 'select'
  readonly operand: Node
  readonly field: string
  /** `has(operand.field)`: tests the presence of the field. */
  readonly testOnly: boolean
}

export interface CallNode extends Positioned {
  readonly kind: 'call'
  readonly name: string
  readonly target?: Node
  readonly arguments: readonly Node[]
}

export interface ListNode extends Positioned {
  readonly kind: 'list'
  readonly elements: readonly Node[]
  /** Positions written `?x`. */
  readonly optional: ReadonlySet<number>
}

export interface MapEntry extends Positioned {
  readonly key: Node
  readonly value: Node
  readonly optional: boolean
}

export interface MapNode extends Positioned {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface StructField extends Positioned {
  readonly name: string
  readonly value: Node
  readonly optional: boolean
}

export interface StructNode extends Positioned {
  readonly kind: 'struct'
  readonly typeName: string
  readonly fields: readonly StructField[]
}

/**
 * The loop: `for variable in range while condition: accumulator = step`, then `result`.
 *
 * With a second variable the first is an index or key and the second the value.
 */
export interface ComprehensionNode extends Positioned {
  readonly kind: 'comprehension'
  readonly range: Node
  readonly variable: string
  readonly secondVariable?: string
  readonly accumulator: string
  readonly initial: Node
  readonly condition: Node
  readonly step: Node
  readonly result: Node
}

export type Node =
  | LiteralNode
  | IdentifierNode
  | SelectNode
  | CallNode
  | ListNode
  | MapNode
  | StructNode
  | ComprehensionNode

/** The accumulator variable of macros; expressions cannot shadow it. */
export const accumulatorName = '__result__'

export function literal(value: Value, offset: number): LiteralNode {
  return { kind: 'literal', value, offset }
}

export function identifier(name: string, offset: number): IdentifierNode {
  return { kind: 'identifier', name, offset }
}

export function call(name: string, offset: number, ...parameters: Node[]): CallNode {
  return { kind: 'call', name, arguments: parameters, offset }
}

export function memberCall(
  name: string,
  offset: number,
  { target, parameters = [] }: { target: Node; parameters?: readonly Node[] },
): CallNode {
  return { kind: 'call', name, target, arguments: parameters, offset }
}

export function list(elements: readonly Node[], offset: number): ListNode {
  return { kind: 'list', elements, optional: noOptionals, offset }
}

/** A deep copy of a tree. */
export function copyNode(node: Node): Node {
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return { ...node }
    case 'select':
      return { ...node, operand: copyNode(node.operand) }
    case 'call':
      return { ...node, arguments: node.arguments.map(copyNode), ...(node.target && { target: copyNode(node.target) }) }
    case 'list':
      return { ...node, elements: node.elements.map(copyNode) }
    case 'map':
      return {
        ...node,
        entries: node.entries.map((entry) => ({ ...entry, key: copyNode(entry.key), value: copyNode(entry.value) })),
      }
    case 'struct':
      return { ...node, fields: node.fields.map((field) => ({ ...field, value: copyNode(field.value) })) }
    case 'comprehension':
      return {
        ...node,
        range: copyNode(node.range),
        initial: copyNode(node.initial),
        condition: copyNode(node.condition),
        step: copyNode(node.step),
        result: copyNode(node.result),
      }
  }
}

/** Calls `visit` for a node and all its descendants, parents first. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const child of childrenOf(node)) walk(child, visit)
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [node.operand]
    case 'call':
      return node.target ? [node.target, ...node.arguments] : node.arguments
    case 'list':
      return node.elements
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return node.fields.map(({ value }) => value)
    case 'comprehension':
      return [node.range, node.initial, node.condition, node.step, node.result]
  }
}

const noOptionals: ReadonlySet<number> = new Set()

/** The type of a literal. */
export function literalType(value: Value): Type {
  switch (typeof value) {
    case 'boolean':
      return boolType
    case 'number':
    case 'bigint':
      return intType
    case 'string':
      return stringType
    default:
  }
  if (value === null) return nullType
  if (value instanceof Double) return doubleType
  if (value instanceof Uint) return uintType
  return value instanceof Bytes ? bytesType : dynType
}

/** The name `a.b.c` of a chain of selections; undefined for other nodes. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.testOnly) return undefined
  const prefix = qualifiedName(node.operand)
  return prefix === undefined ? undefined : `${prefix}.${node.field}`
}
