/**
 * Writes of CronJob objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newCronJob = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'CronJob',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob * * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob @daily',
    object: {
      ...newCronJob,
      spec: {
        schedule: '@daily',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob @every 5m',
    object: {
      ...newCronJob,
      spec: {
        schedule: '@every 5m',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob @foo',
    object: {
      ...newCronJob,
      spec: {
        schedule: '@foo',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "@foo": unrecognized descriptor: @foo'],
  },
  {
    name: 'CronJob * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'],
  },
  {
    name: 'CronJob 60 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '60 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60'],
  },
  {
    name: 'CronJob */5 1-3 1,2 jan mon',
    object: {
      ...newCronJob,
      spec: {
        schedule: '*/5 1-3 1,2 jan mon',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob 5-3 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '5-3 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "5-3 * * * *": beginning of range (5) beyond end of range (3): 5-3'],
  },
  {
    name: 'CronJob */0 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '*/0 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "*/0 * * * *": step of range should be a positive number: */0'],
  },
  {
    name: 'CronJob a * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: 'a * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [
      'spec.schedule: Invalid value: "a * * * *": failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax',
    ],
  },
  {
    name: 'CronJob * * 0 * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * 0 * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "* * 0 * *": beginning of range (0) below minimum (1): 0'],
  },
  {
    name: 'CronJob * * * * 7',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * 7',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "* * * * 7": end of range (7) above maximum (6): 7'],
  },
  {
    name: 'CronJob TZ=UTC * * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: 'TZ=UTC * * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  },
  {
    name: 'CronJob 1-2-3 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '1-2-3 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "1-2-3 * * * *": too many hyphens: 1-2-3'],
  },
  {
    name: 'CronJob 1/2/3 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '1/2/3 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "1/2/3 * * * *": too many slashes: 1/2/3'],
  },
  {
    name: 'CronJob 0 0 ? * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '0 0 ? * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob @every x',
    object: {
      ...newCronJob,
      spec: {
        schedule: '@every x',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "@every x": failed to parse duration @every x: time: invalid duration "x"'],
  },
  {
    name: 'CronJob * * * 13 *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * 13 *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Invalid value: "* * * 13 *": end of range (13) above maximum (12): 13'],
  },
  {
    name: 'CronJob 10/5 * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '10/5 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [],
  },
  {
    name: 'CronJob',
    object: {
      ...newCronJob,
      spec: {
        schedule: '',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: ['spec.schedule: Required value'],
  },
  {
    name: 'CronJob 5-* * * * *',
    object: {
      ...newCronJob,
      spec: {
        schedule: '5-* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [
      'spec.schedule: Invalid value: "5-* * * * *": failed to parse int from *: strconv.Atoi: parsing "*": invalid syntax',
    ],
  },
  {
    name: 'CronJob bad',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
        startingDeadlineSeconds: -1,
        concurrencyPolicy: 'X',
        successfulJobsHistoryLimit: -1,
        failedJobsHistoryLimit: -1,
        timeZone: '',
      },
    },
    errors: [
      'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string',
    ],
  },
  {
    name: 'CronJob local',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
        timeZone: 'Local',
      },
    },
    errors: [
      'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    ],
  },
  {
    name: 'CronJob tz',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
        timeZone: 'Europe/Vienna',
      },
    },
    errors: [],
  },
  {
    name: 'CronJob sel',
    object: {
      ...newCronJob,
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: {
            selector: { matchLabels: { a: 'b' } },
            manualSelector: true,
            template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
          },
        },
      },
    },
    errors: [
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  },
  {
    name: 'CronJob name',
    object: {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', namespace: 'ns' },
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } } },
        },
      },
    },
    errors: [
      'metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 52 characters',
    ],
  },
  {
    name: 'CronJob none',
    object: newCronJob,
    errors: [
      'spec.jobTemplate.spec.template.spec.containers: Required value',
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
      'spec.schedule: Required value',
    ],
  },
]
