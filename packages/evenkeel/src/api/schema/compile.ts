/**
 * The structural schema of a custom resource, prepared for walking objects with it.
 *
 * Structural schemas have no references, so a plan is a finite tree that is made once per schema node and kept as long
 * as the node lives. It knows which of its subtrees have nothing to do for a walk (no defaults, no lists to check),
 * which is what makes the walks cheap. Conditions inside `allOf`, `anyOf`, `oneOf` and `not` are plans too.
 */
import type { JsonValue } from '@evenkeel/cel/primitives'
import { formatOf, type Format } from './formats.ts'
import type { SchemaNode } from './schema.ts'

export interface CompiledSchema {
  readonly node: SchemaNode
  readonly properties: ReadonlyMap<string, CompiledSchema> | undefined
  /** What other fields are, where they have a schema. */
  readonly additional: CompiledSchema | undefined
  /** Whether there is a word about other fields, be it only `true`. */
  readonly open: boolean
  readonly items: CompiledSchema | undefined
  /** Whether unknown fields are kept. */
  readonly preserves: boolean
  /** Whether an object with metadata of its own stands here. */
  readonly embedded: boolean
  readonly nullable: boolean
  /** `undefined` when there is none; a default of null is none. */
  readonly defaultValue: JsonValue | undefined
  /** The types a value may have; `undefined` when any will do. */
  readonly types: readonly string[] | undefined
  /** The format, when it is one that is checked for these types. */
  readonly format: Format | undefined
  readonly alternatives: Alternatives | undefined
  /** Whether numbers, texts or lists are limited in any way. */
  readonly limited: boolean
  /** `string` or `boolean` when that is all that is demanded: most fields are such. */
  readonly plain: string | undefined
  /** Whether there are defaults here or below. */
  readonly hasDefaults: boolean
  /** Whether there are sets or maps written as lists here or below. */
  readonly hasListTypes: boolean
  /** Whether there are embedded resources here or below. */
  readonly hasEmbedded: boolean
}

interface Alternatives {
  readonly any: readonly CompiledSchema[]
  readonly one: readonly CompiledSchema[]
  readonly all: readonly CompiledSchema[]
  readonly not: CompiledSchema | undefined
}

/** The plan of a schema; the same one every time. */
export function compileSchema(node: SchemaNode): CompiledSchema {
  let plan = plans.get(node)
  if (!plan) plans.set(node, (plan = prepare(node)))
  return plan
}

const plans = new WeakMap<SchemaNode, CompiledSchema>()

function prepare(node: SchemaNode): CompiledSchema {
  const { additionalProperties, items, nullable = false, default: standard = null } = node
  const properties =
    node.properties && new Map(Object.entries(node.properties).map(([key, child]) => [key, compileSchema(child)]))
  const additional = typeof additionalProperties === 'object' ? compileSchema(additionalProperties) : undefined
  const below = [
    ...(properties?.values() ?? []),
    ...(additional ? [additional] : []),
    ...(items ? [compileSchema(items)] : []),
  ]
  const types = typesOf(node)
  const listType = node['x-kubernetes-list-type'] ?? 'atomic'
  const alternatives = alternativesOf(node)
  const limited = limits.some((limit) => node[limit] !== undefined) || types?.includes('integer') === true
  const embedded = node['x-kubernetes-embedded-resource'] === true
  return {
    node,
    properties,
    additional,
    nullable,
    types,
    embedded,
    alternatives,
    limited,
    open: additionalProperties !== undefined,
    items: items && compileSchema(items),
    preserves: node['x-kubernetes-preserve-unknown-fields'] === true,
    defaultValue: standard ?? undefined,
    format: formatOf(node.format, types),
    plain:
      limited || alternatives ? undefined : node.type === 'string' || node.type === 'boolean' ? node.type : undefined,
    hasDefaults: below.some((plan) => plan.defaultValue !== undefined || plan.hasDefaults),
    hasListTypes: listType !== 'atomic' || below.some((plan) => plan.hasListTypes),
    hasEmbedded: embedded || below.some((plan) => plan.hasEmbedded),
  }
}

const limits = [
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'enum',
] as const

function typesOf(node: SchemaNode): readonly string[] | undefined {
  if (node['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return node.type === undefined ? undefined : [node.type]
}

function alternativesOf({ anyOf = [], oneOf = [], allOf = [], not }: SchemaNode): Alternatives | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined
  return {
    any: anyOf.map(compileSchema),
    one: oneOf.map(compileSchema),
    all: allOf.map(compileSchema),
    not: not && compileSchema(not),
  }
}
