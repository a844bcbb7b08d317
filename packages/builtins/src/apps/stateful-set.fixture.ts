/**
 * Writes of StatefulSet and ControllerRevision objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newStatefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a', namespace: 'ns' } }
const storedStatefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  {
    name: 'StatefulSet',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        serviceName: 's',
      },
    },
    errors: [],
  },
  {
    name: 'StatefulSet none',
    object: { ...newStatefulSet, spec: {} },
    errors: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  },
  {
    name: 'StatefulSet bad',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        podManagementPolicy: 'X',
        updateStrategy: { type: 'Y' },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Z' },
        replicas: -1,
        serviceName: 'a.b',
        ordinals: { start: -1 },
      },
    },
    errors: [
      'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Z": supported values: "Retain", "Delete"',
      "spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'",
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.serviceName: Invalid value: "a.b": must not contain dots',
      'spec.updateStrategy: Invalid value: {"Type":"Y","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  },
  {
    name: 'StatefulSet rolling',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { type: 'RollingUpdate' },
      },
    },
    errors: [],
  },
  {
    name: 'StatefulSet part',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        updateStrategy: { rollingUpdate: { partition: -1 } },
      },
    },
    errors: ['spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0'],
  },
  {
    name: 'StatefulSet vct',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx', volumeMounts: [{ name: 'd', mountPath: '/d' }] }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'd' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'StatefulSet vct bad',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }],
      },
    },
    errors: [
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ],
  },
  {
    name: 'StatefulSet update',
    object: {
      ...storedStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        serviceName: 'b',
      },
    },
    old: {
      ...storedStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        serviceName: 'a',
      },
    },
    errors: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLim",
    ],
  },
  {
    name: 'StatefulSet update ok',
    object: {
      ...storedStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'b' }] } },
        replicas: 4,
        minReadySeconds: 3,
      },
    },
    old: {
      ...storedStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [],
  },
  {
    name: 'StatefulSet hostname',
    object: {
      ...newStatefulSet,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }], hostname: 'A_', subdomain: 'B_' },
        },
      },
    },
    errors: [],
  },
  {
    name: 'ControllerRevision',
    object: {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'a', namespace: 'ns' },
      revision: -1,
    },
    errors: [
      'data: Required value: data is mandatory',
      'revision: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'ControllerRevision ok',
    object: {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'a', namespace: 'ns' },
      revision: 1,
      data: { a: 1 },
    },
    errors: [],
  },
]
