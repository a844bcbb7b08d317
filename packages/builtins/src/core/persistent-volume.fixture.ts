/**
 * Writes of PersistentVolume objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newPersistentVolume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'a' } }
const storedPersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'a', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  {
    name: 'PersistentVolume',
    object: {
      ...newPersistentVolume,
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' }, hostPath: { path: '/x' } },
    },
    errors: [],
  },
  {
    name: 'PersistentVolume none',
    object: newPersistentVolume,
    errors: [
      'spec.accessModes: Required value',
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: null: supported values: "storage"',
      'spec: Required value: must specify a volume type',
    ],
  },
  {
    name: 'PersistentVolume bad',
    object: {
      ...newPersistentVolume,
      spec: {
        accessModes: ['X'],
        capacity: { cpu: '1', storage: '0' },
        hostPath: { path: '/x' },
        persistentVolumeReclaimPolicy: 'X',
        volumeMode: 'Y',
        storageClassName: 'A_',
      },
    },
    errors: [
      'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'spec.capacity: Unsupported value: {"cpu":"1","storage":"0"}: supported values: "storage"',
      'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", "Recycle", "Retain"',
      "spec.storageClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', a",
      'spec.volumeMode: Unsupported value: "Y": supported values: "Block", "Filesystem"',
    ],
  },
  {
    name: 'PersistentVolume two',
    object: {
      ...newPersistentVolume,
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1024Mi' },
        hostPath: { path: '/x' },
        nfs: { server: 's', path: '/x' },
      },
    },
    errors: ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
  },
  {
    name: 'PersistentVolume update',
    object: {
      ...storedPersistentVolume,
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' }, hostPath: { path: '/y' } },
    },
    old: {
      ...storedPersistentVolume,
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' }, hostPath: { path: '/x' } },
    },
    errors: ['spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation'],
  },
  {
    name: 'PersistentVolume update mode',
    object: {
      ...storedPersistentVolume,
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1024Mi' },
        hostPath: { path: '/x' },
        volumeMode: 'Block',
      },
    },
    old: {
      ...storedPersistentVolume,
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1024Mi' }, hostPath: { path: '/x' } },
    },
    errors: ['volumeMode: Invalid value: "Block": field is immutable'],
  },
]
