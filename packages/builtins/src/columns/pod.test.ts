import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { podColumns } from './pod.ts'

const nowMs = 1_767_225_660_000
const minuteAgo = '2026-01-01T00:00:00Z'

interface PodParts {
  readonly metadata?: JsonObject
  readonly spec?: JsonObject
  readonly status?: JsonObject
}

function row({ metadata = {}, spec = {}, status = {} }: PodParts): readonly unknown[] {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', creationTimestamp: minuteAgo, ...metadata },
    spec,
    status,
  }
  return podColumns.cells(object, nowMs)
}

/** Ready, status and restarts. */
function story(parts: PodParts): readonly unknown[] {
  return row(parts).slice(1, 4)
}

const running = { ready: true, state: { running: {} } }
const done = { state: { terminated: { exitCode: 0, reason: 'Completed' } } }
const failed = { state: { terminated: { exitCode: 1, reason: 'Error' } } }
const waiting = (reason: string): JsonObject => ({ state: { waiting: { reason } } })
const two = { containers: [{ name: 'a' }, { name: 'b' }] }

test('podColumns shows a pod with everything', () => {
  const cells = row({
    spec: { ...two, nodeName: 'node-1', readinessGates: [{ conditionType: 'x/y' }, { conditionType: 'x/z' }] },
    status: {
      phase: 'Running',
      podIP: '10.0.0.7',
      podIPs: [{ ip: '10.0.0.7' }, { ip: 'fd00::7' }],
      nominatedNodeName: 'node-2',
      containerStatuses: [
        { ...running, restartCount: 2, lastState: { terminated: { finishedAt: '2026-01-01T00:00:30Z' } } },
        running,
      ],
      conditions: [
        { type: 'x/y', status: 'True' },
        { type: 'x/z', status: 'False' },
      ],
    },
  })
  expect(cells).toEqual(['web', '2/2', 'Running', '2 (30s ago)', '60s', '10.0.0.7', 'node-1', 'node-2', '1/2'])
})

test('podColumns shows a pod with nothing', () => {
  expect(row({ metadata: { creationTimestamp: null } })).toEqual([
    'web',
    '0/0',
    '',
    '0',
    '<unknown>',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
  ])
})

test('podColumns has the columns of kubectl, the last four only when wide', () => {
  expect(podColumns.definitions.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
    'Name 0',
    'Ready 0',
    'Status 0',
    'Restarts 0',
    'Age 0',
    'IP 1',
    'Node 1',
    'Nominated Node 1',
    'Readiness Gates 1',
  ])
})

test.each<[string, PodParts, readonly [ready: string, status: string, restarts: string]]>([
  ['pending', { spec: two, status: { phase: 'Pending' } }, ['0/2', 'Pending', '0']],
  ['evicted', { spec: two, status: { phase: 'Failed', reason: 'Evicted' } }, ['0/2', 'Evicted', '0']],
  [
    'gated',
    {
      spec: two,
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    },
    ['0/2', 'SchedulingGated', '0'],
  ],
  [
    'creating',
    { spec: two, status: { phase: 'Pending', containerStatuses: [waiting('ContainerCreating'), waiting('')] } },
    ['0/2', 'ContainerCreating', '0'],
  ],
  [
    'crashing',
    {
      spec: two,
      status: { phase: 'Running', containerStatuses: [{ ...waiting('CrashLoopBackOff'), restartCount: 5 }, running] },
    },
    ['1/2', 'CrashLoopBackOff', '5'],
  ],
  [
    'completed',
    { spec: two, status: { phase: 'Succeeded', containerStatuses: [done, done] } },
    ['0/2', 'Completed', '0'],
  ],
  [
    'one done, ready',
    {
      spec: two,
      status: { phase: 'Running', containerStatuses: [done, running], conditions: [{ type: 'Ready', status: 'True' }] },
    },
    ['1/2', 'Running', '0'],
  ],
  [
    'one done, not ready',
    { spec: two, status: { phase: 'Running', containerStatuses: [done, running] } },
    ['1/2', 'NotReady', '0'],
  ],
  [
    'one done, one failed',
    { spec: two, status: { phase: 'Failed', containerStatuses: [done, failed] } },
    ['0/2', 'Error', '0'],
  ],
  [
    'a signal',
    { spec: two, status: { containerStatuses: [{ state: { terminated: { exitCode: 137, signal: 9 } } }] } },
    ['0/2', 'Signal:9', '0'],
  ],
  [
    'an exit code',
    { spec: two, status: { containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] } },
    ['0/2', 'ExitCode:3', '0'],
  ],
  [
    'terminating',
    {
      metadata: { deletionTimestamp: minuteAgo },
      spec: two,
      status: { phase: 'Running', containerStatuses: [running, running] },
    },
    ['2/2', 'Terminating', '0'],
  ],
  [
    'gone and deleted',
    { metadata: { deletionTimestamp: minuteAgo }, spec: two, status: { phase: 'Failed' } },
    ['0/2', 'Failed', '0'],
  ],
  [
    'on a lost node',
    { metadata: { deletionTimestamp: minuteAgo }, spec: two, status: { phase: 'Running', reason: 'NodeLost' } },
    ['0/2', 'Unknown', '0'],
  ],
])('podColumns tells the story of a pod that is %s', (_, parts, expected) => {
  expect(story(parts)).toEqual(expected)
})

const initSpec = {
  ...two,
  initContainers: [{ name: 'first' }, { name: 'sidecar', restartPolicy: 'Always' }, { name: 'last' }],
}
const initDone = {
  name: 'first',
  ...done,
  restartCount: 4,
  lastState: { terminated: { finishedAt: '2026-01-01T00:00:10Z' } },
}
const sidecar = { name: 'sidecar', started: true, restartCount: 1, ...running }

test.each<[string, readonly JsonObject[], readonly [ready: string, status: string, restarts: string]]>([
  ['the first runs', [{ name: 'first', state: { running: {} } }], ['0/3', 'Init:0/3', '0']],
  ['the first waits', [{ name: 'first', ...waiting('PodInitializing') }], ['0/3', 'Init:0/3', '0']],
  [
    'the first crashes',
    [{ name: 'first', ...waiting('CrashLoopBackOff'), restartCount: 3 }],
    ['0/3', 'Init:CrashLoopBackOff', '3'],
  ],
  ['the first failed', [{ name: 'first', ...failed }], ['0/3', 'Init:Error', '0']],
  [
    'the first was killed',
    [{ name: 'first', state: { terminated: { exitCode: 137, signal: 9 } } }],
    ['0/3', 'Init:Signal:9', '0'],
  ],
  ['the sidecar starts', [initDone, { ...sidecar, started: false }], ['0/3', 'Init:1/3', '5 (50s ago)']],
  ['the last runs', [initDone, sidecar, { name: 'last', state: { running: {} } }], ['1/3', 'Init:2/3', '5 (50s ago)']],
  ['all are done', [initDone, sidecar, { name: 'last', ...done }], ['3/3', 'Running', '1']],
])('podColumns reads init containers: %s', (_, initContainerStatuses, expected) => {
  const started = expected[1] === 'Running'
  expect(
    story({
      spec: initSpec,
      status: { phase: 'Running', initContainerStatuses, ...(started && { containerStatuses: [running, running] }) },
    }),
  ).toEqual(expected)
})

test('podColumns looks at containers once the pod is initialized, whatever an init container does', () => {
  const status = {
    phase: 'Running',
    initContainerStatuses: [{ name: 'first', ...failed, restartCount: 7 }],
    containerStatuses: [running, running],
    conditions: [{ type: 'Initialized', status: 'True' }],
  }
  expect(story({ spec: initSpec, status })).toEqual(['2/3', 'Init:Error', '0'])
})
