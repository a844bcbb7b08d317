/**
 * The Lease object that candidates compete for, in the form that client-go gives it.
 *
 * Invariants: a record is compared as a whole, down to the microsecond, so that two renewals within one second are two;
 * the times in it are for people and are never compared with a clock; what others put beside our fields stays.
 */
import { declareKind, formatMicroTime } from '#api'
import type { Kind, KubeObject } from '#api'

export interface LeaseSpec {
  /** Who leads; empty or absent when nobody does. */
  readonly holderIdentity?: string | null
  readonly leaseDurationSeconds?: number | null
  readonly acquireTime?: string | null
  readonly renewTime?: string | null
  /** How often the holder changed. */
  readonly leaseTransitions?: number | null
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec
}

export const leaseKind: Kind<LeaseObject> = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})

export function holderOf({ spec }: LeaseObject): string {
  return spec?.holderIdentity ?? ''
}

/** How long the holder may be silent, as its own record says. */
export function durationMsOf({ spec }: LeaseObject): number {
  return (spec?.leaseDurationSeconds ?? 0) * 1000
}

/** The same text for records that say the same. */
export function fingerprintOf({ spec }: LeaseObject): string {
  return JSON.stringify(spec ?? {}, Object.keys(spec ?? {}).sort())
}

interface Claim {
  readonly identity: string
  readonly leaseMs: number
  /** By the wall clock. */
  readonly nowMs: number
}

/** The record of a candidate that takes the lease, or keeps it. */
export function claimed(spec: LeaseSpec, { identity, leaseMs, nowMs }: Claim): LeaseSpec {
  const now = formatMicroTime(nowMs)
  const isKept = spec.holderIdentity === identity
  const transitions = spec.leaseTransitions ?? 0
  return {
    ...spec,
    holderIdentity: identity,
    leaseDurationSeconds: Math.floor(leaseMs / 1000),
    renewTime: now,
    acquireTime: isKept && spec.acquireTime ? spec.acquireTime : now,
    leaseTransitions: isKept ? transitions : transitions + 1,
  }
}

/** The record of a lease that nobody has ever held. */
export function firstClaim(claim: Claim): LeaseSpec {
  return { ...claimed({}, claim), leaseTransitions: 0 }
}

/** The record that lets everybody else in at once. */
export function released(spec: LeaseSpec, nowMs: number): LeaseSpec {
  const now = formatMicroTime(nowMs)
  return {
    ...spec,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    renewTime: now,
    acquireTime: now,
    leaseTransitions: spec.leaseTransitions ?? 0,
  }
}
