/**
 * Writes of Lease objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newLease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'Lease',
    object: { ...newLease, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    errors: [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'Lease ok',
    object: {
      ...newLease,
      spec: { leaseDurationSeconds: 15, holderIdentity: 'x', renewTime: '2026-01-01T00:00:00.000000Z' },
    },
    errors: [],
  },
  { name: 'Lease pref', object: { ...newLease, spec: { preferredHolder: 'x' } }, errors: [] },
  { name: 'Lease strat', object: { ...newLease, spec: { strategy: 'Foo' } }, errors: [] },
  { name: 'Lease strat2', object: { ...newLease, spec: { strategy: 'a.b/Foo' } }, errors: [] },
  { name: 'Lease strat3', object: { ...newLease, spec: { strategy: 'a/b/c' } }, errors: [] },
]
