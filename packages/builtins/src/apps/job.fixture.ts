/**
 * Writes of Job objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newJob = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', namespace: 'ns' } }
const storedJob = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  {
    name: 'Job',
    object: {
      ...newJob,
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
    },
    errors: [],
  },
  {
    name: 'Job labels',
    object: {
      ...newJob,
      spec: {
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }], restartPolicy: 'OnFailure' },
        },
      },
    },
    errors: [],
  },
  {
    name: 'Job none',
    object: { ...newJob, spec: {} },
    errors: [
      'spec.template.spec.containers: Required value',
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  },
  {
    name: 'Job always',
    object: {
      ...newJob,
      spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } } },
    },
    errors: ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  },
  {
    name: 'Job badrp',
    object: {
      ...newJob,
      spec: {
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }], restartPolicy: 'X' },
        },
      },
    },
    errors: [
      'spec.template.spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"',
      'spec.template.spec.restartPolicy: Unsupported value: "X": supported values: "OnFailure", "Never"',
    ],
  },
  {
    name: 'Job par',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        parallelism: 3,
      },
    },
    errors: [],
  },
  {
    name: 'Job comp',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        completions: 3,
      },
    },
    errors: [],
  },
  {
    name: 'Job neg',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        parallelism: -1,
        completions: -1,
        activeDeadlineSeconds: -1,
        backoffLimit: -1,
        ttlSecondsAfterFinished: -1,
      },
    },
    errors: [
      'spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.completions: Invalid value: -1: must be greater than or equal to 0',
      'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
      'spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'Job indexed',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        completionMode: 'Indexed',
        completions: 3,
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 5,
      },
    },
    errors: ['spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions'],
  },
  {
    name: 'Job indexed none',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        completionMode: 'Indexed',
        parallelism: 100001,
      },
    },
    errors: [
      'spec.completions: Required value: when completion mode is Indexed',
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
  },
  {
    name: 'Job mode',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        completionMode: 'X',
      },
    },
    errors: ['spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"'],
  },
  {
    name: 'Job manual',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        manualSelector: true,
      },
    },
    errors: [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ],
  },
  {
    name: 'Job manual ok',
    object: {
      ...newJob,
      spec: {
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }], restartPolicy: 'Never' },
        },
        manualSelector: true,
        selector: { matchLabels: { a: 'b' } },
      },
    },
    errors: [],
  },
  {
    name: 'Job sel',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        selector: { matchLabels: { a: 'b' } },
      },
    },
    errors: [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555"}}: `select',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555","batch.kubernetes',
    ],
  },
  {
    name: 'Job labels conflict',
    object: {
      ...newJob,
      spec: {
        template: {
          metadata: { labels: { 'job-name': 'z', 'controller-uid': 'q' } },
          spec: { containers: [{ name: 'c', image: 'nginx' }], restartPolicy: 'Never' },
        },
      },
    },
    errors: [
      'spec.template.metadata.labels[controller-uid]: Invalid value: {"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555","',
      'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555","batch.',
    ],
  },
  {
    name: 'Job prp',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        podReplacementPolicy: 'X',
      },
    },
    errors: ['spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"'],
  },
  {
    name: 'Job long',
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', namespace: 'ns' },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        completionMode: 'Indexed',
        completions: 1000,
      },
    },
    errors: [
      'metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": will not able to create pod with invalid DNS l',
    ],
  },
  {
    name: 'Job suspend',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        suspend: true,
      },
    },
    errors: [],
  },
  {
    name: 'Job pfp',
    object: {
      ...newJob,
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } },
        podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      },
    },
    errors: [],
  },
  {
    name: 'Job update ok',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        parallelism: 5,
        suspend: true,
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
      },
    },
    errors: ['spec.completions: Invalid value: null: field is immutable'],
  },
  {
    name: 'Job update comp',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completions: 5,
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
      },
    },
    errors: ['spec.completions: Invalid value: 5: field is immutable'],
  },
  {
    name: 'Job update sel',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { a: 'b' } },
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
      },
    },
    errors: [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` not auto-generated',
      'spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
      'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"11111111-2222-3333-4444-555555555555","batch.kubernetes',
    ],
  },
  {
    name: 'Job update mode',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completionMode: 'Indexed',
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
      },
    },
    errors: ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
  },
  {
    name: 'Job update sus',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }], nodeSelector: { a: 'b' } },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        suspend: true,
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        suspend: true,
      },
    },
    errors: [],
  },
  {
    name: 'Job update index',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completionMode: 'Indexed',
        completions: 5,
        parallelism: 5,
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completionMode: 'Indexed',
        completions: 3,
      },
    },
    errors: [],
  },
  {
    name: 'Job update index2',
    object: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completionMode: 'Indexed',
        completions: 5,
        parallelism: 4,
      },
    },
    old: {
      ...storedJob,
      spec: {
        template: {
          metadata: {
            labels: {
              'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555',
              'controller-uid': '11111111-2222-3333-4444-555555555555',
              'job-name': 'a',
              'batch.kubernetes.io/job-name': 'a',
            },
          },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] },
        },
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': '11111111-2222-3333-4444-555555555555' } },
        completionMode: 'Indexed',
        completions: 3,
      },
    },
    errors: ['spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism'],
  },
]
