/**
 * Writes of EndpointSlice objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newEndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'a', namespace: 'ns' },
}

export const cases: readonly Case[] = [
  {
    name: 'EndpointSlice',
    object: {
      ...newEndpointSlice,
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['1.2.3.4'] },
        { addresses: [] },
        { addresses: ['::1', 'x', '127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.1'] },
        {
          addresses: ['1.1.1.1'],
          nodeName: 'A_',
          hostname: 'a.b',
          hints: { forZones: [{ name: 'z' }, { name: 'z' }, { name: '!' }] },
        },
      ],
      ports: [{}, { name: 'a', port: 80 }, { name: 'a' }, { name: 'A_', protocol: 'X', appProtocol: 'a b' }],
    },
    errors: [
      'endpoints[1].addresses: Required value: must contain at least 1 address',
      'endpoints[2].addresses: Invalid value: "::1": must be an IPv4 address',
      'endpoints[2].addresses[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[2].addresses[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'endpoints[2].addresses[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[2].addresses[3]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'endpoints[2].addresses[4]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'endpoints[2].addresses[5]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
      'endpoints[3].hints.forZones[1].name: Duplicate value: "z"',
      "endpoints[3].hints.forZones[2].name: Invalid value: \"!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '",
      'endpoints[3].hostname: Invalid value: "a.b": must not contain dots',
      "endpoints[3].nodeName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', a",
      'ports[2].name: Duplicate value: "a"',
      "ports[3].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with ",
      'ports[3].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and',
      'ports[3].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  },
  {
    name: 'EndpointSlice eps6',
    object: {
      ...newEndpointSlice,
      addressType: 'IPv6',
      endpoints: [{ addresses: ['::1', '::', 'fe80::1', 'ff02::1', '1.2.3.4', 'fd00::1'] }],
    },
    errors: [
      'endpoints[0].addresses: Invalid value: "1.2.3.4": must be an IPv6 address',
      'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[0].addresses[1]: Invalid value: "::": may not be unspecified (::)',
      'endpoints[0].addresses[2]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'endpoints[0].addresses[3]: Invalid value: "ff02::1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  },
  {
    name: 'EndpointSlice type',
    object: { ...newEndpointSlice, addressType: '', endpoints: [] },
    errors: ['addressType: Required value'],
  },
  {
    name: 'EndpointSlice type2',
    object: { ...newEndpointSlice, addressType: 'X', endpoints: [] },
    errors: ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'],
  },
  {
    name: 'EndpointSlice fqdn',
    object: { ...newEndpointSlice, addressType: 'FQDN', endpoints: [{ addresses: ['a', 'a.b', 'a.b.', 'A_', ''] }] },
    errors: [
      'endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots',
      "endpoints[0].addresses[3]: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.",
      'endpoints[0].addresses[4]: Required value',
    ],
  },
  {
    name: 'EndpointSlice update',
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      addressType: 'IPv6',
      endpoints: [],
    },
    old: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' },
      addressType: 'IPv4',
      endpoints: [],
    },
    errors: ['addressType: Invalid value: "IPv6": field is immutable'],
  },
  {
    name: 'EndpointSlice ok',
    object: {
      ...newEndpointSlice,
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [{ port: 80 }],
    },
    errors: [],
  },
]
