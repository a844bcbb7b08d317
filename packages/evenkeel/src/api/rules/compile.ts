/**
 * Compiles the CEL rules of a schema, and reduces the schema to the nodes with rules at or below them.
 *
 * `self` is the value at a schema node, `oldSelf` the old value there. The type of a node comes from the types above
 * it, which are derived once per schema; the adapter that reads the data comes from the node itself.
 *
 * The tree is built once per schema. An expression is compiled when the first value reaches its node, so a CRD with
 * many rules costs nothing until the first write of such an object.
 */
import {
  baseEnvironment,
  CompiledExpression,
  compileExpression,
  escapeName,
  listOf,
  mapOf,
  objectType,
  optionalOf,
  type Adapt,
  type CompileFailure,
  type DeclType,
  type Environment,
  type Type,
} from '@evenkeel/cel'
import { followReference, type JsonSchemaProps } from '../crd/json-schema-props.ts'
import { schemaDeclType } from '../schema/cel-types.ts'
import { jsonAdapter, withObjectMeta } from '../schema/cel-values.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { readRules, type Rule } from './rules.ts'

/** A schema node with rules. */
interface RuleLocation {
  readonly schema: CompiledSchema
  /** The type of the value in expressions. */
  readonly type: DeclType
  /** The root of an object, or of an embedded object. */
  readonly isResource: boolean
}

export interface CompiledRule {
  readonly rule: Rule
  /** Absent when the text is invalid or empty. */
  readonly expression?: CompiledExpression
  /** The error in the text. */
  readonly error?: string
  /** Whether it uses the old value. */
  readonly usesOld: boolean
  readonly messageExpression?: CompiledExpression
  readonly messageError?: string
  /** The field that errors name, relative to the node of the rule; empty for the node itself. */
  readonly fieldPath: string
}

/** Compiles all rules of a node, each with its error. */
export function compileRules(place: RuleLocation): readonly CompiledRule[] {
  const compiler = new RuleCompiler(place)
  return readRules(place.schema).map((rule) => compiler.compile(rule))
}

/** The type of an object, or of an embedded object, in expressions. */
export function declTypeAt(schema: CompiledSchema, isResource: boolean): DeclType | undefined {
  return schemaDeclType(schema, { isResource })
}

/** The adapter for the values of a node. */
function adapterOf({ schema, isResource }: Pick<RuleLocation, 'schema' | 'isResource'>): Adapt {
  return jsonAdapter(isResource ? withObjectMeta(schema) : schema)
}

/** Error messages show `selfType` and its parts instead of generated type names. */
const shownName = 'selfType'

class RuleCompiler {
  readonly #place: RuleLocation
  readonly #adapt: Adapt

  constructor(place: RuleLocation) {
    this.#place = place
    this.#adapt = adapterOf(place)
  }

  compile(rule: Rule): CompiledRule {
    if (rule.text.trim() === '') return { rule, usesOld: false, fieldPath: '' }
    const found = this.#compile(rule.text, rule)
    if (!(found instanceof CompiledExpression)) {
      const what = found.stage === 'compilation' ? 'compilation failed' : 'program instantiation failed'
      return { rule, error: `${what}: ${found.errors}`, usesOld: false, fieldPath: '' }
    }
    if (found.type.kind !== 'bool')
      return { rule, error: 'cel expression must evaluate to a bool', usesOld: false, fieldPath: '' }
    const usesOld = found.variables.has('oldSelf')
    const message = this.#compileMessage(rule)
    // Upstream stops at an invalid message and does not check the field.
    const fieldPath = typeof message === 'string' ? '' : fieldOf(rule, this.#place.schema.node)
    return {
      rule,
      expression: found,
      usesOld,
      fieldPath,
      ...(typeof message === 'string' ? { messageError: message } : message && { messageExpression: message }),
    }
  }

  #compileMessage(rule: Rule): CompiledExpression | string | undefined {
    if (rule.messageExpression === '') return undefined
    const found = this.#compile(rule.messageExpression, rule, { isMessage: true })
    if (found instanceof CompiledExpression)
      return found.type.kind === 'string' ? found : 'messageExpression must evaluate to a string'
    return `messageExpression ${found.stage === 'compilation' ? 'compilation' : 'instantiation'} failed: ${found.errors}`
  }

  #compile(
    text: string,
    { optionalOldSelf = false }: Rule,
    { isMessage = false } = {},
  ): CompiledExpression | CompileFailure {
    const { type } = this.#place.type
    const situation = { isOptional: optionalOldSelf, isMessage }
    // The content of an optional is read without its schema, so it may have another type.
    const found = compileExpression(text, this.#environment(type, situation), { trustsTypes: !optionalOldSelf })
    if (found instanceof CompiledExpression) return found
    return compileExpression(text, this.#environment(named(type, shownName), situation)) as CompileFailure
  }

  /** An optional is bound as one, except for messages: upstream gives those the plain value, whatever their type. */
  #environment(type: Type, { isOptional, isMessage }: { isOptional: boolean; isMessage: boolean }): Environment {
    const adapt = this.#adapt
    const bare = { type: isOptional ? optionalOf(type) : type, ...(isOptional && !isMessage ? {} : { adapt }) }
    return baseEnvironment.extend({ self: { type, adapt }, oldSelf: bare })
  }
}

function fieldOf({ fieldPath }: Rule, node: SchemaNode): string {
  const followed = followReference(fieldPath, node as JsonSchemaProps)
  return typeof followed === 'string' ? '' : followed.text
}

/** A type and its parts under another name: only error messages differ. */
function named(type: Type, name: string): Type {
  const [first = type, second = type] = type.parameters
  if (type.kind === 'list') return listOf(named(first, `${name}.@idx`))
  if (type.kind === 'map') return mapOf(first, named(second, `${name}.@elem`))
  if (type.kind !== 'object') return type
  return objectType(
    name,
    new Map([...(type.fields ?? [])].map(([field, inner]) => [field, named(inner, `${name}.${field}`)])),
  )
}

// The tree of nodes with rules.

export class RuleNode {
  readonly schema: CompiledSchema
  readonly items: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly additional: RuleNode | undefined
  readonly #type: DeclType | undefined
  readonly #isResource: boolean
  #rules: readonly CompiledRule[] | string | undefined
  #adapt: Adapt | undefined
  #usesOld: boolean | undefined

  constructor(schema: CompiledSchema, type: DeclType | undefined, { isResource }: { isResource: boolean }) {
    this.schema = schema
    this.#type = type
    this.#isResource = isResource
    this.items = schema.items && below(schema.items, type?.element)
    this.additional = schema.additional && below(schema.additional, type?.element)
    this.properties = fieldsOf(schema, type)
  }

  get hasOwnRules(): boolean {
    return this.schema.rules.length > 0
  }

  /** The rules of this node; a string is the reason why the value has no type and cannot have rules. */
  get rules(): readonly CompiledRule[] | string {
    return (this.#rules ??= this.#type
      ? compileRules({ schema: this.schema, type: this.#type, isResource: this.#isResource })
      : 'failed to convert to declType for CEL validation rules')
  }

  /** Whether any rule here uses the old value; only then do messages know it. */
  get usesOld(): boolean {
    return (this.#usesOld ??= typeof this.rules !== 'string' && this.rules.some(({ usesOld }) => usesOld))
  }

  /** The adapter for the values of this node. */
  get adapt(): Adapt {
    return (this.#adapt ??= adapterOf({ schema: this.schema, isResource: this.#isResource }))
  }

  /** The type as errors name it; empty for int-or-string. */
  get typeName(): string {
    return this.schema.type ?? ''
  }

  /** Whether the value is too large to repeat in an error. */
  get isStructure(): boolean {
    return this.schema.type === 'object' || this.schema.type === 'array'
  }
}

/** The rules of a schema; `undefined` when it has none that can be evaluated. */
export function ruleTree(schema: CompiledSchema, { isResource }: { isResource: boolean }): RuleNode | undefined {
  if (!schema.hasRules) return undefined
  return unlessEmpty(new RuleNode(schema, declTypeAt(schema, isResource), { isResource }))
}

function below(schema: CompiledSchema, type: DeclType | undefined): RuleNode | undefined {
  return schema.hasRules ? unlessEmpty(new RuleNode(schema, type, { isResource: schema.isEmbedded })) : undefined
}

function unlessEmpty(node: RuleNode): RuleNode | undefined {
  return node.hasOwnRules || node.items || node.additional || node.properties.size > 0 ? node : undefined
}

/** Fields without a known type are omitted together with their rules; a name that CEL cannot express is allowed. */
function fieldsOf({ properties }: CompiledSchema, type: DeclType | undefined): ReadonlyMap<string, RuleNode> {
  const fields = new Map<string, RuleNode>()
  for (const [name, schema] of properties ?? []) {
    if (!schema.hasRules) continue
    const escaped = escapeName(name)
    const fieldType = escaped === undefined ? declTypeAt(schema, schema.isEmbedded) : type?.fields?.get(escaped)
    const field = fieldType && below(schema, fieldType)
    if (field) fields.set(name, field)
  }
  return fields
}
