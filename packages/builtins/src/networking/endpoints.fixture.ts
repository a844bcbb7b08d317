/**
 * Writes of Endpoints objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

export const cases: readonly Case[] = [
  {
    name: 'Endpoints',
    object: {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'a', namespace: 'ns' },
      subsets: [
        { addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] },
        {},
        {
          addresses: [{ ip: 'x', hostname: 'A', nodeName: 'A_' }],
          notReadyAddresses: [{ ip: '127.0.0.1' }],
          ports: [{ port: 0 }, { name: 'a', port: 80, protocol: 'X' }],
        },
      ],
    },
    errors: [
      'subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`',
      'subsets[2].addresses[0].hostname: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', ',
      'subsets[2].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      'subsets[2].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[2].addresses[0].nodeName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-',
      'subsets[2].notReadyAddresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'subsets[2].ports[0].name: Required value',
      'subsets[2].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'subsets[2].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  },
]
