import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const v1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
const v2 = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }

test('an autoscaler written as v1 is read as v2, and back', async () => {
  const tested = await TestServer.start()
  const made = await tested.ask('POST', v1, {
    body: {
      metadata: { name: 'a' },
      spec: { scaleTargetRef: target, maxReplicas: 3, targetCPUUtilizationPercentage: 55 },
    },
  })
  expect(made).toMatchObject({
    status: 201,
    json: { apiVersion: 'autoscaling/v1', spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 55 } },
  })
  const read = await tested.ask('GET', `${v2}/a`)
  expect(read.json).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: {
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 55 } } },
      ],
    },
  })
  await tested.server.stop()
})

test('what v1 cannot say survives being written through it', async () => {
  const tested = await TestServer.start()
  const metrics = [
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
  ]
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } }
  expect(
    (
      await tested.ask('POST', v2, {
        body: { metadata: { name: 'a' }, spec: { scaleTargetRef: target, maxReplicas: 3, metrics, behavior } },
      })
    ).status,
  ).toBe(201)
  const old = (await tested.ask('GET', `${v1}/a`)).json as unknown as {
    metadata: { annotations: Record<string, string> }
    spec: Record<string, unknown>
  }
  expect(old.spec['targetCPUUtilizationPercentage']).toBe(70)
  expect(Object.keys(old.metadata.annotations)).toContain('autoscaling.alpha.kubernetes.io/metrics')
  expect((await tested.ask('PUT', `${v1}/a`, { body: { ...old, spec: { ...old.spec, maxReplicas: 9 } } })).status).toBe(
    200,
  )
  const { json } = await tested.ask('GET', `${v2}/a`)
  expect(json).toMatchObject({ spec: { maxReplicas: 9, behavior } })
  expect(json['spec']?.['metrics']).toHaveLength(2)
  expect(json['metadata']?.['annotations']).toBeUndefined()
  await tested.server.stop()
})
