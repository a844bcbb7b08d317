/**
 * Writes of Deployment objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newDeployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'Deployment',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [],
  },
  {
    name: 'Deployment none',
    object: { ...newDeployment, spec: {} },
    errors: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  },
  {
    name: 'Deployment empty sel',
    object: {
      ...newDeployment,
      spec: {
        selector: {},
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  {
    name: 'Deployment mismatch',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'c' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  },
  {
    name: 'Deployment bad sel',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchExpressions: [{ key: 'a', operator: 'X' }] },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator',
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"X"}]}: invalid label selector',
    ],
  },
  {
    name: 'Deployment bad sel2',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { 'a b': '!' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: [
      "spec.selector.matchLabels: Invalid value: \"!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',",
      "spec.selector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end ",
      'spec.selector: Invalid value: {"matchLabels":{"a b":"!"}}: invalid label selector',
    ],
  },
  {
    name: 'Deployment neg',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        replicas: -1,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        progressDeadlineSeconds: -5,
      },
    },
    errors: [
      'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.progressDeadlineSeconds: Invalid value: -5: must be greater than minReadySeconds',
      'spec.progressDeadlineSeconds: Invalid value: -5: must be greater than or equal to 0',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'Deployment pds',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        minReadySeconds: 600,
      },
    },
    errors: ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
  },
  {
    name: 'Deployment recreate',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { type: 'Recreate' },
      },
    },
    errors: [],
  },
  {
    name: 'Deployment recreate2',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } },
      },
    },
    errors: ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  },
  {
    name: 'Deployment strat',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { type: 'X' },
      },
    },
    errors: [
      'spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  },
  {
    name: 'Deployment zero',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
      },
    },
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  },
  {
    name: 'Deployment zero%',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { rollingUpdate: { maxSurge: '0%', maxUnavailable: '0%' } },
      },
    },
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  },
  {
    name: 'Deployment 200%',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { rollingUpdate: { maxSurge: '200%', maxUnavailable: '200%' } },
      },
    },
    errors: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not be greater than 100%'],
  },
  {
    name: 'Deployment abc',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        strategy: { rollingUpdate: { maxSurge: 'abc', maxUnavailable: -1 } },
      },
    },
    errors: [
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: "abc": a valid percent string must be a numeric string followed by an ending \'%\' (e.g. ',
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'Deployment tmpl',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [], restartPolicy: 'Never', activeDeadlineSeconds: 5 },
        },
      },
    },
    errors: [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      'spec.template.spec.containers: Required value',
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
  },
  {
    name: 'Deployment limits',
    object: {
      ...newDeployment,
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [
              { name: 'c', image: 'nginx', resources: { limits: { cpu: 1 } }, ports: [{ containerPort: 80 }] },
            ],
            hostNetwork: true,
          },
        },
      },
    },
    errors: [],
  },
  {
    name: 'Deployment update sel',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
      spec: {
        selector: { matchLabels: { a: 'b', c: 'd' } },
        template: { metadata: { labels: { a: 'b', c: 'd' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    old: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
    errors: ['spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable'],
  },
]
