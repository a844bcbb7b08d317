import { expect, test } from 'vitest'
import { qosClassOf } from './pod.ts'

const container = (requests: object, limits: object): object => ({ resources: { requests, limits } })
const both = { cpu: '1', memory: '1Gi' }

test.each([
  { name: 'nothing asked', containers: [container({}, {})], quality: 'BestEffort' },
  { name: 'zero is nothing', containers: [container({ cpu: '0' }, { cpu: '0' })], quality: 'BestEffort' },
  { name: 'a request alone', containers: [container({ memory: '1Gi' }, {})], quality: 'Burstable' },
  {
    name: 'limits equal requests',
    containers: [container(both, { cpu: '1000m', memory: '1024Mi' })],
    quality: 'Guaranteed',
  },
  {
    name: 'one container without limits',
    containers: [container(both, both), container({}, {})],
    quality: 'Burstable',
  },
  { name: 'a limit above its request', containers: [container(both, { ...both, cpu: '2' })], quality: 'Burstable' },
  { name: 'only one resource limited', containers: [container({ cpu: '1' }, { cpu: '1' })], quality: 'Burstable' },
  {
    name: 'other resources do not count',
    containers: [container({ 'x.com/gpu': '1' }, { 'x.com/gpu': '1' })],
    quality: 'BestEffort',
  },
])('qualityOf: $name', ({ containers, quality }) => {
  expect(qosClassOf({ containers } as never)).toBe(quality)
})
