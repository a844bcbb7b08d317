/**
 * Writes of ReplicaSet and ReplicationController objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newReplicationController = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'a', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'ReplicaSet',
    object: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a', namespace: 'ns' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [],
  },
  {
    name: 'ReplicaSet none',
    object: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a', namespace: 'ns' },
      spec: { replicas: -1 },
    },
    errors: [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  },
  {
    name: 'ReplicaSet update',
    object: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
      spec: {
        selector: { matchLabels: { a: 'c' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    old: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [
      'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  },
  {
    name: 'ReplicationController',
    object: {
      ...newReplicationController,
      spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } } },
    },
    errors: [],
  },
  {
    name: 'ReplicationController none',
    object: { ...newReplicationController, spec: {} },
    errors: ['spec.selector: Required value', 'spec.template: Required value'],
  },
  {
    name: 'ReplicationController mismatch',
    object: {
      ...newReplicationController,
      spec: {
        selector: { x: 'y' },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        replicas: -1,
      },
    },
    errors: [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  },
]
