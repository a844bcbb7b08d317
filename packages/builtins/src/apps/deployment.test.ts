import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './deployment.fixture.ts'
import { deploymentStrategy } from './deployment.ts'

for (const each of cases) {
  test(`deploymentRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('deploymentRules complete a minimal deployment', () => {
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
  }
  const { object } = write({ object: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec } })
  expect(object['spec']).toEqual({
    ...spec,
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx:1',
            imagePullPolicy: 'IfNotPresent',
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            resources: {},
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'default-scheduler',
      },
    },
  })
})

test('deploymentRules count a change of spec or annotations as a new generation, labels not', () => {
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec: { replicas: 1 } }
  const changes = (other: object): boolean | undefined =>
    deploymentStrategy.changesGeneration?.({ ...object, ...other }, object)
  expect(changes({ spec: { replicas: 2 } })).toBe(true)
  expect(changes({ metadata: { annotations: { a: 'b' } } })).toBe(true)
  expect(changes({ metadata: { labels: { a: 'b' } }, status: { replicas: 1 } })).toBe(false)
})
