/**
 * Writes of Node objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }

export const cases: readonly Case[] = [
  {
    name: 'Node cidr',
    object: { ...newNode, spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
    errors: [
      'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  },
  {
    name: 'Node dual',
    object: { ...newNode, spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } },
    errors: [],
  },
  {
    name: 'Node status',
    object: { ...newNode, spec: {}, status: { capacity: { cpu: '4', memory: '1024Mi', pods: '-1' } } },
    errors: [
      'status.allocatable.pods: Invalid value: "-1": must be greater than or equal to 0',
      'status.capacity.pods: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    name: 'Node ok',
    object: { ...newNode, spec: { unschedulable: true }, status: { capacity: { cpu: 4, memory: '1024Mi' } } },
    errors: [],
  },
  {
    name: 'Node update',
    object: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a', resourceVersion: '1' },
      spec: { providerID: 'b', podCIDRs: ['10.0.1.0/24'] },
      status: {
        addresses: [
          { type: 'a', address: 'b' },
          { type: 'a', address: 'b' },
        ],
      },
    },
    old: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a', resourceVersion: '1' },
      spec: { providerID: 'a', podCIDRs: ['10.0.0.0/24'] },
      status: {
        addresses: [
          { type: 'a', address: 'b' },
          { type: 'a', address: 'b' },
        ],
      },
    },
    errors: [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      'status.addresses[1]: Duplicate value: {"Type":"a","Address":"b"}',
    ],
  },
]
