/**
 * Leave to refer into another namespace, given there by its owner: a ReferenceGrant.
 *
 * The shape is that of the Gateway API, so that a cluster which has those grants can use them. Grants only add up: what
 * none of them allows is not allowed.
 */
import { declareKind, defineKind, type Kind, type KubeObject } from '#api'
import type { ObjectRef } from './reference.ts'

const spec = {
  type: 'object',
  required: ['from', 'to'],
  properties: {
    from: {
      type: 'array',
      maxItems: 16,
      minItems: 1,
      description: 'Who may refer.',
      items: {
        type: 'object',
        required: ['group', 'kind', 'namespace'],
        properties: {
          group: { type: 'string', maxLength: 253 },
          kind: { type: 'string', maxLength: 63 },
          namespace: { type: 'string', maxLength: 63 },
        },
      },
    },
    to: {
      type: 'array',
      maxItems: 16,
      minItems: 1,
      description: 'What in this namespace may be referred to; without a name, all of the kind.',
      items: {
        type: 'object',
        required: ['group', 'kind'],
        properties: {
          group: { type: 'string', maxLength: 253 },
          kind: { type: 'string', maxLength: 63 },
          name: { type: 'string', maxLength: 253 },
        },
      },
    },
  },
} as const

/** Lets objects of other namespaces refer to objects of this one. */
export const ReferenceGrant = defineKind({ group: 'evenkeel.dev', version: 'v1alpha1', kind: 'ReferenceGrant', spec })

/** The same of the Gateway API, where it is installed. */
export const GatewayReferenceGrant = declareKind<GrantObject>({
  group: 'gateway.networking.k8s.io',
  version: 'v1beta1',
  kind: 'ReferenceGrant',
  statusSubresource: false,
})

interface GrantObject extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group?: string; readonly kind?: string; readonly namespace?: string }[]
    readonly to?: readonly { readonly group?: string; readonly kind?: string; readonly name?: string }[]
  }
}

/** Whether grants of the target's namespace let the referer refer to it. */
export function isGranted(
  grants: readonly KubeObject[],
  { from, to }: { from: Pick<Kind, 'group' | 'kind'> & { readonly namespace: string }; to: ObjectRef },
): boolean {
  return (grants as readonly GrantObject[]).some(
    ({ metadata, spec: { from: froms = [], to: tos = [] } = {} }) =>
      metadata.namespace === to.namespace &&
      metadata.deletionTimestamp === undefined &&
      froms.some(
        ({ group = '', kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
      ) &&
      tos.some(
        ({ group = '', kind, name = '' }) =>
          group === to.group && kind === to.kind && (name === '' || name === to.name),
      ),
  )
}
