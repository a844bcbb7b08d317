/**
 * A schema reduced to its rules: the places that have some, at themselves or below.
 *
 * Made once per schema. Expressions are compiled when a value first comes to their place, so a definition with many
 * rules costs nothing until somebody writes what they are about.
 */
import { escapeName } from '../expressions/check/escape.ts'
import type { DeclType } from '../expressions/check/schema-type.ts'
import type { Adapt } from '../expressions/value/list.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { adapterOf, compileRules, declTypeAt } from './compile.ts'
import type { CompiledRule } from './compile.ts'
import { hasRules } from './rule.ts'

export class RuleNode {
  readonly node: SchemaNode
  readonly items: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly additional: RuleNode | undefined
  readonly hasOwnRules: boolean
  readonly #type: DeclType | undefined
  readonly #isResource: boolean
  #rules: readonly CompiledRule[] | string | undefined
  #adapt: Adapt | undefined
  #usesOld: boolean | undefined

  constructor(node: SchemaNode, type: DeclType | undefined, { isResource }: { isResource: boolean }) {
    this.node = node
    this.#type = type
    this.#isResource = isResource
    this.hasOwnRules = (node['x-kubernetes-validations']?.length ?? 0) > 0
    this.items = node.items && below(node.items, type?.element)
    this.additional =
      typeof node.additionalProperties === 'object' ? below(node.additionalProperties, type?.element) : undefined
    this.properties = fieldsOf(node, type)
  }

  /** The rules of this place; a sentence when what stands here has no type, so that there can be none. */
  get rules(): readonly CompiledRule[] | string {
    return (this.#rules ??= this.#type
      ? compileRules({ node: this.node, type: this.#type, isResource: this.#isResource })
      : 'failed to convert to declType for CEL validation rules')
  }

  /** Whether any rule here compares with what was there before; only then is that known to messages. */
  get usesOld(): boolean {
    return (this.#usesOld ??= typeof this.rules !== 'string' && this.rules.some(({ usesOld }) => usesOld))
  }

  /** Reads what stands here. */
  get adapt(): Adapt {
    return (this.#adapt ??= adapterOf({ node: this.node, isResource: this.#isResource }))
  }

  /** The type as errors name it; empty for int-or-string. */
  get typeName(): string {
    return this.node.type ?? ''
  }

  /** Whether what stands here is too large to be repeated in an error. */
  get isStructure(): boolean {
    return this.node.type === 'object' || this.node.type === 'array'
  }
}

/** The rules of a schema; `undefined` when it has none that anything could be held to. */
export function ruleTree(node: SchemaNode, { isResource }: { isResource: boolean }): RuleNode | undefined {
  return hasRules(node) ? unlessEmpty(new RuleNode(node, declTypeAt(node, isResource), { isResource })) : undefined
}

function below(node: SchemaNode, type: DeclType | undefined): RuleNode | undefined {
  return hasRules(node) ? unlessEmpty(new RuleNode(node, type, { isResource: isEmbedded(node) })) : undefined
}

function unlessEmpty(node: RuleNode): RuleNode | undefined {
  return node.hasOwnRules || node.items || node.additional || node.properties.size > 0 ? node : undefined
}

/** Fields whose type nobody can tell are left out, rules and all; a name that expressions cannot write is no obstacle. */
function fieldsOf({ properties = {} }: SchemaNode, type: DeclType | undefined): ReadonlyMap<string, RuleNode> {
  const fields = new Map<string, RuleNode>()
  for (const [name, node] of Object.entries(properties)) {
    if (!hasRules(node)) continue
    const escaped = escapeName(name)
    const fieldType = escaped === undefined ? declTypeAt(node, isEmbedded(node)) : type?.fields?.get(escaped)
    const field = fieldType && below(node, fieldType)
    if (field) fields.set(name, field)
  }
  return fields
}

function isEmbedded(node: SchemaNode): boolean {
  return node['x-kubernetes-embedded-resource'] === true
}
