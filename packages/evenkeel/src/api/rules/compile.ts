/**
 * Rules of one place of a schema, made ready to run.
 *
 * `self` is what stands at the place, `oldSelf` what stood there. The type of a place comes from the types of what is
 * above it, which are made once per schema; how to read the data comes from the place itself.
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

/** A place of a schema that has rules. */
interface RuleLocation {
  readonly schema: CompiledSchema
  /** What expressions see there. */
  readonly type: DeclType
  /** The root of an object, or of an object inside one. */
  readonly isResource: boolean
}

export interface CompiledRule {
  readonly rule: Rule
  /** Absent when the text is wrong, or empty. */
  readonly expression?: CompiledExpression
  /** What is wrong with the text. */
  readonly error?: string
  /** Whether it compares with what was there before. */
  readonly usesOld: boolean
  readonly messageExpression?: CompiledExpression
  readonly messageError?: string
  /** The field that errors are about, from the place of the rule; empty for the place itself. */
  readonly fieldPath: string
}

/** Compiles all rules of a place, each with what is wrong with it. */
export function compileRules(place: RuleLocation): readonly CompiledRule[] {
  const compiler = new RuleCompiler(place)
  return readRules(place.schema).map((rule) => compiler.compile(rule))
}

/** What expressions see of a whole object, or of an object inside one. */
export function declTypeAt(schema: CompiledSchema, isResource: boolean): DeclType | undefined {
  return schemaDeclType(schema, { isResource })
}

/** Reads what stands at a place. */
function adapterOf({ schema, isResource }: Pick<RuleLocation, 'schema' | 'isResource'>): Adapt {
  return jsonAdapter(isResource ? withObjectMeta(schema) : schema)
}

/** What a message may look like when it is shown: `selfType` and its parts instead of names that nobody wrote. */
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
    // Upstream leaves off at a wrong message and never comes to the field.
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
    // What an optional holds is read without its schema, so it may be of another type.
    const found = compileExpression(text, this.#environment(type, situation), { trustsTypes: !optionalOldSelf })
    if (found instanceof CompiledExpression) return found
    return compileExpression(text, this.#environment(named(type, shownName), situation)) as CompileFailure
  }

  /** An optional is bound as one, except for messages: upstream gives those the bare value, whatever their type says. */
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

/** A type under another name, and its parts with it: only messages tell the difference. */
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

/*
 * A schema reduced to its rules: the places that have some, at themselves or below.
 *
 * Made once per schema. Expressions are compiled when a value first comes to their place, so a definition with many
 * rules costs nothing until somebody writes what they are about.
 */

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

  /** The rules of this place; a sentence when what stands here has no type, so that there can be none. */
  get rules(): readonly CompiledRule[] | string {
    return (this.#rules ??= this.#type
      ? compileRules({ schema: this.schema, type: this.#type, isResource: this.#isResource })
      : 'failed to convert to declType for CEL validation rules')
  }

  /** Whether any rule here compares with what was there before; only then is that known to messages. */
  get usesOld(): boolean {
    return (this.#usesOld ??= typeof this.rules !== 'string' && this.rules.some(({ usesOld }) => usesOld))
  }

  /** Reads what stands here. */
  get adapt(): Adapt {
    return (this.#adapt ??= adapterOf({ schema: this.schema, isResource: this.#isResource }))
  }

  /** The type as errors name it; empty for int-or-string. */
  get typeName(): string {
    return this.schema.type ?? ''
  }

  /** Whether what stands here is too large to be repeated in an error. */
  get isStructure(): boolean {
    return this.schema.type === 'object' || this.schema.type === 'array'
  }
}

/** The rules of a schema; `undefined` when it has none that anything could be held to. */
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

/** Fields whose type nobody can tell are left out, rules and all; a name that expressions cannot write is no obstacle. */
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
