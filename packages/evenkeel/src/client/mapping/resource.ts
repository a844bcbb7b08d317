/**
 * What a client must know about a kind to find its objects: the path, and whether it has namespaces.
 */
import { formatApiVersion, parseApiVersion } from '#api'
import type { InputOf, Kind, KubeObject, ObjectOf, Stored, TypeMeta, UnstructuredObject } from '#api'

/** A kind as a client addresses it. */
export interface Resource extends TypeMeta {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
}

/** A resource as discovery tells of it. */
export interface DiscoveredResource extends Resource {
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Names of its subresources: `status`, `scale`. */
  readonly subresources: readonly string[]
}

/** A kind in full, or two words about one that discovery will complete. */
export type KindLike = Kind | TypeMeta | MetadataKind

/** Metadata of any kind's object, with the type of the object itself. */
export type ObjectMetadata = KubeObject

/** A kind of which only metadata is read: see {@link metadataOnly}. */
export interface MetadataKind extends TypeMeta {
  readonly metadataOnly: true
  readonly of: Kind | TypeMeta
  readonly '~types'?: { readonly object: ObjectMetadata; readonly input: never }
}

/** The type in which objects of a kind are read. */
export type ReadOf<K> = K extends { readonly plural: string }
  ? StoredOf<ObjectOf<K>>
  : K extends { readonly metadataOnly: true }
    ? Stored<ObjectMetadata>
    : Stored<UnstructuredObject>

/** The type in which objects of a kind are written; type and kind may be left out, the kind says them. */
export type WrittenOf<K> = K extends { readonly plural: string }
  ? Omit<InputOf<K>, 'apiVersion' | 'kind'> & Partial<TypeMeta>
  : Omit<UnstructuredObject, 'apiVersion' | 'kind'> & Partial<TypeMeta>

type StoredOf<T> = T extends KubeObject ? Stored<T> : never

/**
 * The same kind, of which a client gets, lists and watches metadata alone: a tenth of the bytes.
 *
 * @example
 * for (const { metadata } of (await client.list(metadataOnly(Pod))).items) console.log(metadata.name)
 */
export function metadataOnly(kind: Kind | TypeMeta): MetadataKind {
  return Object.freeze({ apiVersion: kind.apiVersion, kind: kind.kind, metadataOnly: true as const, of: kind })
}

// Objects stand for their kinds in many calls, and may have fields of any name; a kind never has metadata.
export function isMetadataKind(kind: KindLike): kind is MetadataKind {
  return 'metadataOnly' in kind && !('metadata' in kind)
}

export function isKind(kind: KindLike): kind is Kind {
  return 'plural' in kind && 'scope' in kind && !('metadata' in kind)
}

/** What a kind in full says without anybody being asked. */
export function resourceOf({ group, version, kind, plural, scope }: Kind): Resource {
  return {
    apiVersion: formatApiVersion({ group, version }),
    group,
    version,
    kind,
    plural,
    namespaced: scope === 'Namespaced',
  }
}

export function formatKindName({ apiVersion, kind }: TypeMeta): string {
  const { group, version } = parseApiVersion(apiVersion)
  return group === '' ? `${kind} (${version})` : `${kind} (${group}/${version})`
}
