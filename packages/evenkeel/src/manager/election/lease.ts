/**
 * The Lease object that candidates compete for, in the form that client-go gives it.
 *
 * Invariants: a record is compared as a whole, down to the microsecond, so that two renewals within one second are two;
 * the times in it are for people and are never compared with a clock; what others put beside our fields stays.
 */
import { declareKind, formatMicroTime, type Kind, type KubeObject } from '#api'
import type { AbortOptions } from '#base'
import type { Client } from '#client'

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

/*
 * One Lease on a server: read it, make it, replace it if it is as it was read.
 */

export interface LeaseLock {
  /** For people: `kube-system/my-controller`. */
  readonly name: string
  /** Undefined when there is none. */
  read(options: AbortOptions): Promise<LeaseObject | undefined>
  /** @throws {ApiError} `AlreadyExists` */
  create(spec: LeaseSpec, options: AbortOptions): Promise<LeaseObject>
  /** @throws {ApiError} `Conflict`, when it is no longer as it was read; `NotFound` */
  replace(lease: LeaseObject, options: AbortOptions): Promise<LeaseObject>
}

export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** The lease of that name. The client must not be gated by it. */
export function leaseLock(client: Client, { namespace, name }: LeaseName): LeaseLock {
  return {
    name: `${namespace}/${name}`,
    read: (options) => client.find(leaseKind, { namespace, name }, options),
    create: (spec, options) => client.create(leaseKind, { metadata: { namespace, name }, spec }, options),
    replace: (lease, options) => client.update(lease, options),
  }
}

/*
 * How long a lease lasts, and when its holder renews it or gives up. The numbers are those of client-go.
 *
 *   sent ──────────── retry, retry, ... ────────────▶ holdMs ──────▶ leaseMs
 *   the renewal goes out                    the holder has stopped   others may take over
 *
 * Invariant: a holder stops before anybody else may begin, also when it has slept through every timer: both count from
 * moments that are in this order for everybody (it sent, the server stored, the others saw).
 */

export interface LeaseTimes {
  /**
   * How long others wait for a silent holder. Whole seconds count.
   *
   * @default 15_000
   */
  readonly leaseMs?: number
  /**
   * How long a holder that cannot renew goes on trying.
   *
   * @default 10_000
   */
  readonly renewMs?: number
  /**
   * Between two attempts.
   *
   * @default 2000
   */
  readonly retryMs?: number
}

export interface CheckedTimes extends Required<LeaseTimes> {
  /** From sending a renewal until it is no longer good for a write. */
  readonly holdMs: number
  /** The most that one request may take, so that another fits in. */
  readonly requestMs: number
}

/** Attempts to become the holder are this much further apart, at random, so that candidates do not march in step. */
export const retryJitter = 1.2

/** @throws {RangeError} when a holder could not stop in time, or would not get to renew. */
export function checkTimes({ leaseMs = 15_000, renewMs = 10_000, retryMs = 2000 }: LeaseTimes = {}): CheckedTimes {
  const wholeMs = Math.floor(leaseMs / 1000) * 1000
  if (!(wholeMs >= 1000 && wholeMs < Infinity))
    throw new RangeError(`leaseMs must be at least 1000, because leases are written in whole seconds, got ${leaseMs}`)
  if (!(renewMs > 0 && renewMs < wholeMs))
    throw new RangeError(`renewMs must be above 0 and below the whole seconds of leaseMs (${wholeMs}), got ${renewMs}`)
  if (!(retryMs > 0 && retryMs * retryJitter < renewMs))
    throw new RangeError(
      `retryMs must be above 0 and below renewMs / ${retryJitter} (${Math.floor(renewMs / retryJitter)}), got ${retryMs}`,
    )
  return {
    leaseMs: wholeMs,
    renewMs,
    retryMs,
    holdMs: Math.min(renewMs + retryMs, (renewMs + wholeMs) / 2),
    requestMs: Math.max(1000, renewMs / 2),
  }
}
