/**
 * Paths to fields that a schema declares: `.spec.color`, `.spec['the color']`.
 *
 * Selectable fields and the `fieldPath` of rules are such paths. They name a place for every object, so there are no
 * indices and no wildcards.
 */
import { getOwn } from '../../json.ts'
import { isSchema } from './properties.ts'
import type { JsonSchemaProps } from './properties.ts'

interface FieldReference {
  /** The steps from the root. */
  readonly steps: readonly string[]
  /** What stands there; `undefined` inside a map of anything. */
  readonly schema: JsonSchemaProps | undefined
  /** As errors write it: `spec.labels[the color]`. */
  readonly text: string
}

interface FieldReferenceOptions {
  /**
   * Whether `['name']` may be written.
   *
   * @default true
   */
  readonly brackets?: boolean
}

/** What a path refers to, or the sentence that says why it refers to nothing. */
export function followReference(
  path: string,
  root: JsonSchemaProps,
  { brackets = true }: FieldReferenceOptions = {},
): FieldReference | string {
  const tokens = tokensOf(path)
  const steps: string[] = []
  let schema: JsonSchemaProps | undefined = root
  let text = ''
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`
    if (token === '[' && !brackets) return 'array notation is not allowed'
    const name = token === '.' ? { text: tokens.shift() } : quotedName(tokens.shift())
    if (typeof name === 'string') return name
    if (name.text === undefined) return 'unexpected end of JSON path'
    const next: JsonSchemaProps | undefined | string = stepInto(schema, name.text)
    if (typeof next === 'string') return next
    const end = token === '[' ? closing(tokens.shift()) : undefined
    if (end !== undefined) return end
    steps.push(name.text)
    text += schema?.properties === undefined ? `[${name.text}]` : text === '' ? name.text : `.${name.text}`
    schema = next
  }
  return { steps, schema, text }
}

function tokensOf(path: string): string[] {
  return path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs) ?? []
}

function quotedName(token: string | undefined): { text: string | undefined } | string {
  if (token === undefined) return { text: undefined }
  const quoted = /^'(.*)'$/s.exec(token)?.[1]
  if (quoted === undefined) return `expected single quoted string but got ${token}`
  const wrong = quoted.match(/\\./g)?.findLast((escape) => !escapes.has(escape))
  return wrong === undefined
    ? { text: quoted.replace(/\\./g, (escape) => escapes.get(escape) ?? '') }
    : `invalid string literal: invalid escape char ${wrong}`
}

const escapes = new Map([
  ['\\a', '\x07'],
  ['\\b', '\b'],
  ['\\f', '\f'],
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\t', '\t'],
  ['\\v', '\v'],
  ["\\'", "'"],
  ['\\\\', '\\'],
])

function closing(token: string | undefined): string | undefined {
  if (token === ']') return undefined
  return token === undefined ? 'unexpected end of JSON path' : `expected ] but got ${token}`
}

function stepInto(schema: JsonSchemaProps | undefined, name: string): JsonSchemaProps | undefined | string {
  if (schema?.properties !== undefined) return getOwn(schema.properties, name) ?? nowhere
  if (schema?.additionalProperties === undefined) return nowhere
  return isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined
}

const nowhere = 'does not refer to a valid field'
