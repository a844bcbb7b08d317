/**
 * Modules of typed kinds, one for each group version: its kinds as values, and all types they need, each with a value
 * of the same name for `schemaOf`.
 *
 * One line per type: the files are for compilers and editors, and short enough to search.
 */
import { shortName } from '../generate/definitions.ts'
import type { Published, PublishedResource, PublishedSchema, PublishedVersion } from '../generate/source.ts'
import { fieldsOf, meaningOf, mentions } from './types.ts'

/** Types that the api layer has: the module of their group version exports them too, so that they have values. */
const sharedModule = 'meta.v1'
const sharedTypes = ['Condition', 'LabelSelector', 'LabelSelectorRequirement', 'ObjectMeta', 'OwnerReference'].map(
  (own) => ({ own, from: `Api${own}` }),
)

/** Types by short name, and the module of each kind. */
interface Sources {
  readonly schemas: ReadonlyMap<string, PublishedSchema>
  readonly versions: ReadonlyMap<string, PublishedVersion>
}

/** File (`apps/v1.ts`) to text. */
export function renderKinds({ versions, schemas }: Published): Map<string, string> {
  const sources: Sources = {
    schemas: new Map([...schemas].map(([name, schema]) => [shortName(name), schema])),
    versions: new Map(versions.map((version) => [moduleOf(version), version])),
  }
  const modules = new Map<string, string[]>()
  for (const short of reachable(sources)) {
    const at = short.lastIndexOf('.')
    modules.set(short.slice(0, at), [...(modules.get(short.slice(0, at)) ?? []), short.slice(at + 1)])
  }
  return new Map(
    [...modules]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([module, names]) => [`${module.replace('.', '/')}.ts`, renderModule(module, names.sort(), sources)]),
  )
}

function renderModule(module: string, names: readonly string[], { schemas, versions }: Sources): string {
  const version = versions.get(module)
  const kinds = version ? kindsOf(version) : []
  const imports = new Map<string, Set<string>>()
  const name = namer(module, imports)
  const kindNames = new Set(names.filter((own) => isObject(schemas.get(`${module}.${own}`))))
  if (kindNames.size > 0) name('#KubeObject')
  if (kinds.length > 0) name('#Kind')
  const shared = module === sharedModule ? sharedTypes : []
  const schemaNames = [...names.filter((own) => !kindNames.has(own)), ...shared.map(({ own }) => own)]
  if (schemaNames.length > 0) name('#BuiltinType')
  const types = names.map((own) => {
    const schema = schemas.get(`${module}.${own}`) ?? {}
    if (!kindNames.has(own)) return `export interface ${own} { ${fieldsOf(schema, name)} }`.replace('{  }', '{}')
    return `export interface ${own} extends KubeObject { ${fieldsOf(schema, name, { without: ['apiVersion', 'kind', 'metadata'] })} }`.replace(
      '{  }',
      '{}',
    )
  })
  const values = [
    ...schemaNames.map((own) => `export const ${own}: BuiltinType<${own}> = { builtinType: '${module}.${own}' }`),
    ...kinds.map((resource) => renderKind(resource, version as PublishedVersion)),
  ]
  const heads = [
    ...(kinds.length > 0 ? ["import { declareKind } from '#api'"] : []),
    ...[...imports].map(([from, taken]) => `import type { ${[...taken].sort().join(', ')} } from '${from}'`),
  ]
  const aliases = shared.map(({ own, from }) => `export type ${own} = ${from}`)
  if (shared.length > 0)
    heads.push(`import type { ${shared.map(({ own, from }) => `${own} as ${from}`).join(', ')} } from '#api'`)
  return [header(module), ...heads, '', ...types, ...aliases, ...(values.length > 0 ? ['', ...values] : []), ''].join(
    '\n',
  )
}

/** Writes references and records the imports they need. */
function namer(module: string, imports: Map<string, Set<string>>): (short: string) => string {
  const take = (from: string, what: string): void => {
    imports.set(from, (imports.get(from) ?? new Set()).add(what))
  }
  const name = (short: string): string => {
    const meaning = short.startsWith('#') ? short : meaningOf(short)
    if (meaning?.startsWith('#')) {
      take('#api', meaning.slice(1))
      return meaning.slice(1)
    }
    if (meaning !== undefined) return meaning
    const at = short.lastIndexOf('.')
    const [home, own] = [short.slice(0, at), short.slice(at + 1)]
    if (home === module) return own
    // Two versions may have types of the same name: imported ones carry their origin.
    const alias = `${capital(home.replace(/\W(.)/g, (_, letter: string) => letter.toUpperCase()))}${own}`
    take(relativePath(module, home), `${own} as ${alias}`)
    return alias
  }
  return name
}

function renderKind(
  { kind, name: plural, singularName, namespaced, shortNames, categories }: PublishedResource,
  { group, version, resources }: PublishedVersion,
): string {
  const has = (part: string): boolean => resources.some(({ name }) => name === `${plural}/${part}`)
  const declaration = {
    group,
    version,
    kind,
    plural,
    ...(singularName !== '' && { singular: singularName }),
    ...(!namespaced && { scope: 'Cluster' }),
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(!has('status') && { statusSubresource: false }),
    ...(has('scale') && { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }),
  }
  return `export const ${kind}: Kind<${kind}> = /* @__PURE__ */ declareKind<${kind}>(${literal(declaration)})`
}

/** Every type that a kind of a stable version needs, without lists and options. */
function reachable({ schemas, versions }: Sources): Set<string> {
  const found = new Set<string>()
  const pending = [...schemas.keys()].filter((short) => {
    const [, kind = ''] = /\.([^.]+)$/.exec(short) ?? []
    return versions.has(short.slice(0, -kind.length - 1)) && isObject(schemas.get(short)) && !kind.endsWith('List')
  })
  for (let short = pending.pop(); short !== undefined; short = pending.pop()) {
    if (found.has(short) || short.startsWith('#') || meaningOf(short) !== undefined) {
      // A primitive alias may still mention one of ours.
      if (short.startsWith('apiextensions.v1.JSONSchemaPropsOr')) pending.push('apiextensions.v1.JSONSchemaProps')
      continue
    }
    found.add(short)
    pending.push(...mentions(schemas.get(short) ?? {}))
  }
  return found
}

/** Whether a schema is that of a kind: it has object metadata and a type. */
function isObject(schema: PublishedSchema | undefined): boolean {
  const { metadata, apiVersion, kind } = (schema?.['properties'] ?? {}) as Record<string, PublishedSchema | undefined>
  return (
    schema?.['x-kubernetes-group-version-kind'] !== undefined &&
    apiVersion !== undefined &&
    kind !== undefined &&
    JSON.stringify(metadata ?? '').includes('meta.v1.ObjectMeta')
  )
}

function kindsOf({ resources }: PublishedVersion): readonly PublishedResource[] {
  return resources.filter(({ name }) => !name.includes('/'))
}

/** `apps.v1`, `core.v1`, `networking.v1`: the prefix of short names. */
function moduleOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return `${group === '' ? 'core' : group.split('.')[0]}.${version}`
}

function relativePath(from: string, to: string): string {
  const [[fromGroup], [toGroup, toVersion]] = [from.split('.'), to.split('.')]
  return fromGroup === toGroup ? `./${toVersion}.ts` : `../${toGroup}/${toVersion}.ts`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, part]) => `${key}: ${literal(part)}`)
      .join(', ')} }`
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function header(module: string): string {
  return [
    '/**',
    ` * The built-in kinds of ${module.replace('.', '/')} and their types.`,
    ' *',
    ' * Generated by tools/generate-kinds: do not edit. Derived from the published API documents of Kubernetes 1.36,',
    ' * Copyright The Kubernetes Authors, licensed under the Apache License 2.0.',
    ' */',
  ].join('\n')
}
