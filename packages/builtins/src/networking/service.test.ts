import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { write } from '../writes.fixture.ts'
import type { Written } from '../writes.fixture.ts'
import { cases } from './service.fixture.ts'
import { serviceStrategy } from './service.ts'

for (const each of cases) {
  test(`serviceRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'ns' } }
const specOf = (written: Written): JsonObject => written.object['spec'] as JsonObject

test('serviceRules complete a minimal service with an address of its own, always the same', () => {
  const first = write({ object: { ...service, spec: { ports: [{ port: 80 }] } } })
  const address = specOf(first)['clusterIP']
  expect(address).toMatch(/^10\.(9[6-9]|10[0-9]|11[01])\./)
  expect(specOf(first)).toEqual({
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    clusterIP: address,
    clusterIPs: [address],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  })
  expect(write({ object: { ...service, spec: { ports: [{ port: 80 }] } } })).toEqual(first)
})

test('serviceRules keep None, give external names no address, and node ports to those that need them', () => {
  expect(specOf(write({ object: { ...service, spec: { clusterIP: 'None' } } }))).toMatchObject({
    clusterIP: 'None',
    clusterIPs: ['None'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
  })
  expect(
    specOf(write({ object: { ...service, spec: { type: 'ExternalName', externalName: 'x' } } }))['clusterIP'],
  ).toBeUndefined()
  const balanced = write({
    object: {
      ...service,
      spec: {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'b' },
        ],
      },
    },
  })
  const ports = (specOf(balanced)['ports'] as readonly JsonObject[]).map((port) => Number(port['nodePort']))
  expect(new Set(ports).size).toBe(2)
  for (const port of [...ports, Number(specOf(balanced)['healthCheckNodePort'])])
    expect(port >= 30_000 && port < 32_768).toBe(true)
  expect(balanced.errors).toEqual([])
})

test('serviceRules keep what was allocated when an update leaves it out', () => {
  const old = write({ object: { ...service, spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 31_000 }] } } })
    .object as unknown as JsonObject
  const { object, errors } = write({ object: { ...service, spec: { type: 'NodePort', ports: [{ port: 81 }] } }, old })
  expect(errors).toEqual([])
  expect(object['spec']).toMatchObject({
    clusterIP: (old['spec'] as JsonObject)['clusterIP'],
    ports: [{ port: 81, nodePort: 31_000 }],
  })
})

test('serviceRules select by type and address', () => {
  const object = { ...service, spec: { type: 'ClusterIP', clusterIP: '10.96.0.1' } }
  expect([
    serviceStrategy.selectableFields?.['spec.type']?.(object),
    serviceStrategy.selectableFields?.['spec.clusterIP']?.(object),
  ]).toEqual(['ClusterIP', '10.96.0.1'])
})
