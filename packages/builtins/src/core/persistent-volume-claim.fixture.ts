/**
 * Writes of PersistentVolumeClaim objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newPersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'a', namespace: 'ns' },
}
const storedPersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  {
    name: 'PersistentVolumeClaim',
    object: {
      ...newPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim none',
    object: newPersistentVolumeClaim,
    errors: [
      'spec.accessModes: Required value: at least 1 access mode is required',
      'spec.resources[storage]: Required value',
    ],
  },
  {
    name: 'PersistentVolumeClaim bad',
    object: {
      ...newPersistentVolumeClaim,
      spec: {
        accessModes: ['X', 'ReadWriteOncePod', 'ReadWriteOnce'],
        resources: { requests: { storage: '0' } },
        volumeMode: 'X',
        storageClassName: 'A_',
        selector: { matchLabels: { 'a b': '' } },
        dataSource: { kind: 'X', name: '' },
      },
    },
    errors: [
      'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
      'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.resources[storage]: Invalid value: "0": must be greater than zero',
      "spec.selector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end ",
      "spec.storageClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', a",
      'spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
    ],
  },
  {
    name: 'PersistentVolumeClaim ds',
    object: {
      ...newPersistentVolumeClaim,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        dataSource: { kind: 'PersistentVolumeClaim', name: 'x' },
      },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim dsr',
    object: {
      ...newPersistentVolumeClaim,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        dataSourceRef: { kind: 'Foo', apiGroup: 'x.y', name: 'x' },
      },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim update',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    ],
  },
  {
    name: 'PersistentVolumeClaim update vol',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: 'x' },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim update size',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    ],
  },
  {
    name: 'PersistentVolumeClaim update size bound',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound' },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim update shrink',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      status: { phase: 'Bound', capacity: { storage: '2Gi' } },
    },
    errors: ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  },
  {
    name: 'PersistentVolumeClaim update class',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'x' },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [],
  },
  {
    name: 'PersistentVolumeClaim update class2',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'x' },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'y' },
    },
    errors: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    ],
  },
  {
    name: 'PersistentVolumeClaim update mode',
    object: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Block' },
    },
    old: {
      ...storedPersistentVolumeClaim,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    errors: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      'volumeMode: Invalid value: "Block": field is immutable',
    ],
  },
]
