/**
 * Writes of DaemonSet objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newDaemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'a', namespace: 'ns' } }
const storedDaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'a',
    namespace: 'ns',
    resourceVersion: '1',
    uid: '11111111-2222-3333-4444-555555555555',
    annotations: { 'deprecated.daemonset.template.generation': '1' },
  },
}

export const cases: readonly Case[] = [
  {
    name: 'DaemonSet',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [],
  },
  {
    name: 'DaemonSet none',
    object: { ...newDaemonSet, spec: {} },
    errors: [
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  },
  {
    name: 'DaemonSet empty',
    object: {
      ...newDaemonSet,
      spec: {
        selector: {},
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset'],
  },
  {
    name: 'DaemonSet strat',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { type: 'X' },
      },
    },
    errors: [
      'spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  },
  {
    name: 'DaemonSet ondelete',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { type: 'OnDelete' },
      },
    },
    errors: [],
  },
  {
    name: 'DaemonSet both',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { rollingUpdate: { maxSurge: 1 } },
      },
    },
    errors: [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero',
    ],
  },
  {
    name: 'DaemonSet none0',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { rollingUpdate: { maxUnavailable: 0 } },
      },
    },
    errors: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  },
  {
    name: 'DaemonSet 200',
    object: {
      ...newDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { rollingUpdate: { maxUnavailable: '200%' } },
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
      },
    },
    errors: [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not be greater than 100%',
    ],
  },
  {
    name: 'DaemonSet update',
    object: {
      ...storedDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'b' }] } },
      },
    },
    old: {
      ...storedDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [],
  },
  {
    name: 'DaemonSet update sel',
    object: {
      ...storedDaemonSet,
      spec: {
        selector: { matchLabels: { a: 'c' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    old: {
      ...storedDaemonSet,
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
]
