/**
 * What a definition makes the server serve: one record per served version, like any built-in resource.
 */
import { checkDnsSubdomainName, defaultCustomObject, formatApiVersion, getOwn, isJsonObject, setOwn, shapeCustomObject, toStructural, validateCustomObject } from '#api'
import type { JsonObject, JsonObjectDraft, PrinterColumn, Schema, SchemaNode, UnstructuredObject } from '#api'
import type { ObjectDraft, Resource, Rules, Subresource, Verb } from '../resources/resource.ts'
import { columnsFromPrinter } from '../tables/index.ts'
import type { Definition, DefinitionVersion } from './definition.ts'
import { matchesPattern } from './patterns.ts'

const verbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const partVerbs: readonly Verb[] = ['get', 'patch', 'update']

interface ServeOptions {
  /** Objects written after this revision are as the definition has them. */
  readonly since: number
  readonly retired: AbortSignal
}

/** The resources of a definition. */
export function resourcesOf(definition: Definition, { since, retired }: ServeOptions): Resource[] {
  const { spec: { group, scope, versions }, metadata: { deletionTimestamp } } = definition
  const names = definition.status?.acceptedNames ?? definition.spec.names
  const { plural, singular = '', kind, listKind = `${kind}List`, shortNames = [], categories = [] } = names
  const storage = { group, plural, kind, version: versions.find((version) => version.storage)?.name ?? '' }
  return versions.filter(({ served }) => served).map((version) => {
    const schema = schemaOf(version)
    const type = { apiVersion: formatApiVersion({ group, version: version.name }), kind }
    return {
      group, version: version.name, kind, listKind, plural, singular, shortNames, categories, scope, verbs, storage, schema, retired,
      custom: true,
      subresources: subresourcesOf(version, { group, kind }),
      rules: rulesOf(version, { schema, warning: deprecationOf(version, definition), isClosed: deletionTimestamp !== undefined }),
      columns: columnsFromPrinter(version.additionalPrinterColumns as readonly PrinterColumn[] | undefined ?? []),
      reading: { since, read: (object) => readObject(object, { schema, type }) },
      ...version.subresources?.scale && { scale: version.subresources.scale },
    }
  })
}

function schemaOf({ schema }: DefinitionVersion): Schema {
  const given: JsonObject = schema?.openAPIV3Schema as JsonObject | undefined ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return { root: toStructural(given), definitions: () => undefined }
}

/** An object that was written under an earlier definition or in another version, as this version has it. */
function readObject(object: UnstructuredObject, { schema, type }: { schema: Schema, type: { apiVersion: string, kind: string } }): UnstructuredObject {
  const { object: pruned } = shapeCustomObject({ ...object, ...type } as unknown as JsonObject, schema.root)
  return defaultCustomObject(pruned, schema.root) as unknown as UnstructuredObject
}

function subresourcesOf({ name, subresources = {} }: DefinitionVersion, { group, kind }: { group: string, kind: string }): Subresource[] {
  return [
    ...subresources.status ? [{ name: 'status', verbs: partVerbs, group, version: name, kind }] : [],
    ...subresources.scale ? [{ name: 'scale', verbs: partVerbs, group: 'autoscaling', version: 'v1', kind: 'Scale' }] : [],
  ]
}

interface RuleOptions {
  readonly schema: Schema
  readonly warning: string | undefined
  readonly isClosed: boolean
}

function rulesOf({ selectableFields = [] }: DefinitionVersion, { schema, warning, isClosed }: RuleOptions): Rules {
  const check = (object: UnstructuredObject, old?: UnstructuredObject, part?: 'status'): ReturnType<typeof validateCustomObject> =>
    validateCustomObject(object as unknown as JsonObject, schema.root, { matches: matchesPattern, ...old && { old: old as unknown as JsonObject }, ...part && { part } })
  return {
    checkName: checkDnsSubdomainName,
    unconditionalUpdate: false,
    createOnUpdate: false,
    generation: true,
    returnsDeleted: false,
    dependents: 'background',
    ratchets: true,
    fields: Object.fromEntries(selectableFields.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), (object: UnstructuredObject) => textAt(object, jsonPath)])),
    default: (object: ObjectDraft) => { fillDefaults(object, schema.root) },
    validate: (object) => check(object),
    validateUpdate: (object, old) => check(object, old),
    validateStatusUpdate: (object, old) => check(object, old, 'status'),
    ...warning !== undefined && { deprecation: warning },
    ...isClosed && { closed: 'create not allowed while custom resource definition is terminating' },
  }
}

// Defaults give a new object; whoever asked for them holds the old one.
function fillDefaults(object: JsonObjectDraft, schema: SchemaNode): void {
  const filled = defaultCustomObject(object, schema)
  if (filled !== object) for (const key of Object.keys(filled)) setOwn(object, key, filled[key])
}

// Fields are simple paths of names; what is not there is the empty text.
function textAt(object: UnstructuredObject, path: string): string {
  let value: unknown = object
  for (const name of path.split('.').filter((part) => part !== '')) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value as string | number | boolean)
}

function deprecationOf({ deprecated, deprecationWarning, name }: DefinitionVersion, { spec: { group, names, versions } }: Definition): string | undefined {
  if (!deprecated) return undefined
  if (deprecationWarning !== undefined && deprecationWarning !== '') return deprecationWarning
  const newer = versions.filter((version) => version.served && !version.deprecated).map((version) => version.name).at(0)
  return `${group}/${name} ${names.kind} is deprecated${newer === undefined ? '' : `; use ${group}/${newer} ${names.kind}`}`
}
