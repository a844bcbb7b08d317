/**
 * One Lease on a server: read it, make it, replace it if it is as it was read.
 */
import type { AbortOptions } from '#base'
import type { Client } from '#client'
import { leaseKind } from './lease.ts'
import type { LeaseObject, LeaseSpec } from './lease.ts'

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
