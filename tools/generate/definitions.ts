/**
 * Schema definitions in the form that the server stores: short names, no descriptions, grouped by package.
 *
 * `io.k8s.api.core.v1.Pod` becomes `core.v1.Pod`; the server expands short names with
 * the same table, which is why {@link prefixes} is part of the output.
 */
import type { PublishedSchema } from './source.ts'

/** The meaning of the first word of a short name; any other word follows `io.k8s.api.`. */
export const prefixes: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  quantity: 'io.k8s.apimachinery.pkg.api.resource',
  intstr: 'io.k8s.apimachinery.pkg.util.intstr',
  runtime: 'io.k8s.apimachinery.pkg.runtime',
  version: 'io.k8s.apimachinery.pkg.version',
}

/** Kinds that every group version has: their versions are known only when a document is built. */
const sharedKinds = new Set(['meta.v1.DeleteOptions', 'meta.v1.WatchEvent'])

export function shortName(published: string): string {
  for (const [word, prefix] of Object.entries(prefixes)) {
    if (published.startsWith(`${prefix}.`)) return word + published.slice(prefix.length)
  }
  if (!published.startsWith('io.k8s.api.')) throw new RangeError(`no short name for ${published}`)
  return published.slice('io.k8s.api.'.length)
}

/** Package to JSON text of its definitions by last word: `core.v1` to `{"Pod": ...}`. */
export function packDefinitions(schemas: ReadonlyMap<string, PublishedSchema>): Map<string, string> {
  const packages = new Map<string, Map<string, unknown>>()
  for (const name of [...schemas.keys()].sort()) {
    const short = shortName(name)
    const at = short.lastIndexOf('.')
    const definitions = packages.get(short.slice(0, at)) ?? new Map<string, unknown>()
    packages.set(short.slice(0, at), definitions.set(short.slice(at + 1), definitionOf(short, schemas.get(name))))
  }
  return new Map(
    [...packages]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, definitions]) => [name, JSON.stringify(Object.fromEntries(definitions))]),
  )
}

function definitionOf(short: string, schema: PublishedSchema | undefined): unknown {
  const { 'x-kubernetes-group-version-kind': kinds, ...rest } = schema ?? {}
  const keepsKinds = kinds !== undefined && !sharedKinds.has(short)
  return compact(keepsKinds ? { ...rest, 'x-kubernetes-group-version-kind': kinds } : rest)
}

/** Drops descriptions and shortens references. Names of properties are data: a property called `description` stays. */
function compact(schema: PublishedSchema): PublishedSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== 'description')
      .map(([key, value]) => [key, compactValue(key, value)]),
  )
}

function compactValue(key: string, value: unknown): unknown {
  switch (key) {
    case '$ref':
      return shortName(String(value).replace('#/components/schemas/', ''))
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Record<string, PublishedSchema>).map(([name, schema]) => [name, compact(schema)]),
      )
    case 'items':
    case 'not':
      return compact(value as PublishedSchema)
    case 'additionalProperties':
      return typeof value === 'boolean' ? value : compact(value as PublishedSchema)
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return (value as PublishedSchema[]).map(compact)
    default:
      return value
  }
}
