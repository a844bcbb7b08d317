/**
 * The types a validating policy is about, as far as its rules name them: patterns with `*` name none.
 */
import { compareText, isJsonObject, parseApiVersion } from '#api'
import type { AbortOptions } from '#base'
import type { JsonObject, JsonValue, PolicyTypes } from '#api'
import type { Client, DiscoveredResource } from '#client'
import { PublishedSchemas } from './published-schemas.ts'

/** More types than this nobody checks. */
const typesMax = 10

export async function findTypes(spec: JsonObject, client: Client, options: AbortOptions): Promise<PolicyTypes> {
  const schemas = new PublishedSchemas(client)
  const objects: { name: string; schema: NonNullable<PolicyTypes['params']> }[] = []
  for (const { group, version, kind } of resourcesIn(spec, await client.resources({ ...options, reload: true }))) {
    const schema = await schemas.find({ group, version, kind }, options)
    if (schema) objects.push({ name: `${group}/${version}, Kind=${kind}`, schema })
  }
  const params = paramKindOf(spec)
  return { objects, ...(params && { params: await schemas.find(params, options) }) }
}

function paramKindOf({ paramKind }: JsonObject): { group: string; version: string; kind: string } | undefined {
  if (!isJsonObject(paramKind)) return undefined
  return { ...parseApiVersion(String(paramKind['apiVersion'])), kind: String(paramKind['kind']) }
}

/** Each kind once, sorted by group, version and kind. */
function resourcesIn(spec: JsonObject, served: readonly DiscoveredResource[]): readonly DiscoveredResource[] {
  const match = spec['matchConstraints']
  const rules =
    isJsonObject(match) && Array.isArray(match['resourceRules']) ? match['resourceRules'].filter(isJsonObject) : []
  const found = new Map<string, DiscoveredResource>()
  for (const rule of rules) {
    for (const resource of served)
      if (found.size < typesMax && names(rule, resource)) found.set(sortKey(resource), resource)
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, resource]) => resource)
}

function sortKey({ group, version, kind }: DiscoveredResource): string {
  return [group, version, kind].join('\0')
}

function names(
  { apiGroups, apiVersions, resources }: JsonObject,
  { group, version, plural }: DiscoveredResource,
): boolean {
  return (
    isNamed(apiGroups, group) && isNamed(apiVersions, version) && Array.isArray(resources) && resources.includes(plural)
  )
}

/** One `*` among names makes them all say nothing. */
function isNamed(list: JsonValue | undefined, name: string): boolean {
  return Array.isArray(list) && list.includes(name) && !list.some((one) => String(one).includes('*'))
}
