/**
 * Objects reduced to their metadata, for clients that only want to know what there is.
 *
 * Invariant: metadata is shared with the original, not copied; objects are frozen.
 */
import type { KubeObject, ListMeta, ObjectList } from '#api'

/** The versions in which tables and partial objects exist; they differ in nothing but the name. */
export type MetaVersion = 'v1' | 'v1beta1'

/** An object without everything but its metadata. The kind it had cannot be told any more. */
export function metadataOnly(
  { metadata }: KubeObject,
  { version = 'v1' }: { readonly version?: MetaVersion } = {},
): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata }
}

interface MetadataListOptions {
  readonly metadata?: ListMeta
  readonly version?: MetaVersion
}

/** A list of objects without everything but their metadata. */
export function metadataListOnly(
  objects: readonly KubeObject[],
  { metadata = {}, version = 'v1' }: MetadataListOptions = {},
): ObjectList<KubeObject> {
  const items = objects.map((object) => metadataOnly(object, { version }))
  return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata, items }
}
