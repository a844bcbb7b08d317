/**
 * Marks: what is written on a thing outside so that it is known whose it is.
 *
 * They name the installation, the kind, the object and its uid, because each of these alone comes back: names are used
 * again, and two clusters share one account. Whoever can write on a thing can forge them, so there may be a seal.
 */
import { createHash, createHmac } from 'node:crypto'
import { getOwn, isJsonObject } from '#api'
import type { Kind, KubeObject } from '#api'

/** Plain texts, so that they fit into labels, tags or a description. */
export interface OwnershipLabels {
  /** Which installation of which program. */
  readonly instance: string
  /** `Shape.demo.example.com` */
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Of this format. */
  readonly version: string
  /** `owned`, or `orphaned` when its object let go of it. */
  readonly state: string
  /** Proof that whoever wrote the marks knew the secret; empty without one. */
  readonly seal: string
}

export interface OwnershipIdentity {
  readonly instance: string
  readonly kind: Pick<Kind, 'group' | 'kind'>
  readonly secret: string | undefined
}

const version = '1'
const labelNames = ['instance', 'kind', 'namespace', 'name', 'uid', 'version', 'state', 'seal'] as const

export function makeOwnershipLabels(
  { metadata: { namespace = '', name = '', uid = '' } }: KubeObject,
  marker: OwnershipIdentity,
  { state = 'owned' }: { state?: 'owned' | 'orphaned' } = {},
): OwnershipLabels {
  const labels = { instance: marker.instance, kind: kindLabel(marker), namespace, name, uid, version, state }
  return { ...labels, seal: sealOf(labels, marker.secret) }
}

/** The marks of a thing, whatever it gave for them; undefined when there are none that we know. */
export function readOwnershipLabels(given: unknown): OwnershipLabels | undefined {
  if (!isJsonObject(given)) return undefined
  const labels: Record<string, string> = {}
  for (const name of labelNames) {
    const value =
      getOwn(given, name) ?? (name === 'seal' || name === 'namespace' ? '' : name === 'state' ? 'owned' : undefined)
    if (typeof value !== 'string') return undefined
    labels[name] = value
  }
  return labels as unknown as OwnershipLabels
}

/** Whose a thing is, by its marks. */
export type Ownership =
  /** Of the object that was asked about. */
  | 'ours'
  | 'unmarked'
  | 'otherInstance'
  | 'otherKind'
  /** Of another object of this kind. */
  | 'otherObject'
  /** An object let go of it. */
  | 'orphaned'
  /** The seal is not ours. */
  | 'forged'

export function checkOwnership(given: unknown, marker: OwnershipIdentity, uid: string): Ownership {
  const labels = readOwnershipLabels(given)
  if (!labels) return 'unmarked'
  if (labels.instance !== marker.instance) return 'otherInstance'
  if (labels.kind !== kindLabel(marker)) return 'otherKind'
  if (marker.secret !== undefined && labels.seal !== sealOf(labels, marker.secret)) return 'forged'
  if (labels.state === 'orphaned') return 'orphaned'
  return labels.uid === uid ? 'ours' : 'otherObject'
}

export function kindLabel({ kind: { group, kind } }: Pick<OwnershipIdentity, 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`
}

function sealOf(
  { instance, kind, namespace, name, uid, state }: Omit<OwnershipLabels, 'seal'>,
  secret: string | undefined,
): string {
  return secret === undefined
    ? ''
    : createHmac('sha256', secret)
        .update(JSON.stringify([instance, kind, namespace, name, uid, state]))
        .digest('hex')
        .slice(0, 40)
}

/** The beginning of all names that this installation chooses. */
export function namePrefix({ instance }: Pick<OwnershipIdentity, 'instance'>): string {
  return `ek-${instance}-`
}

/** The name that is made for an object: 60 bits of its uid, so that it fits where names are short. */
export function resourceNameFor(marker: Pick<OwnershipIdentity, 'instance'>, uid: string): string {
  return `${namePrefix(marker)}${shortHash(uid)}`
}

/** Fifteen characters for any text. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 15)
}
