/**
 * An object in the log: the same two fields everywhere.
 */
import type { ObjectKey } from '#api'

export interface ObjectFields {
  readonly kind: string
  /** `namespace/name`, or the name alone. */
  readonly object: string
}

export function objectFields({ kind, namespace, name }: ObjectKey): ObjectFields {
  return { kind, object: namespace === undefined ? name : `${namespace}/${name}` }
}
