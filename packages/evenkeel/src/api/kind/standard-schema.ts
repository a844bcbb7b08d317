/**
 * Getting a JSON Schema out of whatever the user wrote it in: any library of the Standard JSON Schema family
 * (zod, arktype, valibot with its companion ...), or a plain JSON Schema (typebox, a literal).
 *
 * Only the slice of the standard that is needed is typed here, so no schema library is a dependency. What comes out is
 * the schema of the *input*, defaults included, because that is what an API server checks and completes. It is kept as
 * the library wrote it; making it structural is the work of the schema folder.
 */
import { isJsonObject, type JsonObject } from '@evenkeel/cel/primitives'

/** A schema of a library that follows the standard. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Version 1.1 of the standard; libraries may leave it out. */
    readonly jsonSchema?: JsonSchemaConverter
  }
}

type Convert = (options: {
  readonly target: string
  readonly libraryOptions?: Record<string, unknown>
}) => Record<string, unknown>

interface JsonSchemaConverter {
  readonly input: Convert
  readonly output: Convert
}

/**
 * The JSON Schema of a source.
 *
 * @param where names the source in messages: `Website.spec`.
 * @throws {RangeError} when the library gives none, or one that would not do what the types promise.
 */
export function jsonSchemaOf(source: object, where: string): JsonObject {
  if (!isStandard(source)) {
    if (!isJsonObject(source))
      throw new RangeError(`${where} must be a schema of a Standard JSON Schema library or a JSON Schema object`)
    return source
  }
  const { vendor, jsonSchema: given } = source['~standard']
  const jsonSchema = given && (vendor === 'zod' ? zodConverter(given, where) : given)
  if (jsonSchema === undefined) {
    throw new RangeError(
      `${where} is a ${vendor} schema, and ${vendor} does not give its JSON Schema: ${remedies.get(vendor) ?? fallbackRemedy}`,
    )
  }
  const { schema, target } = convertInput(jsonSchema, vendor, where)
  checkOutput(schema, { converter: jsonSchema, target, where, vendor })
  return schema
}

/** OpenAPI 3.0 is what a CRD speaks; arktype, for one, refuses it and knows 2020-12. */
const targets = ['openapi-3.0', 'draft-2020-12']
const fallbackRemedy = 'pass a JSON Schema object instead'
const remedies = new Map([
  ['valibot', 'wrap the schema with `toStandardJsonSchema` of the package @valibot/to-json-schema'],
])

function isStandard(source: object): source is StandardSchema {
  // arktype's schemas are functions, hence no test for an object.
  return '~standard' in source && typeof source['~standard'] === 'object' && source['~standard'] !== null
}

function convertInput(
  converter: JsonSchemaConverter,
  vendor: string,
  where: string,
): { schema: JsonObject; target: string } {
  const failures: string[] = []
  for (const target of targets) {
    try {
      return { schema: converter.input({ target }) as JsonObject, target }
    } catch (error) {
      failures.push(`${target}: ${messageOf(error)}`)
    }
  }
  throw new RangeError(
    `${vendor} cannot turn ${where} into a JSON Schema (${failures.join('; ')}): use only types that JSON has`,
  )
}

// What only a program can check has no JSON Schema of its own; `.meta()` may give it one.
const zodTypesOfPrograms = new Set([
  'bigint',
  'symbol',
  'undefined',
  'void',
  'date',
  'map',
  'set',
  'custom',
  'nan',
  'transform',
  'function',
  'promise',
])

interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } }
  readonly jsonSchema: object
  readonly path: readonly (string | number)[]
}

/**
 * zod refuses `z.custom<PodTemplateSpec>().meta(schemaOf(PodTemplateSpec))`, because a custom type has no JSON Schema, and
 * does not say at which field. So it is asked again, with every such type checked here: the metadata must have a schema.
 */
function zodConverter({ input, output }: JsonSchemaConverter, where: string): JsonSchemaConverter {
  const again =
    (convert: Convert): Convert =>
    ({ target }) => {
      try {
        return convert({ target })
      } catch {
        // A type with metadata is a copy of the one without, and zod shows both, at one path.
        const types = new Map<string, { readonly type: string; readonly hasSchema: boolean }>()
        const override = ({ zodSchema, jsonSchema, path }: ZodNode): void => {
          const { type } = zodSchema._zod.def
          if (!zodTypesOfPrograms.has(type)) return
          const field = [where, ...path.filter((step) => step !== 'properties')].join('.')
          const hasSchema = 'type' in jsonSchema || 'anyOf' in jsonSchema || types.get(field)?.hasSchema === true
          types.set(field, { type, hasSchema })
        }
        const schema = convert({ target, libraryOptions: { unrepresentable: 'any', override } })
        for (const [field, { type, hasSchema }] of types)
          if (!hasSchema)
            throw new Error(
              `${field} is z.${type}(), which has no JSON Schema: add one with .meta({ type: … }), for a type of Kubernetes with .meta(schemaOf(PodTemplateSpec))`,
            )
        return schema
      }
    }
  return { input: again(input), output: again(output) }
}

interface OutputCheck {
  readonly converter: JsonSchemaConverter
  readonly target: string
  readonly where: string
  readonly vendor: string
}

// The types say what the library's own parser would return. An API server runs no such parser: it stores what came in
// and fills in defaults it finds in the schema. Where the two differ, the types would lie, so we refuse.
function checkOutput(input: JsonObject, { converter, target, where, vendor }: OutputCheck): void {
  let output: Record<string, unknown>
  try {
    output = converter.output({ target })
  } catch (error) {
    throw new RangeError(
      `${where} changes values while parsing (${messageOf(error)}), and an API server cannot run ${vendor}: ` +
        'describe the value as it is stored, without transforms',
      { cause: error },
    )
  }
  const [lost] = lostDefaults(input, output as JsonObject, where)
  if (lost !== undefined) {
    throw new RangeError(
      `${lost} has a default that ${vendor} does not put into the JSON Schema, so an API server could not fill it in: ` +
        `make the field optional, or give ${where} as a JSON Schema object with \`default\``,
    )
  }
}

/** Fields that are always there in the output, need not be in the input, and have no default in between. */
function lostDefaults(input: JsonObject, output: JsonObject, where: string): string[] {
  const lost: string[] = []
  const work = [{ input, output, where }]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [inputProperties, outputProperties] = [propertiesOf(next.input), propertiesOf(next.output)]
    for (const [name, property] of Object.entries(inputProperties)) {
      const place = `${next.where}.${name}`
      const appears = requires(next.output, name) && !requires(next.input, name)
      if (appears && isJsonObject(property) && !Object.hasOwn(property, 'default')) lost.push(place)
      const counterpart = Object.hasOwn(outputProperties, name) ? outputProperties[name] : undefined
      if (isJsonObject(property) && isJsonObject(counterpart))
        work.push({ input: property, output: counterpart, where: place })
    }
  }
  return lost
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema['properties']) ? schema['properties'] : {}
}

function requires(schema: JsonObject, name: string): boolean {
  return Array.isArray(schema['required']) && schema['required'].includes(name)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
