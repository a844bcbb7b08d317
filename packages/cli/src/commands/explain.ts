/**
 * `evenkeel explain`: the fields of a kind as the server documents them, in the format of kubectl.
 */
import { stringifyJson, type JsonObject } from 'evenkeel/unstable/api'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import type { Command, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { isCalled, unknownKind } from '../lookup.ts'
import { KindSchema, type SchemaField } from '../open-api.ts'
import { nearestWords } from '../parse.ts'
import { safeText, wrapText } from '../terminal.ts'

export const explain: Command = {
  name: 'explain',
  about: 'show the fields of a kind',
  usage: 'KIND[.FIELD.FIELD]',
  words: { least: 1, most: 1 },
  completes: 'kinds',
  options: {
    recursive: { type: 'boolean', about: 'all fields below, with their types only' },
    'api-version': { type: 'string', value: 'VERSION', about: 'this version of the kind: apps/v1' },
  },
  details: 'From the OpenAPI document of the server, so that it also knows the kinds of CustomResourceDefinitions.',
  examples: [
    'evenkeel explain app',
    'evenkeel explain deployment.spec.strategy',
    'evenkeel explain websites.demo.example.com.spec --recursive',
  ],
  async run(call) {
    const { values, io, json } = call
    const [word = ''] = call.words
    const client = await call.connect()
    const { resource, path } = await targetOf(client, word, values.text('api-version'))
    const schema = await KindSchema.read(client, resource, io)
    const field = fieldAt(schema, path, resource)
    const page = { resource, schema, field, path }
    io.stdout.write(
      json
        ? `${stringifyJson(documentOf(page, { isRecursive: values.flag('recursive') }))}\n`
        : safeText(pageOf(page, call)),
    )
    return 0
  },
}

interface ExplainOptions {
  readonly apiVersion?: string | undefined
  readonly isRecursive?: boolean
  readonly signal: AbortSignal
}

/** The fields of `KIND[.FIELD.FIELD]` as JSON. @throws {Failure} `unknown-kind`, `usage` */
export async function explainWord(
  client: Client,
  word: string,
  { apiVersion, isRecursive = false, signal }: ExplainOptions,
): Promise<JsonObject> {
  const { resource, path } = await targetOf(client, word, apiVersion)
  const schema = await KindSchema.read(client, resource, { signal })
  return documentOf({ resource, schema, field: fieldAt(schema, path, resource), path }, { isRecursive })
}

interface ExplainedField {
  readonly resource: DiscoveredResource
  readonly schema: KindSchema
  readonly field: SchemaField
  readonly path: readonly string[]
}

/**
 * The kind and the path of a word. Groups have dots too: the longest name of a kind counts.
 *
 * @throws {Failure} `unknown-kind`, or `usage` for a version that the kind does not have
 */
async function targetOf(
  client: Client,
  word: string,
  apiVersion: string | undefined,
): Promise<{ readonly resource: DiscoveredResource; readonly path: readonly string[] }> {
  const resources = await client.resources()
  const parts = word.split('.')
  for (let length = parts.length; length > 0; length--) {
    const [name = '', ...group] = parts.slice(0, length).map((part) => part.toLowerCase())
    const named = resources.filter((resource) => isCalled(resource, name) && isGroup(resource, group.join('.')))
    const resource = named.find((each) => apiVersion === undefined || each.apiVersion === apiVersion)
    if (resource) return { resource, path: parts.slice(length) }
    if (named.length > 0)
      throw new Failure('usage', `${name} has no version ${apiVersion ?? ''}`, {
        hint: named.map((each) => `--api-version ${each.apiVersion}`).join(', '),
      })
  }
  throw unknownKind(parts[0] ?? '', resources)
}

function isGroup({ group, version }: DiscoveredResource, text: string): boolean {
  return text === '' || text === group || text === `${version}.${group}`
}

/** @throws {Failure} `usage`, with the nearest names */
function fieldAt(schema: KindSchema, path: readonly string[], { kind }: DiscoveredResource): SchemaField {
  let field = schema.root
  for (const [index, name] of path.entries()) {
    const fields = schema.fieldsOf(field)
    const next = fields.find((each) => each.name === name)
    const above = [kind.toLowerCase(), ...path.slice(0, index)].join('.')
    if (!next) throw unknownField(name, above, fields)
    field = next
  }
  return field
}

const namesMax = 20

function unknownField(name: string, above: string, fields: readonly SchemaField[]): Failure {
  const names = fields.map((field) => field.name)
  if (names.length === 0)
    return new Failure('usage', `${above} has no fields, so no ${JSON.stringify(name)}`, {
      hint: `evenkeel explain ${above}`,
    })
  const meant = nearestWords(name, names)
  const shown = `${names.slice(0, namesMax).join(', ')}${names.length > namesMax ? ', …' : ''}`
  return new Failure('usage', `${above} has no field ${JSON.stringify(name)}; its fields are ${shown}`, {
    hint: meant.length === 0 ? `evenkeel explain ${above}` : meant.map((each) => `evenkeel explain ${above}.${each}`),
  })
}

function pageOf({ resource, schema, field, path }: ExplainedField, { values, io: { stdout } }: Invocation): string {
  const columns = Math.min((stdout.isTTY && stdout.columns) || 80, 120)
  const { group, kind, version } = resource
  const isRecursive = values.flag('recursive')
  const fields = schema.fieldsOf(field)
  const head = [
    ...(group === '' ? [] : [`GROUP:      ${group}`]),
    `KIND:       ${kind}`,
    `VERSION:    ${version}`,
    '',
    ...(path.length === 0 ? [] : [`FIELD: ${titleOf(field).replace('\t', ' ')}`, ...valuesOf(field), '']),
    'DESCRIPTION:',
    ...[field.description || '<empty>', field.typeDescription]
      .filter((text) => text !== '')
      .flatMap((text) => wrapText(text, { columns, indent: '    ' })),
  ]
  const below = isRecursive
    ? treeOf(schema, field, { depth: 1, above: [] })
    : fields.flatMap((each) => [...blockOf(each, columns), ''])
  return `${[...head, '', ...(fields.length === 0 ? [] : ['FIELDS:', ...below])].join('\n').trimEnd()}\n`
}

/** `name<tab><type> -required-`, as in kubectl. */
function titleOf({ name, type, isRequired }: SchemaField): string {
  return `${name}\t<${type}>${isRequired ? ' -required-' : ''}`
}

/** The allowed values and the default of the field itself, each in a block. */
function valuesOf({ enum: allowed, default: preset }: SchemaField): readonly string[] {
  return [
    ...(allowed.length === 0 ? [] : ['ENUM:', ...allowed.map((value) => `    ${value}`)]),
    ...(preset === undefined ? [] : ['DEFAULT:', `    ${stringifyJson(preset)}`]),
  ]
}

function factsOf({ enum: allowed, default: preset }: SchemaField, indent: string): readonly string[] {
  return [
    ...(allowed.length === 0 ? [] : [`${indent}enum: ${allowed.join(', ')}`]),
    ...(preset === undefined ? [] : [`${indent}default: ${stringifyJson(preset)}`]),
  ]
}

function blockOf(field: SchemaField, columns: number): readonly string[] {
  const text = field.description || '<no description>'
  return [`  ${titleOf(field)}`, ...factsOf(field, '  '), ...wrapText(text, { columns, indent: '    ' })]
}

interface TreeOptions {
  readonly depth: number
  /** The schemas above: one that refers to itself ends there. */
  readonly above: readonly string[]
}

function treeOf(schema: KindSchema, field: SchemaField, { depth, above }: TreeOptions): readonly string[] {
  const name = schema.nameOf(field)
  if (name !== undefined && above.includes(name)) return []
  const within = name === undefined ? above : [...above, name]
  return schema
    .fieldsOf(field)
    .flatMap((each) => [
      `${'  '.repeat(depth)}${titleOf(each)}`,
      ...factsOf(each, '  '.repeat(depth)),
      ...treeOf(schema, each, { depth: depth + 1, above: within }),
    ])
}

function documentOf(
  { resource, schema, field, path }: ExplainedField,
  { isRecursive }: { readonly isRecursive: boolean },
): JsonObject {
  const { group, version, kind } = resource
  const above = schema.nameOf(field)
  const fields = schema
    .fieldsOf(field)
    .map((each) => jsonOf(schema, each, isRecursive ? { above: above === undefined ? [] : [above] } : {}))
  return { group, version, kind, path: path.join('.'), ...factsJson(field), fields }
}

function jsonOf(schema: KindSchema, field: SchemaField, { above }: { above?: readonly string[] }): JsonObject {
  const name = schema.nameOf(field)
  const isCircle = name !== undefined && above?.includes(name) === true
  if (!above || isCircle) return { name: field.name, ...factsJson(field) }
  const within = name === undefined ? above : [...above, name]
  return {
    name: field.name,
    ...factsJson(field),
    fields: schema.fieldsOf(field).map((each) => jsonOf(schema, each, { above: within })),
  }
}

function factsJson({ type, isRequired, description, enum: allowed, default: preset }: SchemaField): JsonObject {
  return {
    type,
    required: isRequired,
    description,
    ...(allowed.length > 0 && { enum: [...allowed] }),
    ...(preset !== undefined && { default: preset }),
  }
}
