/**
 * The one reader of schema nodes: JSON with OpenAPI keywords in, {@link CompiledSchema} out.
 *
 * Everything that processes objects by a schema reads the compiled form, never the keywords: decoding of built-in kinds,
 * pruning, defaulting and validation of custom resources, field sets of server-side apply, strategic merge patch, CEL
 * types. A reader that needs more than is here derives it from the compiled node and keeps it in a WeakMap of its own.
 *
 * A node is compiled once per set of definitions, with everything that is written inside it. References end a compiled
 * tree: they are followed when {@link CompiledSchema.target} is first read. So a schema may contain itself, and the
 * parts of a large kind that no object uses are never compiled. For example:
 *
 *     Deployment  { type: object, properties: { spec: { allOf: [{ $ref: a.DeploymentSpec }], default: {} } } }
 *     a.DeploymentSpec  { type: object, required: [selector], properties: { replicas: { type: integer }, ... } }
 *
 *     const field = compile(deployment).properties.get('spec')
 *     field.default      {}                    what the field itself says
 *     field.typeName     'a.DeploymentSpec'    which definition it refers to
 *     field.target       compiled on this read: type 'object', required ['selector'], properties replicas, ...
 *     field.properties   undefined             the field itself declares none
 *
 * Structural schemas (those of custom resources) have no references: there every node is its own target, and readers
 * that know only custom resources do not ask for it. Invariant: a compiled node never changes, apart from its target,
 * which is found once.
 */
import { jsonSize, type JsonValue } from '@evenkeel/cel/primitives'
import { formatOf, type Format } from './formats.ts'
import type { Definitions, ListType, Schema, SchemaNode } from './schema.ts'

/** The limits of numbers, texts, lists and objects, as a node writes them. */
export type SchemaLimits = Pick<
  SchemaNode,
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'minLength'
  | 'maxLength'
  | 'pattern'
  | 'minItems'
  | 'maxItems'
  | 'uniqueItems'
  | 'minProperties'
  | 'maxProperties'
  | 'enum'
>

/** The junctions of a node: each member is a condition on the same value. */
interface Alternatives {
  readonly any: readonly CompiledSchema[]
  readonly one: readonly CompiledSchema[]
  readonly all: readonly CompiledSchema[]
  readonly not: CompiledSchema | undefined
}

export class CompiledSchema {
  /** The node as it is written, for documents that show it. Keywords are read here only. */
  readonly node: SchemaNode
  readonly type: SchemaNode['type']
  /** The types a value may have; `undefined` when any is right. */
  readonly types: readonly string[] | undefined
  readonly isIntOrString: boolean
  readonly nullable: boolean
  /** The format as it is written. */
  readonly formatName: string | undefined
  /** The format, when it is one that is checked for these types. */
  readonly format: Format | undefined

  readonly properties: ReadonlyMap<string, CompiledSchema> | undefined
  readonly required: readonly string[]
  /** The schema of fields that are not declared, where they have one. */
  readonly additional: CompiledSchema | undefined
  /** What `additionalProperties` says of fields that are not declared: a schema reads as true. */
  readonly allowsAdditional: boolean | undefined
  readonly items: CompiledSchema | undefined
  /** Whether fields that are not declared are kept. */
  readonly preservesUnknown: boolean
  /** Whether the value is an object with metadata of its own. */
  readonly isEmbedded: boolean

  /** The default as it is written, null included. */
  readonly default: JsonValue | undefined
  /** The default that is filled in: a default of null is none. */
  readonly defaultValue: JsonValue | undefined
  /** Its size as JSON. */
  readonly defaultBytes: number
  readonly alternatives: Alternatives | undefined
  readonly limits: SchemaLimits
  /** Whether any limit or format applies to numbers, texts or lists. */
  readonly isLimited: boolean
  /** `string` or `boolean` when that type is all that is demanded: most fields are such. */
  readonly plain: 'string' | 'boolean' | undefined

  readonly listType: ListType | undefined
  readonly listMapKeys: readonly string[]
  readonly mapType: SchemaNode['x-kubernetes-map-type']

  /** The CEL rules as they are written; `rules/rules.ts` reads them. */
  readonly rules: readonly JsonValue[]

  /** Whether there are defaults below, in what is written here; references are not followed. */
  readonly hasDefaults: boolean
  /** Whether there are lists of type set or map here or below; references are not followed. */
  readonly hasListTypes: boolean
  /** Whether there are embedded resources here or below; references are not followed. */
  readonly hasEmbedded: boolean
  /** Whether there are CEL rules here or below; references are not followed. */
  readonly hasRules: boolean

  readonly #definitions: Definitions
  #target: CompiledSchema | undefined
  #typeName = ''

  constructor(node: SchemaNode, definitions: Definitions) {
    const { additionalProperties: additional, items, default: standard = null } = node
    this.#definitions = definitions
    this.node = node
    this.limits = node
    this.type = node.type
    this.isIntOrString = node['x-kubernetes-int-or-string'] === true
    this.types = this.isIntOrString ? ['integer', 'string'] : node.type === undefined ? undefined : [node.type]
    this.nullable = node.nullable ?? false
    this.formatName = node.format
    this.format = formatOf(node.format, this.types)

    this.properties = node.properties && compileProperties(node.properties, definitions)
    this.required = node.required ?? []
    this.additional = typeof additional === 'object' ? compileNode(additional, definitions) : undefined
    this.allowsAdditional = typeof additional === 'object' ? true : additional
    // A CRD may write a list of schemas; it is refused, but not before it is compiled.
    this.items = items && !Array.isArray(items) ? compileNode(items, definitions) : undefined
    this.preservesUnknown = node['x-kubernetes-preserve-unknown-fields'] === true
    this.isEmbedded = node['x-kubernetes-embedded-resource'] === true

    this.default = node.default
    this.defaultValue = standard ?? undefined
    this.defaultBytes = standard === null ? 0 : jsonSize(standard)
    this.alternatives = alternativesOf(node, definitions)
    this.isLimited = limits.some((limit) => node[limit] !== undefined) || this.types?.includes('integer') === true
    this.plain = this.isLimited || this.alternatives ? undefined : plainType(node.type)

    this.listType = node['x-kubernetes-list-type']
    this.listMapKeys = node['x-kubernetes-list-map-keys'] ?? []
    this.mapType = node['x-kubernetes-map-type']
    this.rules = node['x-kubernetes-validations'] ?? []

    const below = [...(this.properties?.values() ?? []), this.additional, this.items].filter(
      (each) => each !== undefined,
    )
    this.hasDefaults = below.some((each) => each.defaultValue !== undefined || each.hasDefaults)
    this.hasListTypes = (this.listType ?? 'atomic') !== 'atomic' || below.some(({ hasListTypes }) => hasListTypes)
    this.hasEmbedded = this.isEmbedded || below.some(({ hasEmbedded }) => hasEmbedded)
    this.hasRules = this.rules.length > 0 || below.some(({ hasRules }) => hasRules)
  }

  /**
   * The node that describes the value: what the reference here refers to, or this node when there is none.
   *
   * @throws {RangeError} when a reference leads nowhere or in a circle. Only schemas of built-in kinds have references.
   */
  get target(): CompiledSchema {
    return (this.#target ??= this.#follow())
  }

  /** The last definition on the way to the target, `io.k8s.api.core.v1.Pod`; empty without a reference. */
  get typeName(): string {
    this.#target ??= this.#follow()
    return this.#typeName
  }

  /** Whether this node only refers to a definition. */
  get isReference(): boolean {
    return referenceOf(this.node) !== undefined
  }

  /** How strategic merge patch treats the field: words separated by commas. */
  get patchStrategy(): string {
    return this.node['x-kubernetes-patch-strategy'] ?? ''
  }

  /** The key by which strategic merge patch merges the items of the list; empty when there is none. */
  get patchMergeKey(): string {
    return this.node['x-kubernetes-patch-merge-key'] ?? ''
  }

  /** This schema with more properties, which take the place of those with the same names. */
  withProperties(properties: Readonly<Record<string, SchemaNode>>): CompiledSchema {
    return new CompiledSchema(
      { ...this.node, properties: { ...this.node.properties, ...properties } },
      this.#definitions,
    )
  }

  #follow(): CompiledSchema {
    let target: CompiledSchema = this
    for (let step = 0; step < stepsMax; step++) {
      const name = referenceOf(target.node)
      if (name === undefined) return target
      const node = this.#definitions(name)
      if (node === undefined) throw new RangeError(`no definition named ${name}: the schema refers to it`)
      this.#typeName = name
      target = compileNode(node, this.#definitions)
    }
    throw new RangeError(`the reference to ${referenceOf(this.node) ?? ''} leads in a circle`)
  }
}

/** More steps than any schema needs; a circle has no end. */
const stepsMax = 32

/** The compiled root of a schema with its definitions; a root that has a name is known by it. */
export function compile(schema: Schema): CompiledSchema {
  let compiled = roots.get(schema)
  if (!compiled) {
    const root = schema.name === undefined ? schema.root : { $ref: schema.name }
    roots.set(schema, (compiled = compileNode(root, schema.definitions)))
  }
  return compiled
}

/** The compiled form of a schema without references, such as that of a custom resource. */
export function compileSchema(node: SchemaNode): CompiledSchema {
  return compileNode(node, noDefinitions)
}

const noDefinitions: Definitions = () => undefined
const roots = new WeakMap<Schema, CompiledSchema>()
const nodes = new WeakMap<Definitions, WeakMap<SchemaNode, CompiledSchema>>()

function compileNode(node: SchemaNode, definitions: Definitions): CompiledSchema {
  let known = nodes.get(definitions)
  if (!known) nodes.set(definitions, (known = new WeakMap()))
  let compiled = known.get(node)
  if (!compiled) known.set(node, (compiled = new CompiledSchema(node, definitions)))
  return compiled
}

function compileProperties(
  properties: Readonly<Record<string, SchemaNode>>,
  definitions: Definitions,
): ReadonlyMap<string, CompiledSchema> {
  return new Map(Object.entries(properties).map(([name, node]) => [name, compileNode(node, definitions)]))
}

function alternativesOf(
  { anyOf = [], oneOf = [], allOf = [], not }: SchemaNode,
  definitions: Definitions,
): Alternatives | undefined {
  if (anyOf.length + oneOf.length + allOf.length === 0 && not === undefined) return undefined
  const compileEach = (members: readonly SchemaNode[]): CompiledSchema[] =>
    members.map((node) => compileNode(node, definitions))
  return {
    any: compileEach(anyOf),
    one: compileEach(oneOf),
    all: compileEach(allOf),
    not: not && compileNode(not, definitions),
  }
}

/**
 * The name of the definition that a node refers to. Kubernetes wraps a reference that has siblings into an `allOf` of
 * one member; custom resources use `allOf` for more conditions on the same value.
 */
function referenceOf({ $ref, allOf }: SchemaNode): string | undefined {
  const reference = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined)
  return reference?.slice(reference.lastIndexOf('/') + 1)
}

function plainType(type: SchemaNode['type']): 'string' | 'boolean' | undefined {
  return type === 'string' || type === 'boolean' ? type : undefined
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
