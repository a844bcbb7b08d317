/**
 * Schemas of kinds as a server publishes them, for whoever is no server itself.
 */
import { formatApiVersion, isJsonObject, isNotFound, parseApiVersion } from '#api'
import type { AbortOptions } from '#base'
import type { JsonObject, Schema, SchemaNode } from '#api'
import type { Client } from '#client'

/** Asked once for each group and version, for as long as this lives: make a new one to hear of changes. */
export class PublishedSchemas {
  readonly #client: Client
  readonly #documents = new Map<string, Promise<JsonObject>>()

  constructor(client: Client) {
    this.#client = client
  }

  /** The schema of a kind; undefined when none is published. */
  async find(
    { group, version, kind }: { group: string; version: string; kind: string },
    options: AbortOptions,
  ): Promise<Schema | undefined> {
    const schemas = await this.#schemasOf(formatApiVersion({ group, version }), options)
    const [name] =
      Object.entries(schemas).find(
        ([, schema]) => isJsonObject(schema) && describes(schema, { group, version, kind }),
      ) ?? []
    if (name === undefined) return undefined
    const definitions = (wanted: string): SchemaNode | undefined => nodeOf(schemas, wanted)
    return { name, definitions, root: nodeOf(schemas, name) ?? {} }
  }

  #schemasOf(apiVersion: string, options: AbortOptions): Promise<JsonObject> {
    let document = this.#documents.get(apiVersion)
    if (document === undefined) this.#documents.set(apiVersion, (document = this.#ask(apiVersion, options)))
    return document
  }

  async #ask(apiVersion: string, options: AbortOptions): Promise<JsonObject> {
    const root = parseApiVersion(apiVersion).group === '' ? 'api' : 'apis'
    try {
      const document = (await this.#client.raw({ path: `/openapi/v3/${root}/${apiVersion}` }, options)).json()
      const components = document['components']
      const schemas = isJsonObject(components) ? components['schemas'] : undefined
      return isJsonObject(schemas) ? schemas : {}
    } catch (error) {
      if (isNotFound(error)) return {}
      throw error
    }
  }
}

function nodeOf(schemas: JsonObject, name: string): SchemaNode | undefined {
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  return isJsonObject(schema) ? (schema as unknown as SchemaNode) : undefined
}

function describes(
  schema: JsonObject,
  { group, version, kind }: { group: string; version: string; kind: string },
): boolean {
  const names = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(names) &&
    names.some(
      (name) => isJsonObject(name) && name['group'] === group && name['version'] === version && name['kind'] === kind,
    )
  )
}
