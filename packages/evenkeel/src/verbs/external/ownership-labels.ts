/**
 * Ownership labels: stored with an external resource to prove which object owns it.
 *
 * They name instance, kind, object and UID, because none of these is unique on its own: names are reused, and two
 * clusters may share one account. Labels can be forged by everyone with write access to the resource, so with a secret
 * they carry a seal: an HMAC over the other fields. Changing or copying a field to another object breaks the seal.
 *
 *   { instance: 'prod', kind: 'Shape.demo.example.com', namespace: 'a', name: 'foo', uid: '7d3f…', version: '1',
 *     state: 'owned', seal: '5c1e…' }
 *
 *   uid 7d3f… ──▶ ours     another uid ──▶ otherObject     instance 'test' ──▶ otherInstance     name 'bar' ──▶ forged
 */
import { createHmac } from 'node:crypto'
import { getOwn, isJsonObject } from '#api'
import type { Kind, KubeObject } from '#api'
import { shortHash } from '../digest.ts'

// A type, because an interface is no `Record<string, string>`.
/**
 * Strings only, so that they fit into labels, tags or a description: the installation of the program (`instance`), the
 * kind (`Shape.demo.example.com`), the object, the `version` of this format, the `state` (`owned`, or `orphaned` after the
 * object was deleted without deleting the resource), and the `seal`: an HMAC with the secret over the other fields.
 */
export type OwnershipLabels = {
  /** The installation of the program. */
  readonly instance: string
  /** `Shape.demo.example.com` */
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Version of this format. */
  readonly version: string
  /** `owned`, or `orphaned` after its object was deleted without deleting the resource. */
  readonly state: string
  /** HMAC with the secret over the other fields; empty without a secret. */
  readonly seal: string
}

/** What all ownership labels of one verb have in common. */
export interface OwnershipIdentity {
  readonly instance: string
  readonly kind: Pick<Kind, 'group' | 'kind'>
  readonly secret: string | undefined
}

const version = '1'
const labelNames = ['instance', 'kind', 'namespace', 'name', 'uid', 'version', 'state', 'seal'] as const

export function makeOwnershipLabels(
  { metadata: { namespace = '', name = '', uid = '' } }: KubeObject,
  identity: OwnershipIdentity,
  { state = 'owned' }: { state?: 'owned' | 'orphaned' } = {},
): OwnershipLabels {
  const labels = { instance: identity.instance, kind: kindLabel(identity), namespace, name, uid, version, state }
  return { ...labels, seal: sealOf(labels, identity.secret) }
}

/** Reads ownership labels from untrusted data; undefined if they are missing or malformed. */
export function readOwnershipLabels(given: unknown): OwnershipLabels | undefined {
  if (!isJsonObject(given)) return undefined
  const labels: Record<string, string> = {}
  for (const name of labelNames) {
    const value =
      getOwn(given, name) ?? (name === 'seal' || name === 'namespace' ? '' : name === 'state' ? 'owned' : undefined)
    if (typeof value !== 'string') return undefined
    labels[name] = value
  }
  return labels as object as OwnershipLabels
}

/** Who owns a resource, by its labels. */
export type Ownership =
  /** The given object. */
  | 'ours'
  | 'unlabelled'
  | 'otherInstance'
  | 'otherKind'
  /** Another object of this kind. */
  | 'otherObject'
  /** Its object was deleted, and the resource was kept. */
  | 'orphaned'
  /** The seal does not match the labels. */
  | 'forged'

export function checkOwnership(given: unknown, identity: OwnershipIdentity, uid: string): Ownership {
  const labels = readOwnershipLabels(given)
  if (!labels) return 'unlabelled'
  if (labels.instance !== identity.instance) return 'otherInstance'
  if (labels.kind !== kindLabel(identity)) return 'otherKind'
  if (identity.secret !== undefined && labels.seal !== sealOf(labels, identity.secret)) return 'forged'
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

/** The prefix of all names that this instance derives. */
export function namePrefix({ instance }: Pick<OwnershipIdentity, 'instance'>): string {
  return `ek-${instance}-`
}

/** The derived name for an object, with 60 bits of a hash of its UID: at most 39 characters. */
export function resourceNameFor(identity: Pick<OwnershipIdentity, 'instance'>, uid: string): string {
  return `${namePrefix(identity)}${resourceHash(uid)}`
}

/** Fifteen hexadecimal digits, for names that must stay short. */
export function resourceHash(text: string): string {
  return shortHash(text, { digits: 15 })
}
