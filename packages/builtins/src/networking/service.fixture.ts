/**
 * Writes of Service objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newService = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'ns' } }
const storedService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  { name: 'Service', object: { ...newService, spec: { ports: [{ port: 80 }] } }, errors: [] },
  { name: 'Service none', object: { ...newService, spec: {} }, errors: ['spec.ports: Required value'] },
  { name: 'Service ext', object: { ...newService, spec: { type: 'ExternalName', externalName: 'a.b.' } }, errors: [] },
  {
    name: 'Service ext bad',
    object: {
      ...newService,
      spec: {
        type: 'ExternalName',
        externalName: 'A_',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        clusterIPs: ['1.2.3.4'],
      },
    },
    errors: [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      "spec.externalName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and m",
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
    ],
  },
  {
    name: 'Service ext none',
    object: { ...newService, spec: { type: 'ExternalName' } },
    errors: ['spec.externalName: Required value'],
  },
  { name: 'Service lb', object: { ...newService, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }, errors: [] },
  {
    name: 'Service np none',
    object: {
      ...newService,
      spec: { type: 'NodePort', ports: [{ port: 80 }], clusterIP: 'None', clusterIPs: ['None'] },
    },
    errors: ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  },
  {
    name: 'Service ports',
    object: {
      ...newService,
      spec: {
        ports: [
          { port: 80 },
          { port: 80, name: 'a' },
          { port: 81, name: 'a', protocol: 'X' },
          { port: 0, name: 'A_', targetPort: 'Bad_', appProtocol: 'a b' },
          { port: 82, name: 'n', nodePort: 30000 },
        ],
      },
    },
    errors: [
      'spec.ports[0].name: Required value',
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      'spec.ports[2].name: Duplicate value: "a"',
      'spec.ports[2].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      "spec.ports[3].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end ",
      'spec.ports[3].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must star',
      'spec.ports[3].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[3].targetPort: Invalid value: "Bad_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      "spec.ports[4].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ],
  },
  {
    name: 'Service dup nodeport',
    object: {
      ...newService,
      spec: {
        type: 'NodePort',
        ports: [
          { port: 80, name: 'a', nodePort: 30000 },
          { port: 81, name: 'b', nodePort: 30000 },
        ],
      },
    },
    errors: ['spec.ports[1].nodePort: Duplicate value: 30000'],
  },
  {
    name: 'Service sel',
    object: { ...newService, spec: { ports: [{ port: 80 }], selector: { 'a b': '!' } } },
    errors: [
      "spec.selector: Invalid value: \"!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must st",
      "spec.selector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alph",
    ],
  },
  {
    name: 'Service aff',
    object: { ...newService, spec: { ports: [{ port: 80 }], sessionAffinity: 'ClientIP' } },
    errors: [],
  },
  {
    name: 'Service aff bad',
    object: {
      ...newService,
      spec: {
        ports: [{ port: 80 }],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      },
    },
    errors: [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
    ],
  },
  {
    name: 'Service aff x',
    object: { ...newService, spec: { ports: [{ port: 80 }], sessionAffinity: 'X' } },
    errors: ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'],
  },
  {
    name: 'Service type',
    object: { ...newService, spec: { ports: [{ port: 80 }], type: 'X' } },
    errors: [
      'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  },
  {
    name: 'Service extip',
    object: { ...newService, spec: { ports: [{ port: 80 }], externalIPs: ['1.2.3.4', 'x', '127.0.0.1'] } },
    errors: [
      'spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
  },
  {
    name: 'Service lbr',
    object: {
      ...newService,
      spec: {
        ports: [{ port: 80 }],
        loadBalancerSourceRanges: ['x'],
        allocateLoadBalancerNodePorts: true,
        loadBalancerClass: 'a b',
      },
    },
    errors: [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
    ],
  },
  {
    name: 'Service lbc',
    object: {
      ...newService,
      spec: {
        ports: [{ port: 80 }],
        type: 'LoadBalancer',
        loadBalancerClass: 'a b',
        loadBalancerSourceRanges: [' 10.0.0.0/8 ', 'y'],
      },
    },
    errors: [
      'spec.LoadBalancerSourceRanges[1]: Invalid value: "y": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.loadBalancerClass: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end wit",
    ],
  },
  {
    name: 'Service etp',
    object: { ...newService, spec: { ports: [{ port: 80 }], externalTrafficPolicy: 'Local', healthCheckNodePort: 5 } },
    errors: [
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      "spec.healthCheckNodePort: Invalid value: 5: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  },
  {
    name: 'Service etp2',
    object: {
      ...newService,
      spec: {
        ports: [{ port: 80 }],
        type: 'NodePort',
        externalTrafficPolicy: 'X',
        internalTrafficPolicy: 'Y',
        trafficDistribution: 'Z',
      },
    },
    errors: [
      'spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
      'spec.internalTrafficPolicy: Unsupported value: "Y": supported values: "Cluster", "Local"',
      'spec.trafficDistribution: Unsupported value: "Z": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  },
  {
    name: 'Service ips',
    object: {
      ...newService,
      spec: {
        ports: [{ port: 80 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.2', '10.0.0.3', 'x'],
        ipFamilies: ['IPv4', 'IPv4', 'X'],
        ipFamilyPolicy: 'Y',
      },
    },
    errors: [
      'spec.clusterIPs: Invalid value: ["10.0.0.2","10.0.0.3","x"]: first value must match `clusterIP`',
      'spec.clusterIPs: Invalid value: ["10.0.0.2","10.0.0.3","x"]: may only hold up to 2 values',
      'spec.clusterIPs[2]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.ipFamilies[1]: Duplicate value: "IPv4"',
      'spec.ipFamilies[2]: Unsupported value: "X": supported values: "IPv4", "IPv6"',
      'spec.ipFamilyPolicy: Unsupported value: "Y": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ],
  },
  {
    name: 'Service dual',
    object: {
      ...newService,
      spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.3'] },
    },
    errors: [
      'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.3"]: may specify no more than one IP for each IP family',
    ],
  },
  {
    name: 'Service fam',
    object: {
      ...newService,
      spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv6'] },
    },
    errors: ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
  },
  {
    name: 'Service name',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: '1a', namespace: 'ns' },
      spec: { ports: [{ port: 80 }] },
    },
    errors: [],
  },
  {
    name: 'Service update ip',
    object: { ...storedService, spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] } },
    old: { ...storedService, spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] } },
    errors: ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
  },
  {
    name: 'Service update lbc',
    object: {
      ...storedService,
      spec: {
        ports: [{ port: 80 }],
        type: 'LoadBalancer',
        loadBalancerClass: 'a/b',
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
      },
    },
    old: {
      ...storedService,
      spec: { ports: [{ port: 80 }], type: 'LoadBalancer', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    },
    errors: ['spec.loadBalancerClass: Invalid value: "a/b": may not change once set'],
  },
  {
    name: 'Service update type',
    object: {
      ...storedService,
      spec: {
        ports: [{ port: 80, nodePort: 30001 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        externalTrafficPolicy: 'Cluster',
      },
    },
    old: {
      ...storedService,
      spec: {
        type: 'NodePort',
        ports: [{ port: 80, nodePort: 30001 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        externalTrafficPolicy: 'Cluster',
      },
    },
    errors: [],
  },
  {
    name: 'Service update to ext',
    object: {
      ...storedService,
      spec: {
        type: 'ExternalName',
        externalName: 'x',
        ports: [{ port: 80 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        internalTrafficPolicy: 'Cluster',
      },
    },
    old: {
      ...storedService,
      spec: {
        ports: [{ port: 80 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        internalTrafficPolicy: 'Cluster',
      },
    },
    errors: [],
  },
]
