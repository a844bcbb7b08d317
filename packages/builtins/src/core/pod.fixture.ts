/**
 * Writes of Pod and PodTemplate objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

export const newPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'ns' } }
export const storedPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'ns', resourceVersion: '1', uid: '11111111-2222-3333-4444-555555555555' },
}

export const cases: readonly Case[] = [
  { name: 'Pod', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } }, errors: [] },
  { name: 'Pod none', object: newPod, errors: ['spec.containers: Required value'] },
  {
    name: 'Pod labels',
    object: {
      ...newPod,
      spec: {
        containers: [
          { name: 'c', image: 'nginx', ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }] },
        ],
        serviceAccount: 'old',
        hostNetwork: true,
      },
    },
    errors: [
      'spec.containers[0].ports[1].hostPort: Invalid value: 82: must match `containerPort` when `hostNetwork` is true',
    ],
  },
  {
    name: 'Pod sa',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }], serviceAccountName: 'x' } },
    errors: [],
  },
  { name: 'Pod image nginx', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }] } }, errors: [] },
  {
    name: 'Pod image nginx:latest',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx:latest' }] } },
    errors: [],
  },
  {
    name: 'Pod image nginx:1.2',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx:1.2' }] } },
    errors: [],
  },
  {
    name: 'Pod image host:5000/a/b',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'host:5000/a/b' }] } },
    errors: [],
  },
  {
    name: 'Pod image host:5000/a/b:latest',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'host:5000/a/b:latest' }] } },
    errors: [],
  },
  {
    name: 'Pod image a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod image a:latest@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    object: {
      ...newPod,
      spec: {
        containers: [
          { name: 'c', image: 'a:latest@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod image a:1@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    object: {
      ...newPod,
      spec: {
        containers: [
          { name: 'c', image: 'a:1@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' },
        ],
      },
    },
    errors: [],
  },
  { name: 'Pod image Nginx', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'Nginx' }] } }, errors: [] },
  {
    name: 'Pod image UPPER/x',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'UPPER/x' }] } },
    errors: [],
  },
  {
    name: 'Pod image localhost/x',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'localhost/x' }] } },
    errors: [],
  },
  { name: 'Pod image a b', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'a b' }] } }, errors: [] },
  {
    name: 'Pod image nginx:',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx:' }] } },
    errors: [],
  },
  {
    name: 'Pod image aaa/b__c',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'aaa/b__c' }] } },
    errors: [],
  },
  {
    name: 'Pod image ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff' }] },
    },
    errors: [],
  },
  {
    name: 'Pod image gcr.io/x_y',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'gcr.io/x_y' }] } },
    errors: [],
  },
  { name: 'Pod image -a', object: { ...newPod, spec: { containers: [{ name: 'c', image: '-a' }] } }, errors: [] },
  { name: 'Pod image a..b', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'a..b' }] } }, errors: [] },
  {
    name: 'Pod image docker.io/library/nginx',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'docker.io/library/nginx' }] } },
    errors: [],
  },
  {
    name: 'Pod image [::1]:50/a',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: '[::1]:50/a' }] } },
    errors: [],
  },
  { name: 'Pod image a/B', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'a/B' }] } }, errors: [] },
  {
    name: 'Pod image foo.com/Bar',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'foo.com/Bar' }] } },
    errors: [],
  },
  { name: 'Pod image x:y:z', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'x:y:z' }] } }, errors: [] },
  { name: 'Pod image a---b', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'a---b' }] } }, errors: [] },
  { name: 'Pod image a___b', object: { ...newPod, spec: { containers: [{ name: 'c', image: 'a___b' }] } }, errors: [] },
  {
    name: 'Pod image ws',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: ' nginx ' }] } },
    errors: ['spec.containers[0].image: Invalid value: " nginx ": must not have leading or trailing whitespace'],
  },
  {
    name: 'Pod image none',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: '' }] } },
    errors: ['spec.containers[0].image: Required value'],
  },
  {
    name: 'Pod names',
    object: {
      ...newPod,
      spec: {
        containers: [
          { name: 'c', image: 'nginx' },
          { name: 'c', image: 'nginx' },
          { name: 'A_', image: 'nginx' },
          { name: '', image: 'nginx' },
        ],
        initContainers: [
          { name: 'c', image: 'nginx' },
          { name: 'i', image: 'nginx', livenessProbe: { exec: { command: ['x'] } }, lifecycle: {} },
        ],
      },
    },
    errors: [
      'spec.containers[1].name: Duplicate value: "c"',
      'spec.containers[2].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must',
      'spec.containers[3].name: Required value',
      'spec.initContainers[0].name: Duplicate value: "c"',
      'spec.initContainers[1].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
      'spec.initContainers[1].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  },
  {
    name: 'Pod sidecar',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        initContainers: [
          { name: 'i', image: 'nginx', restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] } } },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod ports',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            ports: [
              { containerPort: 80 },
              { containerPort: 0 },
              { containerPort: 99999, hostPort: -1, protocol: 'X' },
              { name: 'A', containerPort: 1 },
              { name: 'toolongnametoolong', containerPort: 2 },
              { name: 'a', containerPort: 3 },
              { name: 'a', containerPort: 4 },
              { name: '80', containerPort: 5 },
              { name: '-a--b-', containerPort: 6 },
            ],
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].ports[1].containerPort: Required value',
      'spec.containers[0].ports[2].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive',
      'spec.containers[0].ports[2].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
      'spec.containers[0].ports[2].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'spec.containers[0].ports[3].name: Invalid value: "A": must contain at least one letter (a-z)',
      'spec.containers[0].ports[3].name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'spec.containers[0].ports[4].name: Invalid value: "toolongnametoolong": must be no more than 15 characters',
      'spec.containers[0].ports[6].name: Duplicate value: "a"',
      'spec.containers[0].ports[7].name: Invalid value: "80": must contain at least one letter (a-z)',
      'spec.containers[0].ports[8].name: Invalid value: "-a--b-": must not begin or end with a hyphen',
      'spec.containers[0].ports[8].name: Invalid value: "-a--b-": must not contain consecutive hyphens',
    ],
  },
  {
    name: 'Pod hostports',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            ports: [
              { containerPort: 80, hostPort: 80 },
              { containerPort: 81, hostPort: 80 },
            ],
          },
        ],
      },
    },
    errors: ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
  },
  {
    name: 'Pod env',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            env: [
              { name: 'A' },
              { name: '' },
              { name: 'a=b' },
              { name: 'a b.-' },
              { name: 'é' },
              { name: 'f', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'g', valueFrom: {} },
              { name: 'h', value: 'x', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
              {
                name: 'i',
                valueFrom: { configMapKeyRef: { name: 'A_', key: '' }, secretKeyRef: { name: 'a', key: 'a b' } },
              },
            ],
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].env[1].name: Required value',
      'spec.containers[0].env[2].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters othe',
      'spec.containers[0].env[4].name: Invalid value: "é": a valid environment variable name must consist only of printable ASCII characters other ',
      'spec.containers[0].env[6].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRe',
      'spec.containers[0].env[7].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      'spec.containers[0].env[8].valueFrom.configMapKeyRef.key: Required value',
      'spec.containers[0].env[8].valueFrom.configMapKeyRef.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alp',
      'spec.containers[0].env[8].valueFrom.secretKeyRef.key: Invalid value: "a b": a valid config key must consist of alphanumeric characters, \'-\',',
      'spec.containers[0].env[8].valueFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
  },
  {
    name: 'Pod env fields',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            env: [
              { name: 'v0', valueFrom: { fieldRef: { fieldPath: 'foo' } } },
              { name: 'v1', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
              { name: 'v2', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['A b']" } } },
              { name: 'v3', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
              { name: 'v4', valueFrom: { fieldRef: { fieldPath: '' } } },
              { name: 'v5', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              { name: 'v6', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } },
              { name: 'v7', valueFrom: { fieldRef: { fieldPath: "spec['x']" } } },
            ],
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "foo": error converting fieldPath: field label not supported: foo',
      "spec.containers[0].env[2].valueFrom.fieldRef: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and ",
      'spec.containers[0].env[3].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.n',
      'spec.containers[0].env[4].valueFrom.fieldRef.fieldPath: Required value',
      'spec.containers[0].env[6].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.name',
      'spec.containers[0].env[7].valueFrom.fieldRef.fieldPath: Invalid value: "spec[\'x\']": error converting fieldPath: field label does not support',
    ],
  },
  {
    name: 'Pod env res',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            env: [{ name: 'a', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod envFrom',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            envFrom: [
              {},
              { configMapRef: {} },
              { secretRef: { name: 'A_' }, prefix: 'a=' },
              { configMapRef: { name: 'a' }, secretRef: { name: 'b' } },
            ],
          },
        ],
      },
    },
    errors: [
      'spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time',
      'spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      'spec.containers[0].envFrom[1].configMapRef.name: Required value',
      'spec.containers[0].envFrom[2].prefix: Invalid value: "a=": a valid environment variable name must consist only of printable ASCII characters',
      'spec.containers[0].envFrom[2].secretRef.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric ch',
    ],
  },
  {
    name: 'Pod vol none',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v' }] } },
    errors: [],
  },
  {
    name: 'Pod vol cm',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', configMap: { name: 'x' } }] },
    },
    errors: [],
  },
  {
    name: 'Pod vol secret',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [
          {
            name: 'v',
            secret: {
              secretName: 'x',
              items: [
                { key: 'a', path: '../b' },
                { key: '', path: '/x', mode: 9999 },
                { key: 'a', path: '..x' },
              ],
            },
          },
        ],
      },
    },
    errors: [
      'spec.volumes[0].secret.items[0].path: Invalid value: "../b": must not contain \'..\'',
      'spec.volumes[0].secret.items[1].key: Required value',
      'spec.volumes[0].secret.items[1].mode: Invalid value: 9999: must be a number between 0 and 0777 (octal), both inclusive',
      'spec.volumes[0].secret.items[1].path: Invalid value: "/x": must be a relative path',
      'spec.volumes[0].secret.items[2].path: Invalid value: "..x": must not start with \'..\'',
    ],
  },
  {
    name: 'Pod vol secret none',
    object: { ...newPod, spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', secret: {} }] } },
    errors: ['spec.volumes[0].secret.secretName: Required value'],
  },
  {
    name: 'Pod vol mode',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', configMap: { name: 'a', defaultMode: 512 } }],
      },
    },
    errors: [
      'spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
    ],
  },
  {
    name: 'Pod vol host',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
    },
    errors: [],
  },
  {
    name: 'Pod vol host bad',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', hostPath: { path: '/x/../y', type: 'Foo' } }],
      },
    },
    errors: [
      'spec.volumes[0].hostPath.path: Invalid value: "/x/../y": must not contain \'..\'',
      'spec.volumes[0].hostPath.type: Unsupported value: "Foo": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate"',
    ],
  },
  {
    name: 'Pod vol host none',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', hostPath: {} }] },
    },
    errors: ['spec.volumes[0].hostPath.path: Required value'],
  },
  {
    name: 'Pod vol two',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'x' } }],
      },
    },
    errors: ['spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
  },
  {
    name: 'Pod vol proj',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        serviceAccountName: 'x',
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'p' } },
                { configMap: { name: 'x' } },
                { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod vol down',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod vol pvc',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', persistentVolumeClaim: {} }] },
    },
    errors: ['spec.volumes[0].persistentVolumeClaim.claimName: Required value'],
  },
  {
    name: 'Pod vol empty',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', emptyDir: { sizeLimit: '1024Mi' } }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod vol names',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'a' }, { name: 'a' }, { name: 'A_' }, { name: '' }],
      },
    },
    errors: [
      'spec.volumes[1].name: Duplicate value: "a"',
      'spec.volumes[2].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must st',
      'spec.volumes[3].name: Required value',
    ],
  },
  {
    name: 'Pod vol eph',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [
          {
            name: 'v',
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Pod vol iscsi',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx' }],
        volumes: [{ name: 'v', iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2001-04.com.example:storage', lun: 0 } }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod vol image',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', image: { reference: 'x:latest' } }] },
    },
    errors: [],
  },
  {
    name: 'Pod mnt',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx', volumeMounts: [{ name: 'v', mountPath: '/x' }] }],
        volumes: [{ name: 'v' }],
      },
    },
    errors: [],
  },
  {
    name: 'Pod mnt bad',
    object: {
      ...newPod,
      spec: {
        containers: [{ name: 'c', image: 'nginx', volumeMounts: [{ name: 'z', mountPath: '' }] }],
        volumes: [{ name: 'v' }],
      },
    },
    errors: [
      'spec.containers[0].volumeMounts[0].mountPath: Required value',
      'spec.containers[0].volumeMounts[0].name: Not found: "z"',
    ],
  },
  {
    name: 'Pod mnt none',
    object: {
      ...newPod,
      spec: { containers: [{ name: 'c', image: 'nginx', volumeMounts: [{}] }], volumes: [{ name: 'v' }] },
    },
    errors: [
      'spec.containers[0].volumeMounts[0].mountPath: Required value',
      'spec.containers[0].volumeMounts[0].name: Not found: ""',
      'spec.containers[0].volumeMounts[0].name: Required value',
    ],
  },
  {
    name: 'Pod mnt sub',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            volumeMounts: [{ name: 'v', mountPath: '/x', subPath: '/a/../b', subPathExpr: 'c' }],
          },
        ],
        volumes: [{ name: 'v' }],
      },
    },
    errors: [
      'spec.containers[0].volumeMounts.subPath: Invalid value: "/a/../b": must be a relative path',
      'spec.containers[0].volumeMounts.subPath: Invalid value: "/a/../b": must not contain \'..\'',
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "c": subPathExpr and subPath are mutually exclusive',
    ],
  },
  {
    name: 'Pod mnt dup',
    object: {
      ...newPod,
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            volumeMounts: [
              { name: 'v', mountPath: '/x' },
              { name: 'v', mountPath: '/x' },
            ],
          },
        ],
        volumes: [{ name: 'v' }],
      },
    },
    errors: ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
  },
]
