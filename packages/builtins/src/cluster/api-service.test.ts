import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'

const kind = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' }
const sound = { version: 'v1', group: 'a.b', groupPriorityMinimum: 1000, versionPriority: 15 }

test('apiServiceRules accept a local service and one elsewhere, whose port is 443', () => {
  expect(write({ object: { ...kind, metadata: { name: 'v1.a.b' }, spec: sound } }).errors).toEqual([])
  const { object, errors } = write({
    object: { ...kind, metadata: { name: 'v1.a.b' }, spec: { ...sound, service: { namespace: 'n', name: 's' } } },
  })
  expect(errors).toEqual([])
  expect(object['spec']).toMatchObject({ service: { port: 443 } })
})

test('apiServiceRules refuse a wrong name, priorities out of range and certificates of local services', () => {
  const spec = {
    version: 'v1',
    group: 'a.b',
    groupPriorityMinimum: 20_001,
    caBundle: 'eA==',
    insecureSkipTLSVerify: true,
  }
  expect(write({ object: { ...kind, metadata: { name: 'x' }, spec } }).errors).toEqual([
    'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.b"',
    'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle',
    'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    'spec.versionPriority: Invalid value: 0: must be positive and less than 1000',
  ])
})
