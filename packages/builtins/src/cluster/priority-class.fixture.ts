/**
 * Writes of PriorityClass objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newPriorityClass = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'a' } }

export const cases: readonly Case[] = [
  { name: 'PriorityClass', object: { ...newPriorityClass, value: 5 }, errors: [] },
  {
    name: 'PriorityClass big',
    object: { ...newPriorityClass, value: 1000000001 },
    errors: ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  },
  {
    name: 'PriorityClass sys',
    object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'system-foo' }, value: 5 },
    errors: [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-foo is not a known syst",
    ],
  },
  {
    name: 'PriorityClass sys2',
    object: {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'system-node-critical' },
      value: 5,
    },
    errors: [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical ",
    ],
  },
  {
    name: 'PriorityClass sys3',
    object: {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'system-node-critical' },
      value: 2000001000,
    },
    errors: [],
  },
  {
    name: 'PriorityClass pol',
    object: { ...newPriorityClass, value: 1, preemptionPolicy: 'X' },
    errors: ['preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"'],
  },
  {
    name: 'PriorityClass update',
    object: {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'a', resourceVersion: '1' },
      value: 2,
      preemptionPolicy: 'Never',
    },
    old: {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'a', resourceVersion: '1' },
      value: 1,
    },
    errors: [
      'preemptionPolicy: Invalid value: "Never": field is immutable',
      'value: Forbidden: may not be changed in an update.',
    ],
  },
]
