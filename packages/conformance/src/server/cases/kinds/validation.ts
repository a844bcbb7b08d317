/**
 * Validation of built-in kinds, with all causes in one response, and immutable fields.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { groupOf, kindOf, laidOver, sample } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

type Fields = Readonly<Record<string, unknown>>

const required = 'FieldValueRequired'
const invalid = 'FieldValueInvalid'
const unsupported = 'FieldValueNotSupported'

/** A resource, the invalid fields, and every cause: reason, field, message. */
const refused: readonly (readonly [string, ResourceName, Fields, readonly (readonly [string, string, string])[]])[] = [
  ['pod-no-containers', 'pods', { spec: { containers: undefined } }, [[required, 'spec.containers', 'Required value']]],
  [
    'pod-many',
    'pods',
    {
      spec: {
        containers: [{}, { name: 'c', image: 'i', imagePullPolicy: 'x', ports: [{ containerPort: 0 }] }],
        restartPolicy: 'Q',
      },
    },
    [
      [required, 'spec.containers[0].name', 'Required value'],
      [required, 'spec.containers[0].image', 'Required value'],
      [required, 'spec.containers[1].ports[0].containerPort', 'Required value'],
      [
        unsupported,
        'spec.containers[1].imagePullPolicy',
        'Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"',
      ],
      [unsupported, 'spec.restartPolicy', 'Unsupported value: "Q": supported values: "Always", "OnFailure", "Never"'],
    ],
  ],
  [
    'pod-twice-the-same',
    'pods',
    {
      spec: {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'a', image: 'i' },
        ],
      },
    },
    [['FieldValueDuplicate', 'spec.containers[1].name', 'Duplicate value: "a"']],
  ],
  [
    'deployment-empty',
    'deployments',
    { spec: { selector: undefined, template: undefined } },
    [
      [required, 'spec.selector', 'Required value'],
      [invalid, 'spec.template.metadata.labels', 'Invalid value: null: `selector` does not match template `labels`'],
      [required, 'spec.template.spec.containers', 'Required value'],
    ],
  ],
  [
    'deployment-selector',
    'deployments',
    { spec: { selector: { matchLabels: { app: 'other' } } } },
    [
      [
        invalid,
        'spec.template.metadata.labels',
        'Invalid value: {"app":"judge"}: `selector` does not match template `labels`',
      ],
    ],
  ],
  [
    'service-port',
    'services',
    { spec: { ports: [{ port: 0, protocol: 'X' }] } },
    [
      [invalid, 'spec.ports[0].port', 'Invalid value: 0: must be between 1 and 65535, inclusive'],
      [unsupported, 'spec.ports[0].protocol', 'Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
      [invalid, 'spec.ports[0].targetPort', 'Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
  ],
  [
    'service-port-names',
    'services',
    { spec: { ports: [{ port: 80 }, { port: 81 }] } },
    [
      [required, 'spec.ports[0].name', 'Required value'],
      [required, 'spec.ports[1].name', 'Required value'],
    ],
  ],
  [
    'role-binding-empty',
    'rolebindings',
    { roleRef: undefined, subjects: undefined },
    [
      [unsupported, 'roleRef.kind', 'Unsupported value: "": supported values: "Role", "ClusterRole"'],
      [required, 'roleRef.name', 'Required value'],
    ],
  ],
  [
    'role-no-verbs',
    'roles',
    { rules: [{ apiGroups: [''], resources: ['pods'] }] },
    [[required, 'rules[0].verbs', 'Required value: verbs must contain at least one value']],
  ],
  [
    'config-map-key',
    'configmaps',
    { data: { 'a b': 'x' } },
    [
      [
        invalid,
        'data[a b]',
        "Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
  ],
  [
    'config-map-twice',
    'configmaps',
    { data: { k: 'x' }, binaryData: { k: 'eA==' } },
    [[invalid, 'data[k]', 'Invalid value: "k": duplicate of key present in binaryData']],
  ],
  [
    'config-map-size',
    'configmaps',
    { data: { k: 'x'.repeat(1_048_577) } },
    [['FieldValueTooLong', '[]', 'Too long: may not be more than 1048576 bytes']],
  ],
  [
    'secret-tls',
    'secrets',
    { type: 'kubernetes.io/tls' },
    [
      [required, 'data[tls.crt]', 'Required value'],
      [required, 'data[tls.key]', 'Required value'],
    ],
  ],
  [
    'secret-size',
    'secrets',
    { stringData: { k: 'x'.repeat(1_048_577) } },
    [['FieldValueTooLong', 'data', 'Too long: may not be more than 1048576 bytes']],
  ],
  [
    'lease-numbers',
    'leases',
    { spec: { leaseDurationSeconds: -1, leaseTransitions: -1 } },
    [
      [invalid, 'spec.leaseDurationSeconds', 'Invalid value: -1: must be greater than 0'],
      [invalid, 'spec.leaseTransitions', 'Invalid value: -1: must be greater than or equal to 0'],
    ],
  ],
  [
    'job-restart-policy',
    'jobs',
    { spec: { template: { spec: { restartPolicy: undefined } } } },
    [[required, 'spec.template.spec.restartPolicy', 'Required value: valid values: "OnFailure", "Never"']],
  ],
  [
    'cron-job-schedule',
    'cronjobs',
    { spec: { schedule: 'often' } },
    [[invalid, 'spec.schedule', 'Invalid value: "often": expected exactly 5 fields, found 1: [often]']],
  ],
  [
    'event-namespace',
    'events',
    { involvedObject: { namespace: 'other' } },
    [[invalid, 'involvedObject.namespace', 'Invalid value: "other": does not match event.namespace']],
  ],
]

const contents = refused.map(([id, resource, wrong, causes]): ServerCase => ({
  id: `server/validation/${id}`,
  rule: `An invalid object of ${resource} is rejected with every cause (${id}).`,
  async run(place) {
    const group = groupOf(resource)
    const texts = causes.map(([, field, message]) => `${field}: ${message}`)
    const body = { ...sample(resource, 'a', wrong) }
    for (const [key, value] of Object.entries(wrong)) if (value === undefined) Reflect.deleteProperty(body, key)
    expectStatus(await place.post(resource, body), {
      code: 422,
      reason: 'Invalid',
      message: `${kindOf(resource)}${group && `.${group}`} "a" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
      details: {
        name: 'a',
        kind: kindOf(resource),
        ...(group && { group }),
        causes: causes.map(([reason, field, message]) => ({ reason, field, message })),
      },
    })
  },
}))

/** A resource, the stored fields, the change, and the immutable field; undefined if the change is allowed. */
const frozen: readonly (readonly [string, ResourceName, Fields, Fields, string | undefined])[] = [
  ['config-map-data', 'configmaps', { immutable: true, data: { k: '1' } }, { data: { k: '2' } }, 'data'],
  ['config-map-thaw', 'configmaps', { immutable: true }, { immutable: false }, 'immutable'],
  ['config-map-labels', 'configmaps', { immutable: true }, { metadata: { labels: { l: '1' } } }, undefined],
  ['config-map-freeze', 'configmaps', { data: { k: '1' } }, { immutable: true, data: { k: '2' } }, undefined],
  ['secret-data', 'secrets', { immutable: true, data: { k: 'eA==' } }, { data: { k: 'eQ==' } }, 'data'],
  ['secret-type', 'secrets', {}, { type: 'example.com/other' }, 'type'],
  ['role-ref', 'rolebindings', {}, { roleRef: { name: 'other' } }, 'roleRef'],
  [
    'deployment-selector-change',
    'deployments',
    {},
    { spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } } } } },
    'spec.selector',
  ],
  ['stateful-set-service', 'statefulsets', {}, { spec: { serviceName: 'other' } }, 'spec'],
  ['stateful-set-replicas', 'statefulsets', {}, { spec: { replicas: 4 } }, undefined],
  [
    'job-template',
    'jobs',
    {},
    { spec: { template: { spec: { containers: [{ name: 'other', image: 'i' }] } } } },
    'spec.template',
  ],
  ['job-parallelism', 'jobs', {}, { spec: { parallelism: 3 } }, undefined],
  ['pod-containers', 'pods', {}, { spec: { containers: [{ name: 'other', image: 'i' }] } }, 'spec'],
  [
    'pod-image',
    'pods',
    {},
    {
      spec: {
        containers: [
          {
            name: 'main',
            image: 'other:1',
            imagePullPolicy: 'IfNotPresent',
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            resources: {},
          },
        ],
      },
    },
    undefined,
  ],
  [
    'service-address',
    'services',
    {},
    { spec: { clusterIP: '192.0.2.7', clusterIPs: ['192.0.2.7'] } },
    'spec.clusterIPs[0]',
  ],
  [
    'claim-storage-class',
    'persistentvolumeclaims',
    { spec: { storageClassName: 'x' } },
    { spec: { accessModes: ['ReadOnlyMany'] } },
    'spec',
  ],
]

const changes = frozen.map(([id, resource, first, change, field]): ServerCase => ({
  id: `server/immutable/${id}`,
  rule:
    field === undefined
      ? `An update of ${resource} can change this field (${id}).`
      : `An update of ${resource} cannot change \`${field}\` like this (${id}).`,
  async run(place) {
    const made = ok(await place.post(resource, sample(resource, 'a', first)), 201)
    const answer = await place.put(resource, 'a', { body: laidOver(made, change) })
    if (field === undefined) {
      expectMatch(ok(answer, 200), change)
      return
    }
    const { details } = expectStatus(answer, {
      code: 422,
      reason: 'Invalid',
      details: { name: 'a', kind: kindOf(resource) },
    }) as unknown as { details: { causes: { field: string; reason: string }[] } }
    assert.ok(
      details.causes.some((cause) => cause.field === field && [invalid, 'FieldValueForbidden'].includes(cause.reason)),
      JSON.stringify(details.causes),
    )
    assert.deepEqual(ok(await place.get(resource, 'a')), made)
  },
}))

const exactly: readonly ServerCase[] = [
  {
    id: 'server/immutable/messages',
    rule: 'Updates of immutable fields are rejected with the messages of Kubernetes.',
    async run(place) {
      ok(await place.post('configmaps', sample('configmaps', 'a', { immutable: true, data: { k: '1' } })))
      expectStatus(await place.patch('configmaps', 'a', { body: { data: { k: '2' } } }), {
        code: 422,
        message: 'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
        details: {
          causes: [
            {
              reason: 'FieldValueForbidden',
              message: 'Forbidden: field is immutable when `immutable` is set',
              field: 'data',
            },
          ],
        },
      })
      ok(await place.post('secrets', sample('secrets', 'a')))
      expectStatus(await place.patch('secrets', 'a', { body: { type: 'example.com/x' } }), {
        code: 422,
        message: 'Secret "a" is invalid: type: Invalid value: "example.com/x": field is immutable',
      })
      ok(await place.post('rolebindings', sample('rolebindings', 'a')))
      expectStatus(await place.patch('rolebindings', 'a', { body: { roleRef: { name: 'x' } } }), {
        code: 422,
        message:
          /^RoleBinding\.rbac\.authorization\.k8s\.io "a" is invalid: roleRef: Invalid value: .*: cannot change roleRef$/,
      })
    },
  },
]

export const contentCases: readonly ServerCase[] = [...contents, ...changes, ...exactly]
