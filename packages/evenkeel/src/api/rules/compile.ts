/**
 * Rules of one place of a schema, made ready to run.
 *
 * `self` is what stands at the place, `oldSelf` what stood there. The type of a place comes from the types of what is
 * above it, which are made once per schema; how to read the data comes from the place itself.
 */
import type { Environment } from '../expressions/check/declarations.ts'
import { withObjectMeta } from '../expressions/check/object-meta.ts'
import { schemaDeclType } from '../expressions/check/schema-type.ts'
import type { DeclType } from '../expressions/check/schema-type.ts'
import { listOf, mapOf, objectType, optionalOf } from '../expressions/check/type.ts'
import type { Type } from '../expressions/check/type.ts'
import { CompiledExpression, compileExpression } from '../expressions/expression.ts'
import type { CompileFailure } from '../expressions/expression.ts'
import { baseEnvironment } from '../expressions/library/base.ts'
import { jsonAdapter } from '../expressions/value/json-adapter.ts'
import type { Adapt } from '../expressions/value/list.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { followReference } from '../structural/schema/field-reference.ts'
import type { JsonSchemaProps } from '../structural/schema/properties.ts'
import { readRules } from './rule.ts'
import type { Rule } from './rule.ts'

/** A place of a schema that has rules. */
interface RuleLocation {
  readonly node: SchemaNode
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
  return readRules(place.node).map((rule) => compiler.compile(rule))
}

/** What expressions see of a whole object, or of an object inside one. */
export function declTypeAt(node: SchemaNode, isResource: boolean): DeclType | undefined {
  return schemaDeclType({ root: node, definitions: () => undefined }, { isResource })
}

/** Reads what stands at a place. */
export function adapterOf({ node, isResource }: Pick<RuleLocation, 'node' | 'isResource'>): Adapt {
  return jsonAdapter(isResource ? withObjectMeta(node) : node, (same) => same)
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
    const fieldPath = typeof message === 'string' ? '' : fieldOf(rule, this.#place.node)
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
