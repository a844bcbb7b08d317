/**
 * Published schemas as TypeScript types: fields that are not required are optional, and everything is readonly.
 *
 * A type is referred to by its short name (`core.v1.PodSpec`). The renderer decides which module contains it, and under
 * which name it is imported.
 */
import { shortName } from '../generate/definitions.ts'
import type { PublishedSchema } from '../generate/source.ts'

/** How the rendered module writes a reference. */
export type NameType = (short: string) => string

/** Types that are no objects, or that the schema cannot express. */
const plain: Readonly<Record<string, string>> = {
  'quantity.Quantity': 'string',
  'intstr.IntOrString': 'number | string',
  'meta.v1.Time': 'string',
  'meta.v1.MicroTime': 'string',
  'meta.v1.Duration': 'string',
  'meta.v1.FieldsV1': '#JsonObject',
  'runtime.RawExtension': '#JsonObject',
  'apiextensions.v1.JSON': '#JsonValue',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'JSONSchemaProps | boolean',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'JSONSchemaProps | readonly JSONSchemaProps[]',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'JSONSchemaProps | readonly string[]',
}

/** Types with the same name in the api layer. */
const known = new Set(
  [
    'ObjectMeta',
    'OwnerReference',
    'LabelSelector',
    'LabelSelectorRequirement',
    'Condition',
    'ManagedFieldsEntry',
    'ListMeta',
  ].map((name) => `meta.v1.${name}`),
)

/** What a reference resolves to: a primitive type, one of the api layer (`#Name`), or a type of ours. */
export function meaningOf(short: string): string | undefined {
  return Object.hasOwn(plain, short)
    ? plain[short]
    : known.has(short)
      ? `#${short.slice(short.lastIndexOf('.') + 1)}`
      : undefined
}

/** The type of a value. */
export function typeOf(schema: PublishedSchema, name: NameType): string {
  const reference = referenceOf(schema)
  if (reference !== undefined) return name(reference)
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => quoted(String(value))).join(' | ')
  switch (schema['type']) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly ${inBrackets(typeOf(schema['items'] as PublishedSchema, name))}[]`
    default:
      return mapType(schema, name)
  }
}

function mapType({ additionalProperties }: PublishedSchema, name: NameType): string {
  if (typeof additionalProperties !== 'object' || additionalProperties === null) return name('#JsonObject')
  return `Readonly<Record<string, ${typeOf(additionalProperties as PublishedSchema, name)}>>`
}

/** The fields of an object, on one line; `without` lists fields that are declared elsewhere. */
export function fieldsOf(
  schema: PublishedSchema,
  name: NameType,
  { without = [] }: { without?: readonly string[] } = {},
): string {
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, PublishedSchema>)
  return properties
    .filter(([field]) => !without.includes(field))
    .map(
      ([field, value]) =>
        `readonly ${/^[A-Za-z_$][\w$]*$/.test(field) ? field : quoted(field)}${required.has(field) ? '' : '?'}: ${typeOf(value, name)}`,
    )
    .join(', ')
}

/** Short names of all types that a schema mentions. */
export function mentions(schema: PublishedSchema): string[] {
  const found: string[] = []
  fieldsOf(schema, (short) => {
    found.push(short)
    return ''
  })
  return found
}

function referenceOf(schema: PublishedSchema): string | undefined {
  const [only] = (schema['allOf'] ?? []) as readonly PublishedSchema[]
  const reference = schema['$ref'] ?? only?.['$ref']
  return typeof reference === 'string' ? shortName(reference.replace('#/components/schemas/', '')) : undefined
}

function inBrackets(type: string): string {
  return / [|] |^readonly /.test(type) ? `(${type})` : type
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
