/**
 * An object by its name alone: what a write needs to know to find it.
 */
import type { KubeObject, Stored, TypeMeta, UnstructuredObject } from '#api'
import type { ObjectName } from '../options.ts'
import { isMetadataKind } from '../mapping/resource.ts'
import type { KindLike, ReadOf } from '../mapping/resource.ts'

/** Type and name of an object; its TypeScript type is that of the kind it was made with. */
export interface ObjectRef<T = unknown> extends TypeMeta {
  readonly metadata: ObjectName
  readonly '~object'?: T
}

/** What a write to an object gives back: the object, in the type it has. */
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
  if (!name) throw new RangeError(`this ${kind} has no metadata.name, so it cannot be found`)
  return { name, ...(namespace !== undefined && { namespace }) }
}
