/**
 * What a client knows about a kind (path, scope), and references to objects by name.
 */
import {
  formatApiVersion,
  parseApiVersion,
  type InputOf,
  type Kind,
  type KubeObject,
  type ObjectOf,
  type Stored,
  type TypeMeta,
  type UnstructuredObject,
} from '#api'
import type { ObjectName } from './request-options.ts'

/** A kind as a client addresses it. */
export interface Resource extends TypeMeta {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
}

/** A resource of discovery. */
export interface DiscoveredResource extends Resource {
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Names of its subresources: `status`, `scale`. */
  readonly subresources: readonly string[]
}

/** A kind in full, or apiVersion and kind, which discovery completes. */
export type KindLike = Kind | TypeMeta | MetadataKind

/** Metadata of any kind's object, with the type of the object itself. */
type ObjectMetadata = KubeObject

/** A kind of which only metadata is read: see {@link metadataOnly}. */
interface MetadataKind extends TypeMeta {
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

/** The type in which objects of a kind are written; apiVersion and kind may be left out. */
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

// Objects stand for their kinds in many methods, and may have fields of any name; a kind never has metadata.
export function isMetadataKind(kind: KindLike): kind is MetadataKind {
  return 'metadataOnly' in kind && !('metadata' in kind)
}

export function isKind(kind: KindLike): kind is Kind {
  return 'plural' in kind && 'scope' in kind && !('metadata' in kind)
}

/** The resource of a kind in full, without discovery. */
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

/** apiVersion, kind and name of an object; its TypeScript type is that of its kind. */
interface ObjectRef<T = unknown> extends TypeMeta {
  readonly metadata: ObjectName
  readonly '~object'?: T
}

/** The result of a write to an object. */
export type WriteResult<R extends KubeObject> = '~object' extends keyof R
  ? R extends { readonly '~object'?: infer T }
    ? Exclude<T, undefined>
    : never
  : Stored<R>

/**
 * Refers to an object without having read it.
 *
 * @example
 * await client.patch(refTo(Deployment, { name: 'web', namespace: 'shop' }), { spec: { replicas: 3 } })
 */
export function refTo<K extends KindLike>(
  kind: K,
  { name, namespace }: ObjectName,
): ObjectRef<K extends { readonly plural: string } ? ReadOf<K> : Stored<UnstructuredObject>> {
  const { apiVersion, kind: word } = isMetadataKind(kind) ? kind.of : kind
  return { apiVersion, kind: word, metadata: { name, ...(namespace !== undefined && { namespace }) } }
}

/** The name of an object that is written to. @throws {RangeError} when it has none. */
export function nameOf({ kind, metadata }: KubeObject): ObjectName {
  const { name, namespace } = metadata
  if (!name) throw new RangeError(`this ${kind} has no metadata.name: set it, or pass a reference made by refTo`)
  return { name, ...(namespace !== undefined && { namespace }) }
}
