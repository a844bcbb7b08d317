/**
 * The type checker: determines the type of every node and the overloads of every call, or reports issues in the words of cel-go.
 *
 * It continues after an issue: an invalid node gets the type `error`, which is assignable to every type, so one pass reports all
 * independent issues.
 *
 * Example. `size(self.names) > 0 && self.count` with `names: list(string)` and `count: int`: `size(list)` gives `int`, `int > int`
 * gives `bool`, and the operand of `&&` is reported: expected type 'bool' but found 'int'.
 */
import {
  literalType,
  qualifiedName,
  type CallNode,
  type ComprehensionNode,
  type ListNode,
  type MapNode,
  type Node,
  type SelectNode,
  type StructNode,
} from './ast.ts'
import { typeParameters, wellKnownMessage, type Environment, type Overload } from './environment.ts'
import { fieldNamed } from './escape.ts'
import type { Issue } from './issues.ts'
import {
  assign,
  boolType,
  dynType,
  errorType,
  formatType,
  insideOptional,
  intType,
  isDyn,
  listOf,
  mapOf,
  mostGeneral,
  optionalOf,
  parameterType,
  sameType,
  substitute,
  type Substitutions,
  type Type,
} from './types.ts'

/** The result of the checker, keyed by node. */
export interface Checked {
  readonly type: Type
  readonly types: ReadonlyMap<Node, Type>
  /** The possible overloads of a call; more than one when arguments are dynamic. */
  readonly overloads: ReadonlyMap<Node, readonly Overload[]>
  /** Calls and selections that are qualified names, such as `sets.contains`. */
  readonly names: ReadonlyMap<Node, string>
  /** Free variables. */
  readonly variables: ReadonlySet<string>
}

export function checkExpression(node: Node, environment: Environment): Checked | { readonly issues: readonly Issue[] } {
  return new Checker(environment).run(node)
}

class Checker {
  readonly #environment: Environment
  readonly #types = new Map<Node, Type>()
  readonly #overloads = new Map<Node, readonly Overload[]>()
  readonly #names = new Map<Node, string>()
  readonly #variables = new Set<string>()
  readonly #issues: Issue[] = []
  readonly #known: Substitutions = new Map()
  #scope = new Scope()
  #freshCount = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

  run(root: Node): Checked | { issues: readonly Issue[] } {
    this.#check(root)
    if (this.#issues.length > 0) return { issues: this.#issues }
    const types = new Map<Node, Type>()
    for (const [node, type] of this.#types) types.set(node, substitute(this.#known, type, { openToDyn: true }))
    return { type: types.get(root)!, types, overloads: this.#overloads, names: this.#names, variables: this.#variables }
  }

  #check(node: Node): Type {
    const type = this.#typeOf(node)
    this.#types.set(node, type)
    return type
  }

  #typeOf(node: Node): Type {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value)
      case 'identifier':
        return this.#lookUp(node, node.name) ?? this.#undeclared(node, node.name)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'struct':
        return this.#message(node)
      case 'comprehension':
        return this.#comprehension(node)
    }
  }

  /** The type of a name, absolute (`.x`) or local. */
  #lookUp(node: Node, written: string): Type | undefined {
    const name = written.startsWith('.') ? written.slice(1) : written
    const local = name === written ? this.#scope.find(name) : undefined
    if (local) return local
    const variable = this.#environment.variable(name)
    if (!variable) return undefined
    this.#names.set(node, name)
    this.#variables.add(name)
    return variable.type
  }

  #select(node: SelectNode): Type {
    const name = node.testOnly ? undefined : qualifiedName(node)
    // A local variable hides qualified names that start with it.
    const qualified =
      name === undefined || this.#scope.find(name.split('.', 1)[0]!) ? undefined : this.#lookUp(node, name)
    if (qualified) return qualified
    const type = this.#field(node, node.operand, node.field)
    return node.testOnly ? boolType : type
  }

  #field(node: Node, operand: Node, field: string): Type {
    const target = substitute(this.#known, this.#check(operand))
    const inside = insideOptional(target)
    const type = this.#fieldOf(node, inside ?? target, field)
    return inside ? optionalOf(type) : type
  }

  #fieldOf(node: Node, target: Type, field: string): Type {
    switch (target.kind) {
      case 'map':
        return substitute(this.#known, target.parameters[1]!)
      case 'object':
        return fieldNamed(target.fields, field) ?? this.#report(node, `undefined field '${field}'`)
      case 'parameter':
        this.#assignable(dynType, target)
        return dynType
      case 'dyn':
      case 'error':
        return dynType
      default:
        this.#report(node, `type '${formatType(target)}' does not support field selection`)
        return dynType
    }
  }

  #call(node: CallNode): Type {
    if (node.name === '_?._') return this.#optionalSelect(node)
    for (const argument of node.arguments) this.#check(argument)
    if (!node.target) {
      const name = node.name.replace(/^\./, '')
      const overloads = this.#environment.overloads(name)
      if (!overloads) return this.#undeclared(node, node.name)
      this.#names.set(node, name)
      return this.#resolve(node, { name, overloads, operands: node.arguments, isMember: false })
    }
    const prefix = qualifiedName(node.target)
    const qualified = prefix === undefined ? undefined : this.#environment.overloads(`${prefix}.${node.name}`)
    if (qualified) {
      const name = `${prefix}.${node.name}`
      this.#names.set(node, name)
      return this.#resolve(node, { name, overloads: qualified, operands: node.arguments, isMember: false })
    }
    this.#check(node.target)
    const overloads = this.#environment.overloads(node.name)
    if (!overloads) return this.#undeclared(node, node.name)
    return this.#resolve(node, {
      name: node.name,
      overloads,
      operands: [node.target, ...node.arguments],
      isMember: true,
    })
  }

  #optionalSelect(node: CallNode): Type {
    const [operand, field] = node.arguments
    const name = field?.kind === 'literal' && typeof field.value === 'string' ? field.value : ''
    this.#check(field!)
    const type = this.#field(node, operand!, name)
    this.#overloads.set(node, this.#environment.overloads('_?._') ?? [])
    return insideOptional(type) ? type : optionalOf(type)
  }

  #resolve(
    node: CallNode,
    {
      name,
      overloads,
      operands,
      isMember,
    }: {
      name: string
      overloads: readonly Overload[]
      operands: readonly Node[]
      isMember: boolean
    },
  ): Type {
    const given = operands.map((operand) => this.#types.get(operand)!)
    if (name === '_&&_' || name === '_||_') return this.#logical(node, overloads, given)
    const matching: Overload[] = []
    let result: Type | undefined
    for (const overload of overloads) {
      if (overload.isMember !== isMember || overload.parameters.length !== given.length) continue
      const { parameters, result: declared } = this.#instantiate(overload)
      if (!assign(this.#known, given, parameters)) continue
      matching.push(overload)
      const type = substitute(this.#known, declared)
      result = !result || isDyn(result) || sameType(type, result) ? (result ?? type) : dynType
    }
    if (!result) return this.#noOverload(node, { name, given, isMember })
    this.#overloads.set(node, matching)
    return result
  }

  #logical(node: CallNode, overloads: readonly Overload[], given: readonly Type[]): Type {
    this.#overloads.set(node, overloads)
    let result = boolType
    for (const [index, type] of given.entries()) {
      if (this.#assignable(type, boolType)) continue
      result = this.#report(node.arguments[index]!, `expected type 'bool' but found '${formatType(type)}'`)
    }
    return result
  }

  #noOverload(
    node: Node,
    { name, given, isMember }: { name: string; given: readonly Type[]; isMember: boolean },
  ): Type {
    const shown = given.map((type) => formatType(substitute(this.#known, type, { openToDyn: true })))
    const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
    return this.#report(node, `found no matching overload for '${name}' applied to '${signature}'`)
  }

  /** An overload with fresh type parameters, so that two calls do not share them. */
  #instantiate(overload: Overload): { parameters: readonly Type[]; result: Type } {
    const { parameters, result } = overload
    const names = typeParameters(overload)
    if (names.length === 0) return overload
    const fresh = new Map(names.map((name) => [name, this.#fresh()]))
    return { parameters: parameters.map((type) => substitute(fresh, type)), result: substitute(fresh, result) }
  }

  #list({ elements, optional }: ListNode): Type {
    let joined: Type | undefined
    for (const [index, element] of elements.entries()) {
      const type = this.#check(element)
      joined = this.#join(joined, optional.has(index) ? this.#unwrap(element, type) : type)
    }
    return listOf(joined ?? this.#fresh())
  }

  #map({ entries }: MapNode): Type {
    let [keys, values]: (Type | undefined)[] = []
    for (const { key, value, optional } of entries) {
      keys = this.#join(keys, this.#check(key))
      const type = this.#check(value)
      values = this.#join(values, optional ? this.#unwrap(value, type) : type)
    }
    return mapOf(keys ?? this.#fresh(), values ?? this.#fresh())
  }

  #message(node: StructNode): Type {
    const message = wellKnownMessage(node.typeName) ?? this.#environment.message(node.typeName.replace(/^\./, ''))
    if (!message) {
      const isType = this.#environment.variable(node.typeName)?.type.kind === 'type'
      return isType
        ? this.#report(node, `'${node.typeName}' is not a message type`)
        : this.#undeclared(node, node.typeName)
    }
    for (const field of node.fields) {
      const type = this.#check(field.value)
      const wanted = message.field(field.name)
      if (!wanted) this.#report(field, `undefined field '${field.name}'`)
      const given = field.optional ? this.#unwrap(field.value, type) : type
      if (wanted && !this.#assignable(wanted, given)) {
        this.#report(
          field,
          `expected type of field '${field.name}' is '${formatType(wanted)}' but provided type is '${formatType(substitute(this.#known, given))}'`,
        )
      }
    }
    return message.type
  }

  #unwrap(node: Node, type: Type): Type {
    const inside = insideOptional(type)
    if (!inside && !isDyn(type))
      this.#report(node, `expected type '${formatType(optionalOf(type))}' but found '${formatType(type)}'`)
    return inside ?? type
  }

  #join(previous: Type | undefined, current: Type): Type {
    if (!previous) return current
    if (current.kind === 'null' && this.#assignable(previous, current)) return previous
    return this.#assignable(previous, current) ? mostGeneral(previous, current) : dynType
  }

  #comprehension(node: ComprehensionNode): Type {
    this.#check(node.range)
    const accumulated = this.#check(node.initial)
    const range = substitute(this.#known, this.#types.get(node.range)!)
    const outer = this.#scope
    const accumulator = outer.with({ [node.accumulator]: accumulated })
    this.#scope = accumulator.with(this.#loopVariables(node, range))
    this.#check(node.condition)
    this.#assertType(node.condition, boolType)
    this.#check(node.step)
    this.#assertType(node.step, accumulated)
    this.#scope = accumulator
    const result = this.#check(node.result)
    this.#scope = outer
    return substitute(this.#known, result)
  }

  #loopVariables({ variable, secondVariable, range: rangeNode }: ComprehensionNode, range: Type): Record<string, Type> {
    const types = this.#iterated(rangeNode, range, secondVariable !== undefined)
    return secondVariable === undefined
      ? { [variable]: types[0] }
      : { [variable]: types[0], [secondVariable]: types[1] }
  }

  #iterated(node: Node, range: Type, two: boolean): readonly [Type, Type] {
    switch (range.kind) {
      case 'list':
        return two ? [intType, range.parameters[0]!] : [range.parameters[0]!, dynType]
      case 'map':
        return [range.parameters[0]!, range.parameters[1]!]
      case 'dyn':
      case 'error':
      case 'parameter':
        this.#assignable(dynType, range)
        return [dynType, dynType]
      default:
        this.#report(
          node,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #assertType(node: Node, wanted: Type): void {
    const given = this.#types.get(node)!
    if (!this.#assignable(wanted, given))
      this.#report(node, `expected type '${formatType(wanted)}' but found '${formatType(given)}'`)
  }

  #assignable(wanted: Type, given: Type): boolean {
    return assign(this.#known, [wanted], [given])
  }

  #fresh(): Type {
    return parameterType(`_var${this.#freshCount++}`)
  }

  #undeclared(node: Node, name: string): Type {
    return this.#report(node, `undeclared reference to '${name}' (in container '')`)
  }

  #report({ offset }: { readonly offset: number }, message: string): Type {
    this.#issues.push({ offset, message })
    return errorType
  }
}

/** Loop variables, innermost first. */
class Scope {
  readonly #names: ReadonlyMap<string, Type>
  readonly #outer: Scope | undefined

  constructor(names: Readonly<Record<string, Type>> = {}, outer?: Scope) {
    this.#names = new Map(Object.entries(names))
    this.#outer = outer
  }

  find(name: string): Type | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name)
  }

  with(names: Readonly<Record<string, Type>>): Scope {
    return new Scope(names, this)
  }
}
