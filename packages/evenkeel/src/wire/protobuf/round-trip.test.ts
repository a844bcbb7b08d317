import { deepEqual, type JsonObject } from '#api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeProtobuf, encodeProtobuf } from './envelope.ts'
import { messageText } from './generated/messages.ts'
import { instanceOf } from './instance.fixture.ts'
import { findMessage, type Message } from './messages.ts'

const kinds: [string, string, number][] = [
  ['v1', 'Pod', 3],
  ['v1', 'ConfigMap', 4],
  ['v1', 'Secret', 4],
  ['v1', 'Service', 4],
  ['v1', 'Node', 4],
  ['v1', 'Event', 4],
  ['v1', 'PodList', 3],
  ['v1', 'Namespace', 4],
  ['v1', 'PersistentVolume', 4],
  ['v1', 'ResourceQuota', 4],
  ['apps/v1', 'Deployment', 3],
  ['apps/v1', 'ControllerRevision', 4],
  ['coordination.k8s.io/v1', 'Lease', 4],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 4],
  ['authorization.k8s.io/v1', 'SubjectAccessReview', 4],
  ['authentication.k8s.io/v1', 'TokenRequest', 4],
  ['autoscaling/v1', 'Scale', 4],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', 4],
  ['policy/v1', 'Eviction', 4],
  ['policy/v1', 'PodDisruptionBudget', 4],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 4],
  ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 4],
  ['networking.k8s.io/v1', 'NetworkPolicy', 5],
  ['networking.k8s.io/v1', 'Ingress', 5],
  ['resource.k8s.io/v1', 'ResourceClaim', 4],
  ['apiregistration.k8s.io/v1', 'APIService', 4],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', 5],
  ['meta.k8s.io/v1', 'PartialObjectMetadataList', 4],
]

describe('encodeProtobuf and decodeProtobuf', () => {
  test.each(kinds)('give back every %s %s', (apiVersion, kind, depth) => {
    fc.assert(fc.property(instanceOf(apiVersion, kind, { depth }), isGivenBack), { numRuns: 30 })
  })

  test.each(['DeleteOptions', 'CreateOptions', 'PatchOptions', 'Status', 'APIResourceList'])(
    'give back every %s, which lives in the metadata group',
    (kind) => {
      fc.assert(fc.property(instanceOf('v1', kind, { home: 'meta.k8s.io/v1' }), isGivenBack), { numRuns: 30 })
    },
  )
})

describe('findMessage', () => {
  test('finds every message that another one refers to', () => {
    const seen = new Set<Message>()
    for (const [apiVersion, text] of Object.entries(messageText))
      for (const line of text.split(';')) visit(findMessage(apiVersion, /^\w+/.exec(line)?.[0] ?? ''), seen)
    expect(seen.size).toBeGreaterThan(900)
    expect(
      [...seen].every(({ fields }) => fields.every(({ number }, index) => number > (fields[index - 1]?.number ?? 0))),
    ).toBe(true)
  })

  test.each([
    ['v1', 'pod'],
    ['v1', 'Pods'],
    ['v1', ''],
    ['v2', 'Pod'],
    ['__proto__', 'Pod'],
    ['v1', 'metadata'],
    ['v1', 'Pod!'],
  ])('knows no %s %s', (apiVersion, name) => {
    expect(findMessage(apiVersion, name)).toBeUndefined()
  })
})

function isGivenBack(object: JsonObject): void {
  const bytes = encodeProtobuf(object)
  const decoded = decodeProtobuf(bytes)
  if (!deepEqual(decoded, object)) expect(decoded).toEqual(object)
  expect(encodeProtobuf(decoded)).toEqual(bytes)
}

function visit(message: Message | undefined, seen: Set<Message>): void {
  if (!message || seen.has(message)) return
  seen.add(message)
  for (const field of message.fields)
    if (field.type === 'message' || field.type.startsWith('schema')) visit(field.message, seen)
}
