/**
 * The identity of an object: which cluster, which kind, which namespace, which name.
 *
 * The version of a kind is no part of it: `apps/v1` and `apps/v1beta1` show the same Deployment. The canonical text
 * is what queues, caches and indexes use as a map key:
 *
 *     cluster / group / kind / namespace / name        "/" and "%" inside a part are written %2F and %25
 *     default/apps/Deployment/web/front                default//Node//worker-1
 *
 * Invariants: two keys are equal exactly when their texts are; parsing undoes formatting for every text, odd
 * characters and lone surrogates included.
 */
import { parseApiVersion } from './group-version.ts'
import type { KubeObject } from './object.ts'

/** The cluster id of a process that talks to one cluster only. */
export const defaultCluster = 'default'

/** Which object a reconcile is about: cluster, group and kind, namespace and name, without a version. */
export interface ObjectKey {
  readonly cluster: string
  /** The API group, empty for the core group. */
  readonly group: string
  readonly kind: string
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
}

/** The canonical text of a key. An empty namespace is the same as none. */
export function formatKey({ cluster, group, kind, namespace = '', name }: ObjectKey): string {
  return `${escapePart(cluster)}/${escapePart(group)}/${escapePart(kind)}/${escapePart(namespace)}/${escapePart(name)}`
}

/**
 * Reads a canonical text back.
 *
 * @throws {RangeError} when the text was not made by {@link formatKey}.
 */
export function parseKey(text: string): ObjectKey {
  const parts = text.split('/').map(unescapePart)
  const [cluster = '', group = '', kind = '', namespace = '', name = ''] = parts
  if (parts.length !== 5) {
    throw new RangeError(`an object key looks like cluster/group/kind/namespace/name, got ${JSON.stringify(text)}`)
  }
  return { cluster, group, kind, ...(namespace !== '' && { namespace }), name }
}

export function equalKeys(a: ObjectKey, b: ObjectKey): boolean {
  const sameKind = a.kind === b.kind && a.group === b.group && a.cluster === b.cluster
  return sameKind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
}

/**
 * The key of an object.
 *
 * @throws {RangeError} when the object has no name yet (`generateName` alone is no identity).
 */
export function keyOf(object: KubeObject, { cluster = defaultCluster }: { cluster?: string } = {}): ObjectKey {
  const { name, namespace } = object.metadata
  if (!name) throw new RangeError(`this ${object.kind} has no metadata.name, so it has no key yet`)
  const { group } = parseApiVersion(object.apiVersion)
  return { cluster, group, kind: object.kind, ...(namespace && { namespace }), name }
}

function escapePart(part: string): string {
  return part.replace(/[%/]/g, (character) => (character === '%' ? '%25' : '%2F'))
}

function unescapePart(part: string): string {
  return part.replace(/%(..?)?/gs, (sequence) => {
    if (sequence === '%25') return '%'
    if (sequence === '%2F') return '/'
    throw new RangeError(`${JSON.stringify(sequence)} is no escape sequence of an object key`)
  })
}
