/**
 * Where an object is kept: `/CLUSTER/GROUP/RESOURCE/NAMESPACE/NAME`.
 *
 * Keys of one resource lie together, sorted by namespace and then by name, as lists are. Names that hold characters
 * a key may not have (RBAC allows nearly anything) are written with `%XX`; `%` itself is in no legal name.
 */
import type { ResourceStorage } from '../resources/resource.ts'

/** The part that all objects of a resource share, or all of one namespace. */
export function keyPrefix(
  cluster: string,
  storage: ResourceStorage,
  { namespace = '' }: { namespace?: string } = {},
): string {
  const root = `/${cluster}/${storage.group === '' ? 'core' : storage.group}/${storage.plural}/`
  return namespace === '' ? root : `${root}${escapeName(namespace)}/`
}

/** The key of one object. */
export function objectKey(
  cluster: string,
  storage: ResourceStorage,
  { namespace = '', name }: { namespace?: string; name: string },
): string {
  return keyPrefix(cluster, storage, { namespace }) + escapeName(name)
}

const plainName = /^[!-$&-.0-~]*$/

function escapeName(name: string): string {
  if (plainName.test(name)) return name
  let escaped = ''
  for (const byte of Buffer.from(name, 'utf8')) {
    const character = String.fromCharCode(byte)
    escaped += plainName.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return escaped
}
