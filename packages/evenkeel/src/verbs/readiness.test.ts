import { describe, expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { readinessCheckFor, readinessOf } from './readiness.ts'

type Parts = Readonly<Record<string, unknown>>

function object(type: string, parts: Parts = {}, metadata: Parts = {}): KubeObject {
  const [apiVersion = '', kind = ''] = type.split(' ')
  return { apiVersion, kind, metadata: { name: 'a', ...metadata }, ...parts } as unknown as KubeObject
}

const condition = (type: string, status: string, more: Parts = {}): Parts => ({
  type,
  status,
  reason: 'Why',
  message: 'because',
  ...more,
})
const conditions = (...list: readonly Parts[]): Parts => ({ status: { conditions: list } })

const cases: readonly [what: string, object: KubeObject, state: string][] = [
  ['a ConfigMap is ready by being there', object('v1 ConfigMap'), 'Ready'],
  [
    'whatever is being deleted',
    object('v1 ConfigMap', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    'Terminating',
  ],
  [
    'a generation nobody looked at',
    object(
      'x.dev/v1 Thing',
      { status: { observedGeneration: 1, conditions: [condition('Ready', 'True')] } },
      { generation: 2 },
    ),
    'Progressing',
  ],
  ['Ready', object('x.dev/v1 Thing', conditions(condition('Ready', 'True'))), 'Ready'],
  ['not Ready', object('x.dev/v1 Thing', conditions(condition('Ready', 'False'))), 'Progressing'],
  [
    'Ready of an earlier generation',
    object('x.dev/v1 Thing', conditions(condition('Ready', 'True', { observedGeneration: 1 })), { generation: 2 }),
    'Progressing',
  ],
  [
    'Stalled',
    object('x.dev/v1 Thing', conditions(condition('Stalled', 'True'), condition('Ready', 'False'))),
    'Failed',
  ],
  ['Reconciling', object('x.dev/v1 Thing', conditions(condition('Reconciling', 'True'))), 'Progressing'],
  ['Complete', object('x.dev/v1 Thing', conditions(condition('Complete', 'True'))), 'Ready'],
  ['conditions that are none', object('x.dev/v1 Thing', { status: { conditions: 'none' } }), 'Ready'],
  ['a new Deployment', object('apps/v1 Deployment', { spec: { replicas: 2 } }), 'Progressing'],
  [
    'a Deployment of which half is there',
    object('apps/v1 Deployment', {
      spec: { replicas: 2 },
      status: { observedGeneration: 1, updatedReplicas: 2, replicas: 2, availableReplicas: 1 },
    }),
    'Progressing',
  ],
  [
    'a Deployment with old pods',
    object('apps/v1 Deployment', {
      spec: { replicas: 2 },
      status: { observedGeneration: 1, updatedReplicas: 2, replicas: 3, availableReplicas: 3 },
    }),
    'Progressing',
  ],
  [
    'a Deployment',
    object('apps/v1 Deployment', {
      spec: { replicas: 2 },
      status: { observedGeneration: 1, updatedReplicas: 2, replicas: 2, availableReplicas: 2 },
    }),
    'Ready',
  ],
  [
    'a Deployment of none',
    object('apps/v1 Deployment', { spec: { replicas: 0 }, status: { observedGeneration: 1 } }),
    'Ready',
  ],
  [
    'a Deployment that is late',
    object('apps/v1 Deployment', {
      status: {
        observedGeneration: 1,
        conditions: [condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' })],
      },
    }),
    'Failed',
  ],
  [
    'a StatefulSet under way',
    object('apps/v1 StatefulSet', {
      spec: { replicas: 2 },
      status: { observedGeneration: 1, updatedReplicas: 1, readyReplicas: 2 },
    }),
    'Progressing',
  ],
  [
    'a StatefulSet up to its partition',
    object('apps/v1 StatefulSet', {
      spec: { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
      status: { observedGeneration: 1, updatedReplicas: 1, readyReplicas: 2 },
    }),
    'Ready',
  ],
  [
    'a DaemonSet',
    object('apps/v1 DaemonSet', {
      status: { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 },
    }),
    'Ready',
  ],
  [
    'a DaemonSet that misses one',
    object('apps/v1 DaemonSet', {
      status: { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2 },
    }),
    'Progressing',
  ],
  ['a ReplicaSet that cannot', object('apps/v1 ReplicaSet', conditions(condition('ReplicaFailure', 'True'))), 'Failed'],
  ['a Job that runs', object('batch/v1 Job', { status: { active: 1 } }), 'Progressing'],
  ['a Job that is done', object('batch/v1 Job', conditions(condition('Complete', 'True'))), 'Ready'],
  ['a Job that failed', object('batch/v1 Job', conditions(condition('Failed', 'True'))), 'Failed'],
  [
    'a Pod that is ready',
    object('v1 Pod', { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } }),
    'Ready',
  ],
  ['a Pod that waits', object('v1 Pod', { status: { phase: 'Pending' } }), 'Progressing'],
  ['a Pod that failed', object('v1 Pod', { status: { phase: 'Failed' } }), 'Failed'],
  ['a Service', object('v1 Service', { spec: { type: 'ClusterIP' } }), 'Ready'],
  ['a load balancer without address', object('v1 Service', { spec: { type: 'LoadBalancer' } }), 'Progressing'],
  [
    'a load balancer',
    object('v1 Service', {
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    }),
    'Ready',
  ],
  ['a claim', object('v1 PersistentVolumeClaim', { status: { phase: 'Bound' } }), 'Ready'],
  ['a lost claim', object('v1 PersistentVolumeClaim', { status: { phase: 'Lost' } }), 'Failed'],
  ['a namespace', object('v1 Namespace', { status: { phase: 'Active' } }), 'Ready'],
  [
    'a definition',
    object(
      'apiextensions.k8s.io/v1 CustomResourceDefinition',
      conditions(condition('NamesAccepted', 'True'), condition('Established', 'True')),
    ),
    'Ready',
  ],
  [
    'a definition with taken names',
    object('apiextensions.k8s.io/v1 CustomResourceDefinition', conditions(condition('NamesAccepted', 'False'))),
    'Failed',
  ],
  ['a Deployment of another group', object('x.dev/v1 Deployment'), 'Ready'],
]

describe('readinessOf', () => {
  test.each(cases)('%s', (_, one, state) => {
    const { state: found, reason, message } = readinessOf(one)
    expect(found).toBe(state)
    if (found !== 'Ready')
      expect([reason, message]).toEqual([expect.stringMatching(/^[A-Z]\w*$/), expect.stringMatching(/./)])
  })
})

describe('judgeBy', () => {
  test('a function, an expression, and neither', async () => {
    const bound = object('x.dev/v1 Thing', { status: { phase: 'Bound', count: 2 } })
    expect((await readinessCheckFor(undefined))(bound).state).toBe('Ready')
    expect((await readinessCheckFor('object.status.phase == "Bound" && object.status.count > 1'))(bound).state).toBe(
      'Ready',
    )
    expect((await readinessCheckFor('object.status.phase == "Lost"'))(bound)).toMatchObject({
      state: 'Progressing',
      reason: 'NotReady',
    })
    expect((await readinessCheckFor('object.status.other == 1'))(bound)).toMatchObject({
      state: 'Progressing',
      reason: 'RuleFailed',
    })
    expect((await readinessCheckFor('object.status'))(bound)).toMatchObject({
      state: 'Progressing',
      reason: 'RuleFailed',
    })
    expect((await readinessCheckFor(() => ({ state: 'Failed', reason: 'Broken' }) as const))(bound)).toEqual({
      state: 'Failed',
      reason: 'Broken',
    })
    expect(
      (
        await readinessCheckFor(() => {
          throw new Error('oops')
        })
      )(bound),
    ).toEqual({ state: 'Progressing', reason: 'RuleFailed', message: 'oops' })
    await expect(readinessCheckFor('object.(')).rejects.toThrow(RangeError)
  })

  test('what is being deleted is not ready, whatever the rule says', async () => {
    expect(
      (await readinessCheckFor(() => true))(object('x.dev/v1 Thing', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))
        .state,
    ).toBe('Terminating')
  })
})

describe('the message of readinessOf', () => {
  const message = (one: KubeObject): string | undefined => readinessOf(one).message

  test('counts from one replica where the spec names none, and from 0 where the status does', () => {
    const status = { observedGeneration: 1 }
    expect(message(object('apps/v1 Deployment', { status }))).toMatch(/^0 of 1 /)
    expect(message(object('apps/v1 ReplicaSet', { status }))).toBe('0 of 1 are available')
    expect(
      message(object('apps/v1 ReplicaSet', { spec: { replicas: 3 }, status: { ...status, availableReplicas: 2 } })),
    ).toBe('2 of 3 are available')
    expect(readinessOf(object('apps/v1 ReplicaSet', { status: { ...status, availableReplicas: 1 } })).state).toBe(
      'Ready',
    )
    expect(message(object('batch/v1 Job'))).toBe('0 active, 0 succeeded, 0 failed')
    expect(message(object('batch/v1 Job', { status: { active: 1, succeeded: 2, failed: 3 } }))).toBe(
      '1 active, 2 succeeded, 3 failed',
    )
  })

  test('names old replicas that are still there', () => {
    const status = {
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
    }
    expect(message(object('apps/v1 Deployment', { spec: { replicas: 2 }, status }))).toBe(
      '1 old replicas are still terminating',
    )
  })

  test('is that of the condition, or says what the condition is', () => {
    const failing = (more: Parts): KubeObject =>
      object('apps/v1 ReplicaSet', conditions({ type: 'ReplicaFailure', status: 'True', ...more }))
    expect(readinessOf(failing({ reason: 'Quota', message: 'too many' }))).toEqual({
      state: 'Failed',
      reason: 'Quota',
      message: 'too many',
    })
    expect(readinessOf(failing({}))).toEqual({
      state: 'Failed',
      reason: 'NotReplicaFailure',
      message: 'ReplicaFailure is True',
    })
    const service = 'apiregistration.k8s.io/v1 APIService'
    expect(message(object(service, conditions({ type: 'Available' })))).toBe('Available is Unknown')
    expect(message(object(service))).toBe('has no condition Available yet')
    expect(readinessOf(object('x.dev/v1 Thing', conditions(condition('Ready', 'False'))))).toMatchObject({
      reason: 'Why',
      message: 'because',
    })
    expect(
      readinessOf(object('x.dev/v1 Thing', conditions({ type: 'Ready', status: 'False', reason: '', message: '' }))),
    ).toMatchObject({ reason: 'NotReady', message: 'condition Ready is not True' })
  })
})
