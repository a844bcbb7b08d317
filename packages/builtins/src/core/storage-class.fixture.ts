/**
 * Writes of StorageClass and CSIDriver objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newStorageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'a' } }

export const cases: readonly Case[] = [
  { name: 'StorageClass', object: { ...newStorageClass, provisioner: 'A.b/c' }, errors: [] },
  { name: 'StorageClass none', object: newStorageClass, errors: ['provisioner: Required value'] },
  {
    name: 'StorageClass bad',
    object: {
      ...newStorageClass,
      provisioner: 'a b',
      reclaimPolicy: 'Recycle',
      volumeBindingMode: 'X',
      parameters: { '': 'x' },
    },
    errors: [
      'parameters: Invalid value: "": field can not be empty.',
      "provisioner: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphan",
      'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  },
  {
    name: 'StorageClass update',
    object: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'a', resourceVersion: '1' },
      provisioner: 'b',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
    },
    old: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'a', resourceVersion: '1' },
      provisioner: 'a',
    },
    errors: [
      'parameters: Invalid value: {"a":"b"}: field is immutable',
      'provisioner: Invalid value: "b": field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
    ],
  },
  {
    name: 'CSIDriver csidriver',
    object: { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'a' }, spec: {} },
    errors: [],
  },
]
