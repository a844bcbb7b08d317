/**
 * An object in the log: the same two fields everywhere.
 */
import { parseKey } from '#api'

interface ObjectFields {
  readonly kind: string
  /** `namespace/name`, or the name alone. */
  readonly object: string
}

/** Of a canonical key. */
export function objectFields(key: string): ObjectFields {
  const { kind, namespace, name } = parseKey(key)
  return { kind, object: namespace === undefined ? name : `${namespace}/${name}` }
}
