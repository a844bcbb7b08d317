/**
 * The catalog of built-in resources: generated records joined with hand-written strategies and columns.
 *
 * The order is that of discovery in kube-apiserver: core first, then groups by priority, and within a group the preferred
 * version first. Schemas are looked up on demand, so creating the catalog takes well under a millisecond.
 */
import type { Schema, SchemaNode } from 'evenkeel/unstable/builtins'
import { assert } from 'evenkeel/unstable/builtins'
import type { TableColumns } from './columns/column.ts'
import { recordTexts } from './generated/records.ts'
import type { Resource, ResourceStorage, ResourceStrategy, Subresource, SubresourceRole, Verb } from './resource.ts'
import { builtinSchemas, schemaName } from './schemas.ts'

/** The hand-written parts of a kind. */
interface CatalogParts {
  strategyFor(group: string, kind: string): ResourceStrategy
  columnsFor(group: string, kind: string): TableColumns
}

/** One generated resource; absent means: all eight verbs, cluster scope, stored under its own names. */
interface PackedResource {
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced?: true
  readonly verbs?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly virtual?: true
  readonly storage?: readonly [group: string, version: string, kind: string, plural: string]
  readonly subresources?: readonly PackedSubresource[]
}

type PackedSubresource = readonly [name: string, verbs: string, kind?: string, group?: string, version?: string]

interface PackedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly PackedResource[]
}

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Every built-in resource, in discovery order; records are shared and immutable. */
export function makeCatalog(parts: CatalogParts): readonly Resource[] {
  // Tests and simulations start thousands of servers in one process.
  if (last?.parts.strategyFor === parts.strategyFor && last.parts.columnsFor === parts.columnsFor) return last.resources
  const resources = unpackAll(parts)
  last = { parts, resources }
  return resources
}

let last: { readonly parts: CatalogParts; readonly resources: readonly Resource[] } | undefined

function unpackAll(parts: CatalogParts): Resource[] {
  return recordTexts.flatMap((text) => {
    const { group, version, resources } = JSON.parse(text) as PackedVersion
    return resources.map((packed) => unpack(packed, { group, version, parts }))
  })
}

interface UnpackContext {
  readonly group: string
  readonly version: string
  readonly parts: CatalogParts
}

function unpack(packed: PackedResource, { group, version, parts }: UnpackContext): Resource {
  const { kind, plural, singular } = packed
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular,
    shortNames: packed.shortNames ?? [],
    categories: packed.categories ?? [],
    scope: packed.namespaced ? 'Namespaced' : 'Cluster',
    verbs: packed.verbs === undefined ? allVerbs : toVerbs(packed.verbs),
    subresources: (packed.subresources ?? []).map((subresource) =>
      unpackSubresource(subresource, { group, version, kind }),
    ),
    storage: storageOf(packed, { group, version, parts }),
    schema: new BuiltinSchema(schemaName({ group, version, kind })),
    custom: false,
    ...(packed.virtual && { virtual: packed.virtual }),
    ...(group === '' && kind === 'Namespace' && { isNamespace: true as const }),
    strategy: parts.strategyFor(group, kind),
    columns: parts.columnsFor(group, kind),
  }
}

function unpackSubresource(
  [name, verbs, kind, group, version]: PackedSubresource,
  parent: { group: string; version: string; kind: string },
): Subresource {
  return {
    name,
    role: subresourceRoles[name] ?? 'unavailable',
    verbs: toVerbs(verbs),
    kind: kind ?? parent.kind,
    group: group ?? parent.group,
    version: version ?? parent.version,
  }
}

const subresourceRoles: Readonly<Record<string, SubresourceRole | undefined>> = {
  status: 'part',
  finalize: 'part',
  approval: 'part',
  ephemeralcontainers: 'part',
  resize: 'part',
  scale: 'scale',
  eviction: 'eviction',
  binding: 'binding',
  token: 'token',
}

function storageOf({ kind, plural, storage }: PackedResource, { group, version }: UnpackContext): ResourceStorage {
  if (!storage) return { group, plural, version, kind }
  return { group: storage[0], version: storage[1], kind: storage[2], plural: storage[3] }
}

function toVerbs(text: string): readonly Verb[] {
  return text.split(' ') as Verb[]
}

/** The schema of a built-in kind, parsed on first use. */
class BuiltinSchema implements Schema {
  readonly definitions = builtinSchemas
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  get root(): SchemaNode {
    const root = builtinSchemas(this.name)
    assert(root, `no definition ${this.name}`)
    return root
  }
}
