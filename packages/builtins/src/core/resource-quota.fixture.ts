/**
 * Writes of ResourceQuota objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newResourceQuota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'ResourceQuota',
    object: {
      ...newResourceQuota,
      spec: {
        hard: {
          pods: '10',
          cpu: '0.5',
          'requests.memory': '1024Mi',
          'count/deployments.apps': '3',
          'requests.example.com/gpu': 1,
        },
      },
    },
    errors: [],
  },
  {
    name: 'ResourceQuota bad',
    object: { ...newResourceQuota, spec: { hard: { foo: '1', storage: '1', pods: '1.5', cpu: '-1', 'a b': '1' } } },
    errors: [
      'spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota',
      "spec.hard[a b]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alp",
      'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
      'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.hard[pods]: Invalid value: "1500m": must be an integer',
      'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    ],
  },
  {
    name: 'ResourceQuota scope',
    object: {
      ...newResourceQuota,
      spec: { hard: { pods: '1', services: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Foo', 'Terminating'] },
    },
    errors: [
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Foo","Terminating"]: conflicting scopes',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Foo","Terminating"]: unsupported scope',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Foo","Terminating"]: unsupported scope applied to resource',
    ],
  },
  {
    name: 'ResourceQuota sel',
    object: {
      ...newResourceQuota,
      spec: {
        hard: { pods: '1' },
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'PriorityClass', operator: 'In' },
            { scopeName: 'Foo', operator: 'Exists', values: ['x'] },
            { scopeName: 'BestEffort', operator: 'In', values: ['a'] },
            { scopeName: 'PriorityClass', operator: 'Bad' },
          ],
        },
      },
    },
    errors: [
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "Bad": not a valid selector operator',
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, Reso',
      'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Foo": unsupported scope',
      "spec.scopeSelector.matchExpressions.values: Invalid value: [\"x\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope se",
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  },
  {
    name: 'ResourceQuota update',
    object: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      spec: { scopes: ['Terminating'] },
    },
    old: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      spec: { scopes: ['NotTerminating'] },
    },
    errors: ['spec.scopes: Invalid value: ["Terminating"]: field is immutable'],
  },
]
