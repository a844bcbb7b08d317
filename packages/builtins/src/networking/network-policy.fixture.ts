/**
 * Writes of NetworkPolicy objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newNetworkPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'a', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'NetworkPolicy',
    object: {
      ...newNetworkPolicy,
      spec: {
        podSelector: {},
        ingress: [
          {
            ports: [
              { port: 80 },
              { port: 'http' },
              { port: 0 },
              { port: 'A' },
              { port: 80, endPort: 70 },
              { endPort: 5 },
              { port: 'a', endPort: 5 },
              { protocol: 'X' },
            ],
            from: [
              {},
              { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } },
              { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8', 'x', '10.1.0.0/16'] } },
              { ipBlock: {} },
              { ipBlock: { cidr: 'y' } },
            ],
          },
        ],
      },
    },
    errors: [
      'spec.ingress[0].from[0]: Required value: must specify a peer',
      'spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer',
      'spec.ingress[0].from[2].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
      'spec.ingress[0].from[2].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
      'spec.ingress[0].from[2].ipBlock.except[2]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      'spec.ingress[0].from[3].ipBlock.cidr: Required value',
      'spec.ingress[0].from[4].ipBlock.cidr: Invalid value: "y": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      'spec.ingress[0].ports[2].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ingress[0].ports[3].port: Invalid value: "A": must contain at least one letter (a-z)',
      'spec.ingress[0].ports[3].port: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.ingress[0].ports[4].endPort: Invalid value: 80: must be greater than or equal to `port`',
      'spec.ingress[0].ports[5].endPort: Invalid value: 5: may not be specified when `port` is not specified',
      'spec.ingress[0].ports[6].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
      'spec.ingress[0].ports[7].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
    ],
  },
  {
    name: 'NetworkPolicy ok',
    object: {
      ...newNetworkPolicy,
      spec: { podSelector: {}, egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }], ingress: [{}] },
    },
    errors: [],
  },
  {
    name: 'NetworkPolicy types',
    object: { ...newNetworkPolicy, spec: { podSelector: {}, policyTypes: ['Ingress', 'X'] } },
    errors: ['spec.policyTypes[1]: Unsupported value: "X": supported values: "Ingress", "Egress"'],
  },
  {
    name: 'NetworkPolicy types3',
    object: { ...newNetworkPolicy, spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress', 'Ingress'] } },
    errors: [
      'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
    ],
  },
]
