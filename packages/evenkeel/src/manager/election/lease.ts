/**
 * The Lease of a leader election, in the format of client-go, and its times.
 *
 * Invariants: a record is compared as a whole, with microseconds, so two renewals within a second differ; the times in
 * the record are for people and are never compared with a clock; fields of others are kept.
 *
 *   renewal sent ──────────── retry, retry, ... ────────────▶ holdMs ──────▶ leaseMs
 *                                              the holder has stopped        others may take over
 *
 * A holder stops before another candidate may start, even if it missed every timer: all of them count from events in a
 * fixed order (renewal sent, stored by the server, observed by the others). The default times are those of client-go:
 * leaseMs 15 s, renewMs 10 s, retryMs 2 s give holdMs = min(10 + 2, (10 + 15) / 2) = 12 s.
 */
import { declareKind, formatMicroTime, type Kind, type KubeObject } from '#api'
import type { AbortOptions } from '#base'
import type { Client } from '#client'

export interface LeaseSpec {
  /** The leader; empty or absent if there is none. */
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

/** The lease duration of the record. */
export function durationMsOf({ spec }: LeaseObject): number {
  return (spec?.leaseDurationSeconds ?? 0) * 1000
}

/** A text that is equal for equal records. */
export function fingerprintOf({ spec }: LeaseObject): string {
  return JSON.stringify(spec ?? {}, Object.keys(spec ?? {}).sort())
}

interface Claim {
  readonly identity: string
  readonly leaseMs: number
  /** By the wall clock. */
  readonly nowMs: number
}

/** The record of a candidate that acquires or renews the lease. */
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

/** The record of a new lease. */
export function firstClaim(claim: Claim): LeaseSpec {
  return { ...claimed({}, claim), leaseTransitions: 0 }
}

/** The record of a released lease: every candidate may acquire it at once. */
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

/** The requests for one Lease. */
export interface LeaseLock {
  /** For logs: `kube-system/my-controller`. */
  readonly name: string
  /** Undefined if it does not exist. */
  read(options: AbortOptions): Promise<LeaseObject | undefined>
  /** @throws {ApiError} `AlreadyExists` */
  create(spec: LeaseSpec, options: AbortOptions): Promise<LeaseObject>
  /** @throws {ApiError} `Conflict` if it has changed since it was read; `NotFound` */
  replace(lease: LeaseObject, options: AbortOptions): Promise<LeaseObject>
}

export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** The lock of a lease. The client must not be gated by this lease. */
export function leaseLock(client: Client, { namespace, name }: LeaseName): LeaseLock {
  return {
    name: `${namespace}/${name}`,
    read: (options) => client.find(leaseKind, { namespace, name }, options),
    create: (spec, options) => client.create(leaseKind, { metadata: { namespace, name }, spec }, options),
    replace: (lease, options) => client.update(lease, options),
  }
}

export interface LeaseTimes {
  /**
   * How long other candidates wait without a renewal; rounded down to whole seconds.
   *
   * @default 15_000
   */
  readonly leaseMs?: number
  /**
   * How long a holder retries a failed renewal.
   *
   * @default 10_000
   */
  readonly renewMs?: number
  /**
   * Time between two attempts.
   *
   * @default 2000
   */
  readonly retryMs?: number
}

export interface CheckedTimes extends Required<LeaseTimes> {
  /** How long a renewal allows writes, from the time of sending. */
  readonly holdMs: number
  /** Timeout of a request, so that there is time for another one. */
  readonly requestMs: number
}

/** Random factor between two attempts to acquire the lease, so that candidates do not retry in step. */
export const retryJitter = 1.2

/** @throws {RangeError} for times with which a holder could not stop or renew in time. */
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
