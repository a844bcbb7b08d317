/**
 * Writes of Namespace objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const storedNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', resourceVersion: '1' } }

export const cases: readonly Case[] = [
  { name: 'Namespace', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }, errors: [] },
  {
    name: 'Namespace fin',
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'zzz', x: 'y' } },
      spec: { finalizers: ['a.b/c'] },
      status: { phase: 'Terminating' },
    },
    errors: [],
  },
  {
    name: 'Namespace fin bad',
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
      spec: { finalizers: ['foo', 'A B/c', 'orphan'] },
    },
    errors: [
      'spec.finalizers: Invalid value: "A B/c": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' ',
      'spec.finalizers: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
    ],
  },
  {
    name: 'Namespace update',
    object: { ...storedNamespace, spec: {} },
    old: { ...storedNamespace, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    errors: [],
  },
  {
    name: 'Namespace update finalize',
    object: { ...storedNamespace, spec: {}, status: { phase: 'Active' } },
    old: { ...storedNamespace, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    subresource: 'finalize',
    errors: [],
  },
  {
    name: 'Namespace update status',
    object: { ...storedNamespace, status: { phase: 'Terminating' } },
    old: { ...storedNamespace, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    subresource: 'status',
    errors: ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
  },
  {
    name: 'Namespace update status del',
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a', resourceVersion: '1', deletionTimestamp: '2026-01-01T00:00:00Z' },
      status: { phase: 'Active' },
    },
    old: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a', resourceVersion: '1', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    },
    subresource: 'status',
    errors: ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
  },
]
