import { expect, test } from 'vitest'
import type { UnstructuredObject } from 'evenkeel/unstable/builtins'
import { write } from '../writes.fixture.ts'
import { moreCases } from './pod-more.fixture.ts'
import { cases } from './pod.fixture.ts'
import { podStrategy } from './pod.ts'

for (const each of [...cases, ...moreCases]) {
  test(`podRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

const grace = (spec: object, status: object, asked?: number): number | undefined =>
  podStrategy.graceSeconds?.(
    { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec, status } as unknown as UnstructuredObject,
    asked,
  )

test('podRules give a running pod its time, and one that never ran or has ended none', () => {
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 7 }, {})).toBe(7)
  expect(grace({ nodeName: 'n' }, {})).toBe(30)
  expect(grace({ nodeName: 'n' }, {}, 5)).toBe(5)
  expect(grace({ nodeName: 'n' }, {}, -1)).toBe(1)
  expect(grace({ terminationGracePeriodSeconds: 7 }, {}, 9)).toBe(0)
  expect(grace({ nodeName: 'n' }, { phase: 'Failed' }, 9)).toBe(0)
  expect(grace({ nodeName: 'n' }, { phase: 'Succeeded' })).toBe(0)
})

test('podRules make a pending pod, say its quality, and request what is limited', () => {
  const container = { name: 'c', image: 'i', resources: { limits: { cpu: '0.5', memory: '1024Mi' } } }
  const { object } = write({
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [container] },
      status: { phase: 'Running' },
    },
  })
  expect(object['status']).toEqual({ phase: 'Pending', qosClass: 'Guaranteed' })
  const amounts = { cpu: '500m', memory: '1Gi' }
  expect(object['spec']).toMatchObject({
    enableServiceLinks: true,
    containers: [{ resources: { limits: amounts, requests: amounts } }],
  })
})

test('podRules mirror the account and complete volumes', () => {
  const spec = {
    serviceAccount: 'x',
    containers: [],
    volumes: [{ name: 'a' }, { name: 'b', configMap: { name: 'm' } }, { name: 'c', hostPath: { path: '/' } }],
  }
  expect(write({ object: { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec } }).object['spec']).toMatchObject({
    serviceAccount: 'x',
    serviceAccountName: 'x',
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'b', configMap: { name: 'm', defaultMode: 420 } },
      { name: 'c', hostPath: { path: '/', type: '' } },
    ],
  })
})

test('podRules select by what schedulers and kubelets ask for', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: { nodeName: 'n', restartPolicy: 'Never', hostNetwork: true },
    status: { phase: 'Running', podIPs: [{ ip: '1.2.3.4' }] },
  }
  const values = Object.fromEntries(
    Object.entries(podStrategy.selectableFields ?? {}).map(([field, read]) => [field, read(object)]),
  )
  expect(values).toEqual({
    'spec.nodeName': 'n',
    'spec.host': 'n',
    'spec.restartPolicy': 'Never',
    'spec.schedulerName': '',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'true',
    'status.phase': 'Running',
    'status.podIP': '1.2.3.4',
    'status.podIPs': '1.2.3.4',
    'status.nominatedNodeName': '',
  })
})
