import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { appsColumns } from './apps.ts'

const nowMs = 1_767_225_660_000
const minuteAgo = '2026-01-01T00:00:00Z'
const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      { name: 'a', image: 'a:1' },
      { name: 'b', image: 'b:2' },
    ],
    nodeSelector: { disk: 'ssd' },
  },
}
const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['y', 'x'] }],
}
const containers = ['a,b', 'a:1,b:2']
const selected = 'app=web,tier in (x,y)'

function row(
  kind: string,
  { metadata = {}, ...fields }: { readonly metadata?: JsonObject; readonly [field: string]: unknown },
): unknown {
  const object = {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'web', creationTimestamp: minuteAgo, ...metadata },
    ...(fields as JsonObject),
  }
  return appsColumns[kind]?.cells(object, nowMs)
}

test.each<[string, JsonObject, readonly unknown[]]>([
  ['PodTemplate', { template }, ['web', ...containers, 'app=web']],
  ['PodTemplate', {}, ['web', '', '', '<none>']],
  [
    'ReplicationController',
    { spec: { replicas: 3, selector: { app: 'web', a: 'b' }, template }, status: { replicas: 2, readyReplicas: 1 } },
    ['web', 3, 2, 1, '60s', ...containers, 'a=b,app=web'],
  ],
  [
    'ReplicaSet.apps',
    { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } },
    ['web', 3, 2, 1, '60s', ...containers, selected],
  ],
  [
    'ReplicaSet.apps',
    { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } } },
    ['web', 0, 0, 0, '60s', '', '', '<error>'],
  ],
  [
    'Deployment.apps',
    {
      spec: { replicas: 3, selector, template },
      status: { updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
    },
    ['web', '1/3', 2, 1, '60s', ...containers, selected],
  ],
  [
    'Deployment.apps',
    { spec: { selector: { matchExpressions: 5 } } },
    ['web', '0/0', 0, 0, '60s', '', '', '<invalid>'],
  ],
  ['Deployment.apps', {}, ['web', '0/0', 0, 0, '60s', '', '', '']],
  [
    'StatefulSet.apps',
    { spec: { replicas: 3, template }, status: { readyReplicas: 1 } },
    ['web', '1/3', '60s', ...containers],
  ],
  [
    'DaemonSet.apps',
    {
      spec: { selector: {}, template },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    ['web', 5, 4, 3, 2, 1, 'disk=ssd', '60s', ...containers, '<none>'],
  ],
  ['ControllerRevision.apps', { revision: 7 }, ['web', '<none>', 7, '60s']],
])('%s of %j', (kind, fields, cells) => {
  expect(row(kind, fields)).toEqual(cells)
})

test('ControllerRevision names its controller, not its other owners', () => {
  const controller = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true }
  const other = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'v' }
  expect(row('ControllerRevision.apps', { metadata: { ownerReferences: [other, controller] } })).toEqual([
    'web',
    'daemonset.apps/agent',
    0,
    '60s',
  ])
  expect(row('ControllerRevision.apps', { metadata: { ownerReferences: [{ ...other, controller: true }] } })).toEqual([
    'web',
    'node/node-1',
    0,
    '60s',
  ])
})

test.each<[string, JsonObject, readonly unknown[]]>([
  ['not started', { spec: {} }, ['Running', '0/1', '']],
  [
    'running',
    { spec: { completions: 3 }, status: { succeeded: 1, startTime: '2026-01-01T00:00:30Z' } },
    ['Running', '1/3', '30s'],
  ],
  ['a pool', { spec: { parallelism: 4 }, status: { succeeded: 2 } }, ['Running', '2/1 of 4', '']],
  [
    'complete',
    {
      status: {
        conditions: [{ type: 'Complete', status: 'True' }],
        startTime: minuteAgo,
        completionTime: '2026-01-01T00:00:05Z',
      },
    },
    ['Complete', '0/1', '5s'],
  ],
  [
    'failed',
    {
      status: {
        conditions: [
          { type: 'FailureTarget', status: 'True' },
          { type: 'Failed', status: 'True' },
        ],
      },
    },
    ['Failed', '0/1', ''],
  ],
  [
    'failing',
    {
      status: {
        conditions: [
          { type: 'FailureTarget', status: 'True' },
          { type: 'Failed', status: 'False' },
        ],
      },
    },
    ['FailureTarget', '0/1', ''],
  ],
  ['suspended', { status: { conditions: [{ type: 'Suspended', status: 'True' }] } }, ['Suspended', '0/1', '']],
  [
    'deleted',
    { metadata: { deletionTimestamp: minuteAgo }, status: { conditions: [{ type: 'Suspended', status: 'True' }] } },
    ['Terminating', '0/1', ''],
  ],
])('Job that is %s', (_, fields, cells) => {
  expect(row('Job.batch', fields)).toEqual(['web', ...cells, '60s', '', '', '<none>'])
})

test('CronJob shows its schedule and what it runs', () => {
  const spec = {
    schedule: '@daily',
    timeZone: 'Europe/Rome',
    suspend: false,
    jobTemplate: { spec: { template, selector } },
  }
  expect(row('CronJob.batch', { spec, status: { active: [{}, {}], lastScheduleTime: minuteAgo } })).toEqual([
    'web',
    '@daily',
    'Europe/Rome',
    'False',
    2,
    '60s',
    '60s',
    ...containers,
    selected,
  ])
  expect(row('CronJob.batch', { spec: { suspend: true } })).toEqual([
    'web',
    '',
    '<none>',
    'True',
    0,
    '<none>',
    '60s',
    '',
    '',
    '<none>',
  ])
  expect(row('CronJob.batch', {})).toEqual(['web', '', '<none>', '<unset>', 0, '<none>', '60s', '', '', '<none>'])
})
