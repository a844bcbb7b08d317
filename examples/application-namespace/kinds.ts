/**
 * An ApplicationNamespace says: this application has that Namespace. Neither of them is in a namespace itself, so one may own the other.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, Stored } from 'evenkeel'

/** Whose Namespaces stay whose they are: nobody may take these, whatever their labels say. */
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
      // What may happen to a Namespace that is there already and belongs to nobody.
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

/** With the name of an ApplicationNamespace as its value, a Namespace agrees to be adopted by it. */
export const adoptLabel = 'demo.example.com/application'
/** On a Namespace that was there before its ApplicationNamespace. */
export const adoptedAnnotation = 'demo.example.com/adopted'
/** On an ApplicationNamespace whose adopted Namespace may be deleted with it; the value is the name of the Namespace. */
export const confirmAnnotation = 'demo.example.com/confirm-delete'
