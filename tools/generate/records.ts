/**
 * The kind records: names, verbs and storage of everything that is served.
 *
 * The stored version is not published, but its hash is. The generator finds it by trying the known versions,
 * so two resources for the same objects (core and events.k8s.io Events) find the same storage.
 */
import { createHash } from 'node:crypto'
import { shortName } from './definitions.ts'
import type { Published, PublishedResource, PublishedVersion } from './source.ts'

/** One resource; by default all eight verbs, not namespaced, stored under its own names, no other names. */
export interface Packed {
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly namespaced?: true
  readonly verbs?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly virtual?: true
  readonly storage?: StorageName
  /** Name, verbs and, when they differ from the resource's, kind, group and version. */
  readonly subresources?: readonly (readonly string[])[]
}

export interface PackedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly Packed[]
}

type StorageName = readonly [group: string, version: string, kind: string, plural: string]

const allVerbs = 'create delete deletecollection get list patch update watch'

export function packRecords({ versions, schemas }: Published): PackedVersion[] {
  const storages = storagesByHash(versions)
  const definitions = new Set([...schemas.keys()].map(shortName))
  return versions.map((version) => {
    const resources = version.resources.filter(({ name }) => !name.includes('/'))
    for (const { kind } of resources) checkDefinition(version, kind, definitions)
    return {
      group: version.group,
      version: version.version,
      resources: resources.map((resource) => pack(resource, version, storages)),
    }
  })
}

function pack(
  resource: PublishedResource,
  version: PublishedVersion,
  storages: ReadonlyMap<string, StorageName>,
): Packed {
  const { kind, name, singularName, namespaced, verbs, shortNames, categories, storageVersionHash } = resource
  const storage = storages.get(storageVersionHash ?? '')
  const isElsewhere = storage && (storage[0] !== version.group || storage[1] !== version.version)
  const subresources = version.resources
    .filter((other) => other.name.startsWith(`${name}/`))
    .map((other) => packSubresource(other, kind))
  return {
    kind,
    plural: name,
    singular: singularName,
    ...(namespaced && { namespaced }),
    ...(verbs.join(' ') !== allVerbs && { verbs: verbs.join(' ') }),
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(storageVersionHash === undefined && { virtual: true }),
    ...(isElsewhere && { storage }),
    ...(subresources.length > 0 && { subresources }),
  }
}

function packSubresource({ name, verbs, kind, group, version }: PublishedResource, parentKind: string): string[] {
  const packed = [name.slice(name.indexOf('/') + 1), verbs.join(' ')]
  if (group !== undefined && version !== undefined) return [...packed, kind, group, version]
  return kind === parentKind ? packed : [...packed, kind]
}

/** The first resource with a hash wins, so the group that upstream lists first owns shared objects. */
function storagesByHash(versions: readonly PublishedVersion[]): Map<string, StorageName> {
  const storages = new Map<string, StorageName>()
  for (const { group, version, resources } of versions) {
    for (const { name, kind } of resources) {
      const hash = createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
      if (!name.includes('/') && !storages.has(hash)) storages.set(hash, [group, version, kind, name])
    }
  }
  return storages
}

/** The server finds the schema of a kind by a naming rule, so the rule must hold for every generated kind. */
function checkDefinition({ group, version }: PublishedVersion, kind: string, definitions: ReadonlySet<string>): void {
  const name = `${group === '' ? 'core' : group.split('.')[0]}.${version}.${kind}`
  if (!definitions.has(name)) throw new RangeError(`kind ${kind} of ${group}/${version} has no definition ${name}`)
}
