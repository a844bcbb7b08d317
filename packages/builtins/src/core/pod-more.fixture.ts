/**
 * Writes of pods, continued: the second half of the cases of pod.fixture.ts.
 */
import type { Case } from '../writes.fixture.ts'
import { newPod, storedPod } from './pod.fixture.ts'

export const moreCases: readonly Case[] = [
  {
    name: 'Pod res',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: '100m' } },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod res guaranteed',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', resources: { limits: { cpu: '1', memory: '1Gi' } } }] },
    },
    errors: [],
  },
  {
    name: 'Pod res burst',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', resources: { requests: { memory: '1Gi' } } }] },
    },
    errors: [],
  },
  {
    name: 'Pod res bad',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            resources: {
              limits: { cpu: '1', foo: '1', 'a b': '1', 'x.com/gpu': '1', pods: '1' },
              requests: { cpu: '2', 'x.com/gpu': '2', 'y.com/gpu': '1', memory: '-1' },
            },
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      'spec.containers[0].resources.limits[a b]: Invalid value: "a b": must be a standard resource for containers',
      "spec.containers[0].resources.limits[a b]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must",
      'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
      'spec.containers[0].resources.requests: Invalid value: "2": must be equal to x.com/gpu limit of 1',
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      'spec.containers[0].resources.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
      "spec.containers[0].resources.requests[a b]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and mu",
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
      'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests[pods]: Invalid value: "pods": must be a standard resource for containers',
    ],
  },
  {
    name: 'Pod res huge',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', resources: { limits: { 'hugepages-2Mi': '4Mi' } } }] },
    },
    errors: ['spec.containers[0].resources: Forbidden: HugePages require cpu or memory'],
  },
  {
    name: 'Pod res frac',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            resources: { limits: { 'x.com/gpu': '1.5', cpu: '0.0001', 'ephemeral-storage': 5 } },
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].resources.limits[x.com/gpu]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.requests[x.com/gpu]: Invalid value: "1500m": must be an integer',
    ],
  },
  {
    name: 'Pod res zero',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', resources: { limits: { cpu: '0', memory: '0' } } }] },
    },
    errors: [],
  },
  {
    name: 'Pod res two',
    object: {
      ...newPod,
      spec: {
        containers: [
          { name: 'c', image: 'nginx', resources: { limits: { cpu: '1', memory: '1Gi' } } },
          { name: 'd', image: 'nginx' },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod probe http',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', livenessProbe: { httpGet: { port: 80 } } }] },
    },
    errors: [],
  },
  {
    name: 'Pod probe none',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx', livenessProbe: {} }] } },
    errors: ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
  },
  {
    name: 'Pod probe two',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx', livenessProbe: { httpGet: { port: 'x' }, tcpSocket: { port: 80 } } }],
      },
    },
    errors: ['spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
  },
  {
    name: 'Pod probe bad',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            livenessProbe: {
              exec: {},
              initialDelaySeconds: -1,
              timeoutSeconds: -1,
              periodSeconds: -1,
              successThreshold: 2,
              failureThreshold: -1,
              terminationGracePeriodSeconds: 0,
            },
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].livenessProbe.exec.command: Required value',
      'spec.containers[0].livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0',
      'spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
      'spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
      'spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    name: 'Pod probe grpc',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx', livenessProbe: { grpc: { port: 0 } } }] } },
    errors: ['spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  },
  {
    name: 'Pod probe grpc ok',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx', livenessProbe: { grpc: { port: 5 } } }] } },
    errors: [],
  },
  {
    name: 'Pod probe tcp',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', livenessProbe: { tcpSocket: { port: 'Bad_' } } }] },
    },
    errors: [
      'spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: "Bad_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (',
    ],
  },
  {
    name: 'Pod probe hdr',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            livenessProbe: { httpGet: { port: 0, scheme: 'X', httpHeaders: [{ name: 'a b', value: '' }] } },
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or \'',
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "X": supported values: "HTTP", "HTTPS"',
    ],
  },
  {
    name: 'Pod ready',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            readinessProbe: { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 5, successThreshold: 2 },
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
    ],
  },
  {
    name: 'Pod life',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            lifecycle: { preStop: { httpGet: { port: 80 } }, postStart: { exec: { command: ['x'] } } },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod life bad',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx', lifecycle: { preStop: {} } }] } },
    errors: ['spec.containers[0].lifecycle.preStop: Required value: must specify a handler type'],
  },
  {
    name: 'Pod life sleep',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', lifecycle: { preStop: { sleep: { seconds: 100 } } } }] },
    },
    errors: [
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 100: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  },
  {
    name: 'Pod life sleep0',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', lifecycle: { preStop: { sleep: { seconds: 0 } } } }] },
    },
    errors: [],
  },
  {
    name: 'Pod life sleep-1',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', lifecycle: { preStop: { sleep: { seconds: -1 } } } }] },
    },
    errors: [
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  },
  {
    name: 'Pod policies',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx', imagePullPolicy: 'Z', terminationMessagePolicy: 'W' }],
        restartPolicy: 'X',
        dnsPolicy: 'Y',
      },
    },
    errors: [
      'spec.containers[0].imagePullPolicy: Unsupported value: "Z": supported values: "Always", "IfNotPresent", "Never"',
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "W": supported values: "File", "FallbackToLogsOnError"',
      'spec.dnsPolicy: Unsupported value: "Y": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      'spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", "Never"',
    ],
  },
  {
    name: 'Pod fields',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        nodeSelector: { 'a b': '!' },
        serviceAccountName: 'A_',
        nodeName: 'A_',
        hostname: 'a.b',
        subdomain: 'A',
        priorityClassName: 'A_',
        runtimeClassName: 'A_',
        activeDeadlineSeconds: 0,
        preemptionPolicy: 'X',
        hostAliases: [{ ip: 'x', hostnames: ['A_'] }],
        schedulingGates: [{ name: 'a' }, { name: 'a' }, { name: 'a b' }],
        readinessGates: [{ conditionType: 'a b' }],
      },
    },
    errors: [
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
      'spec.hostAliases[0].hostnames[0]: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-',
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.hostname: Invalid value: "a.b": must not contain dots',
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
      "spec.nodeName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must ",
      "spec.nodeSelector: Invalid value: \"!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and mus",
      "spec.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an ",
      'spec.preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
      "spec.priorityClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ",
      "spec.readinessGates[0].conditionType: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must sta",
      "spec.runtimeClassName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', a",
      'spec.schedulingGates[1]: Duplicate value: "a"',
      "spec.schedulingGates[2]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end wi",
      "spec.serviceAccountName: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',",
      'spec.subdomain: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and',
    ],
  },
  {
    name: 'Pod tol',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        tolerations: [
          {},
          { operator: 'Exists' },
          { key: 'a b' },
          { key: 'a', value: '!' },
          { key: 'a', operator: 'Exists', value: 'b' },
          { key: 'a', operator: 'X' },
          { key: 'a', effect: 'X' },
          { key: 'a', tolerationSeconds: 5 },
          { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
        ],
      },
    },
    errors: [
      'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      "spec.tolerations[2].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end wi",
      "spec.tolerations[3].operator: Invalid value: \"!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '",
      'spec.tolerations[4].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\'',
      'spec.tolerations[5].operator: Unsupported value: "X": supported values: "Equal", "Exists"',
      'spec.tolerations[6].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'spec.tolerations[7].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set',
    ],
  },
  {
    name: 'Pod gated',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], nodeName: 'n', schedulingGates: [{ name: 'a' }] },
    },
    errors: ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  },
  {
    name: 'Pod hostnet',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80, hostPort: 90 }] }],
        hostNetwork: true,
      },
    },
    errors: [
      'spec.containers[0].ports[0].hostPort: Invalid value: 90: must match `containerPort` when `hostNetwork` is true',
    ],
  },
  {
    name: 'Pod dl',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 3000000000 } },
    errors: ['spec.activeDeadlineSeconds: Invalid value: 3000000000: must be between 1 and 2147483647, inclusive'],
  },
  {
    name: 'Pod overhead',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }], overhead: { cpu: '0.25' } } },
    errors: [],
  },
  {
    name: 'Pod status',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }] }, status: { phase: 'Running' } },
    errors: [],
  },
  {
    name: 'Pod ephemeral create',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], ephemeralContainers: [{ name: 'e', image: 'x' }] },
    },
    errors: ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  },
  {
    name: 'Pod update image',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'b' }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod update none',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod update add ctr',
    object: {
      ...storedPod,
      spec: {
        containers: [
          { name: 'c', image: 'nginx' },
          { name: 'd', image: 'nginx' },
        ],
      },
    },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  },
  {
    name: 'Pod update node',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], nodeName: 'n' } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadline',
    ],
  },
  {
    name: 'Pod update env',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx', env: [{ name: 'A', value: 'b' }] }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadline',
    ],
  },
  {
    name: 'Pod update deadline',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 5 } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 4 } },
    errors: ['spec.activeDeadlineSeconds: Invalid value: 5: must be less than or equal to previous value'],
  },
  {
    name: 'Pod update deadline less',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 3 } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 4 } },
    errors: [],
  },
  {
    name: 'Pod update deadline none',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 4 } },
    errors: ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  },
  {
    name: 'Pod update deadline new',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], activeDeadlineSeconds: 4 } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod update tol add',
    object: {
      ...storedPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      },
    },
    old: {
      ...storedPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], tolerations: [{ key: 'a', operator: 'Exists' }] },
    },
    errors: [],
  },
  {
    name: 'Pod update tol rm',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    old: {
      ...storedPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], tolerations: [{ key: 'a', operator: 'Exists' }] },
    },
    errors: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  },
  {
    name: 'Pod update tol sec',
    object: {
      ...storedPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
      },
    },
    old: {
      ...storedPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 6 }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod update gate add',
    object: {
      ...storedPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], schedulingGates: [{ name: 'a' }, { name: 'b' }] },
    },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], schedulingGates: [{ name: 'a' }] } },
    errors: ["spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"],
  },
  {
    name: 'Pod update gate rm',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], schedulingGates: [{ name: 'a' }] } },
    errors: [],
  },
  {
    name: 'Pod update grace',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], terminationGracePeriodSeconds: 1 } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], terminationGracePeriodSeconds: -5 } },
    errors: [],
  },
  {
    name: 'Pod update grace2',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], terminationGracePeriodSeconds: 1 } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], terminationGracePeriodSeconds: 5 } },
    errors: [
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadline',
    ],
  },
  {
    name: 'Pod update gated sel',
    object: {
      ...storedPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], schedulingGates: [{ name: 'a' }], nodeSelector: { a: 'b' } },
    },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], schedulingGates: [{ name: 'a' }] } },
    errors: [],
  },
  {
    name: 'Pod update sel',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], nodeSelector: { a: 'b' } } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadline',
    ],
  },
  {
    name: 'Pod update labels',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        namespace: 'ns',
        resourceVersion: '1',
        uid: '11111111-2222-3333-4444-555555555555',
        labels: { a: 'b' },
      },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod update empty vols',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod update img empty',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: '' }] } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    errors: [
      'spec.containers[0].image: Required value',
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadline',
    ],
  },
  {
    name: 'Pod update status qos',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] }, status: { qosClass: 'Guaranteed' } },
    old: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] }, status: { qosClass: 'BestEffort' } },
    subresource: 'status',
    errors: ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
  },
  {
    name: 'Pod update status',
    object: { ...storedPod, spec: { containers: [{ name: 'c', image: 'nginx' }] }, status: { phase: 'Running' } },
    old: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        namespace: 'ns',
        resourceVersion: '1',
        uid: '11111111-2222-3333-4444-555555555555',
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }],
      },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
      status: { qosClass: 'BestEffort' },
    },
    subresource: 'status',
    errors: [],
  },
  {
    name: 'PodTemplate',
    object: {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 'a', namespace: 'ns' },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
    },
    errors: [],
  },
]
