/**
 * Schemas of the server's OpenAPI v3 documents: the fields of a kind, with references resolved.
 *
 * A document names its schemas and refers to them: `{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec' }`,
 * or `{ allOf: [{ $ref }], description, default }` where a field adds to the schema. What the field says comes first.
 *
 * Documents come from any server: missing and mistyped parts are ignored, and schemas may refer to themselves.
 */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { Failure } from './failure.ts'

export interface SchemaField {
  readonly name: string
  /** As in kubectl: `string`, `[]Container`, `map[string]string`, `DeploymentSpec`, `Object`. */
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  /** Of the schema that the field refers to; empty when that is the only description. */
  readonly typeDescription: string
  readonly enum: readonly string[]
  /** As JSON; undefined: none. */
  readonly default: JsonValue | undefined
  readonly schema: JsonObject
}

/** How many references lead from one schema to another before it counts as a circle. */
const referencesMax = 20

export class KindSchema {
  readonly #schemas: JsonObject
  /** The schema of the kind itself. */
  readonly root: SchemaField

  private constructor(schemas: JsonObject, { kind, schema }: { kind: string; schema: JsonObject }) {
    this.#schemas = schemas
    this.root = this.#field(kind, schema, false)
  }

  /** @throws {Failure} `refused`, when the server does not describe the kind */
  static async read(
    client: Client,
    { group, version, kind, plural }: DiscoveredResource,
    { signal }: { signal: AbortSignal },
  ): Promise<KindSchema> {
    const read = async (path: string): Promise<JsonObject> => {
      const body: unknown = parseJson(
        (await client.raw({ path, headers: { accept: 'application/json' } }, { signal })).text(),
      )
      return isJsonObject(body) ? body : {}
    }
    const { paths } = await read('/openapi/v3')
    const entry = objectOf(paths)[group === '' ? `api/${version}` : `apis/${group}/${version}`]
    const url = objectOf(entry)['serverRelativeURL']
    const { components } = typeof url === 'string' && url.startsWith('/') ? await read(url) : {}
    const schemas = objectOf(objectOf(components)['schemas'])
    const schema = Object.values(schemas).find((each) => isOfKind(each, { group, version, kind }))
    if (!isJsonObject(schema)) throw new Failure('refused', `the server does not describe the fields of ${plural}`)
    return new KindSchema(schemas, { kind, schema })
  }

  /** The fields of an object, or of the objects in a list or a map, by name. */
  fieldsOf({ schema }: SchemaField): readonly SchemaField[] {
    const inner = this.#inner(schema)
    const required = Array.isArray(inner['required']) ? inner['required'] : []
    return Object.entries(objectOf(inner['properties']))
      .map(([name, each]) => this.#field(name, objectOf(each), required.includes(name)))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The name of the schema that a field refers to, so that a circle can be noticed. */
  nameOf({ schema }: SchemaField): string | undefined {
    return refOf(unwrapped(this.#resolve(schema)) ?? schema) ?? refOf(schema)
  }

  #field(name: string, schema: JsonObject, isRequired: boolean): SchemaField {
    const whole = this.#resolve(schema)
    const preset = schema['default'] ?? whole['default']
    const description = textOf(schema['description'])
    const ofType = textOf(this.#inner(schema)['description'])
    const ofRef = textOf(objectOf(this.#schemas[refOf(unwrapped(whole) ?? schema) ?? ''])['description'])
    return {
      name,
      type: this.#typeOf(schema),
      isRequired,
      description: description || ofType,
      typeDescription: description === '' || ofRef === description ? '' : ofRef,
      enum: Array.isArray(whole['enum']) ? whole['enum'].map((value) => String(value)) : [],
      default: isEmptyDefault(preset, isRequired) ? undefined : preset,
      schema,
    }
  }

  /** The schema of the values: of the items of a list, of the values of a map. */
  #inner(schema: JsonObject): JsonObject {
    let inner = this.#resolve(schema)
    for (let depth = 0; depth < referencesMax; depth++) {
      const next = unwrapped(inner)
      if (!next) return inner
      inner = this.#resolve(next)
    }
    return inner
  }

  /** Follows references; what stands beside one stays. */
  #resolve(schema: JsonObject): JsonObject {
    let resolved = schema
    for (let count = 0; count < referencesMax; count++) {
      const ref = refOf(resolved)
      if (ref === undefined) return resolved
      const { $ref: _, allOf: __, ...own } = resolved
      resolved = { ...objectOf(this.#schemas[ref]), ...own }
    }
    return resolved
  }

  #typeOf(schema: JsonObject): string {
    const whole = this.#resolve(schema)
    const next = unwrapped(whole)
    if (next) return `${whole['type'] === 'array' ? '[]' : 'map[string]'}${this.#typeOf(next)}`
    if (whole['x-kubernetes-int-or-string'] === true || whole['format'] === 'int-or-string') return 'IntOrString'
    const ref = refOf(schema)
    const type = textOf(whole['type'])
    if (ref !== undefined && (type === 'object' || type === '')) return ref.slice(ref.lastIndexOf('.') + 1)
    return type === 'object' || type === '' ? 'Object' : type
  }
}

/** The schema of the items or of the values; undefined for anything but a list or a map. */
function unwrapped({ type, items, additionalProperties, properties }: JsonObject): JsonObject | undefined {
  if (type === 'array') return objectOf(items)
  return properties === undefined && isJsonObject(additionalProperties) ? additionalProperties : undefined
}

/** Built-in kinds have the zero value of Go as a default, which says nothing. */
function isEmptyDefault(value: JsonValue | undefined, isRequired: boolean): boolean {
  return value === '' || (value === 0 && isRequired) || (isJsonObject(value) && Object.keys(value).length === 0)
}

const refStart = '#/components/schemas/'

function refOf({ $ref, allOf }: JsonObject): string | undefined {
  const direct = typeof $ref === 'string' && $ref.startsWith(refStart) ? $ref.slice(refStart.length) : undefined
  if (direct !== undefined || !Array.isArray(allOf) || allOf.length !== 1) return direct
  const [only] = allOf
  return isJsonObject(only) ? refOf(only) : undefined
}

function isOfKind(
  schema: JsonValue | undefined,
  { group, version, kind }: Pick<DiscoveredResource, 'group' | 'version' | 'kind'>,
): boolean {
  const kinds = objectOf(schema)['x-kubernetes-group-version-kind']
  // DeleteOptions and the like belong to many kinds.
  const [only, more] = Array.isArray(kinds) ? kinds.filter(isJsonObject) : []
  return more === undefined && only?.['group'] === group && only['version'] === version && only['kind'] === kind
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
