/**
 * An ApplicationNamespace assigns a Namespace to an application. Both are cluster-scoped, so that one may own the other.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, Stored } from 'evenkeel'

/** System Namespaces: never adopted, whatever their labels say. */
const reserved = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

export const ApplicationNamespace = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'ApplicationNamespace',
  scope: 'Cluster',
  shortNames: ['appns'],
  printerColumns: [
    { name: 'Namespace', type: 'string', jsonPath: '.spec.namespaceName' },
    { name: 'Adopted', type: 'boolean', jsonPath: '.status.adopted' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
  spec: {
    type: 'object',
    required: ['namespaceName'],
    properties: {
      namespaceName: {
        type: 'string',
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        'x-kubernetes-validations': [
          {
            rule: 'self == oldSelf',
            message:
              'another Namespace is another ApplicationNamespace: the old one would be deleted with everything in it',
          },
          {
            rule: `!(self in [${reserved.map((name) => `'${name}'`).join(', ')}])`,
            message: 'this Namespace belongs to the cluster',
          },
        ],
      },
      // What happens to an existing Namespace without an owner.
      adopt: { type: 'string', enum: ['Never', 'IfLabelled', 'IfOrphan'], default: 'IfLabelled' },
      labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 }, maxProperties: 50 },
    },
  },
  status: {
    type: 'object',
    properties: {
      namespaceUid: { type: 'string' },
      adopted: { type: 'boolean' },
    },
  },
  reports: ['children'],
} as const)

export type ApplicationNamespaceObject = Stored<ObjectOf<typeof ApplicationNamespace>>

/** On a Namespace: the name of the ApplicationNamespace that may adopt it. */
export const adoptLabel = 'demo.example.com/application'
/** On an adopted Namespace. */
export const adoptedAnnotation = 'demo.example.com/adopted'
/** On an ApplicationNamespace: the name of the adopted Namespace that may be deleted with it. */
export const confirmAnnotation = 'demo.example.com/confirm-delete'
