/**
 * A cross-check of JSON names: the published OpenAPI schemas must list the same properties as the tables.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Table } from './tables.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
}

/** One sentence per message whose properties differ; messages without a schema are skipped. */
export function compareWithOpenApi(tables: readonly Table[], folder: string): string[] {
  const schemas = readSchemas(folder)
  const lines = new Map(
    tables.flatMap(({ apiVersion, lines }) => lines.map((line) => [`${apiVersion}#${nameOf(line)}`, line])),
  )
  return tables.flatMap(({ apiVersion, goPackage, lines: own }) =>
    own.flatMap((line) => {
      const properties = schemas.get(`${schemaPrefix(goPackage)}.${nameOf(line)}`)?.properties
      return properties
        ? difference(`${apiVersion}#${nameOf(line)}`, Object.keys(properties), namesOf(line, apiVersion, lines))
        : []
    }),
  )
}

function readSchemas(folder: string): Map<string, Schema> {
  const documents = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map(
      (name) =>
        JSON.parse(readFileSync(join(folder, name), 'utf8')) as { components?: { schemas?: Record<string, Schema> } },
    )
  return new Map(documents.flatMap(({ components }) => Object.entries(components?.schemas ?? {})))
}

/** `k8s.io/api/core/v1` is `io.k8s.api.core.v1` there. */
function schemaPrefix(goPackage: string): string {
  const [, ...path] = goPackage.split('/')
  return ['io', 'k8s', ...path].join('.')
}

function nameOf(line: string): string {
  return line.split(' ')[0]?.replace('!', '') ?? ''
}

/** The JSON names of a message, including those of inlined messages. */
function namesOf(line: string, apiVersion: string, lines: ReadonlyMap<string, string>): string[] {
  const [name = '', ...fields] = line.split(' ')
  const own = fields.flatMap((field) => {
    const [json = '', rest = ''] = field.split('=')
    if (json !== '') return [json]
    const type = rest.replace(/^\d+[*?]?/, '')
    const key = type.includes('#') ? type : `${apiVersion}#${type}`
    return namesOf(lines.get(key) ?? '', key.split('#')[0] ?? '', lines)
  })
  return name.endsWith('!') ? ['apiVersion', 'kind', ...own] : own
}

function difference(what: string, published: readonly string[], ours: readonly string[]): string[] {
  const missing = published.filter((name) => !ours.includes(name))
  const extra = ours.filter((name) => !published.includes(name))
  return missing.length + extra.length === 0
    ? []
    : [
        `${what}: only in OpenAPI: ${missing.join(', ') || 'nothing'}; only in protobuf: ${extra.join(', ') || 'nothing'}`,
      ]
}
