/**
 * The published API documents that the generator reads from a folder.
 *
 * `discovery/` contains the legacy documents (`apis__apps__v1.json`), `openapi-v3/` the OpenAPI ones
 * (`apis__apps__v1_openapi.json`). Only stable versions are used: upstream serves no others by default.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface PublishedResource {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly kind: string
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

/** The resources and subresources of one group version. */
export interface PublishedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly PublishedResource[]
}

export type PublishedSchema = Readonly<Record<string, unknown>>

export interface Published {
  /** In upstream's order of groups, and within a group the preferred version first. */
  readonly versions: readonly PublishedVersion[]
  /** By published name, such as `io.k8s.api.core.v1.Pod`. */
  readonly schemas: ReadonlyMap<string, PublishedSchema>
}

interface GroupList {
  readonly groups: readonly { readonly name: string; readonly versions: readonly { readonly version: string }[] }[]
}

/** Reads the required documents of a folder. */
export function readPublished(folder: string): Published {
  const { groups } = readJson(folder, 'discovery/apis.json') as GroupList
  const served = groups
    .flatMap(({ name, versions }) => versions.map(({ version }) => ({ group: name, version })))
    .filter(({ version }) => isStable(version))
  const core = { group: '', version: 'v1' }
  const versions = [core, ...served].map(({ group, version }) => ({
    group,
    version,
    resources: readResources(folder, pathOf(group, version)),
  }))
  return {
    versions,
    schemas: readSchemas(folder, new Set(versions.map(({ group, version }) => pathOf(group, version)))),
  }
}

function isStable(version: string): boolean {
  return /^v\d+$/.test(version)
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api__${version}` : `apis__${group}__${version}`
}

function readResources(folder: string, path: string): readonly PublishedResource[] {
  return (readJson(folder, `discovery/${path}.json`) as { resources: readonly PublishedResource[] }).resources
}

/** The schemas of all served documents, and of those without a version (discovery itself). */
function readSchemas(folder: string, served: ReadonlySet<string>): Map<string, PublishedSchema> {
  const schemas = new Map<string, PublishedSchema>()
  for (const file of readdirSync(join(folder, 'openapi-v3')).sort()) {
    const path = file.replace(/_openapi\.json$/, '')
    if (/__v\d+[a-z]*\d*$/.test(path) && !served.has(path)) continue
    const { components } = readJson(folder, `openapi-v3/${file}`) as {
      components?: { schemas?: Record<string, PublishedSchema> }
    }
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) schemas.set(name, schema)
  }
  return schemas
}

function readJson(folder: string, path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}
