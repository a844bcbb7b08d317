/**
 * ReferenceGrant: allows references from another namespace into its own.
 *
 * The schema is that of the Gateway API, so a cluster can use the grants that it has. Grants are additive: a reference
 * that no grant allows is denied.
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
      description: 'The objects that may refer to objects of this namespace.',
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
      description: 'The objects of this namespace that may be referred to; without a name, all of the kind.',
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

/** Allows objects of other namespaces to refer to objects of its namespace. */
export const ReferenceGrant = defineKind({ group: 'evenkeel.dev', version: 'v1alpha1', kind: 'ReferenceGrant', spec })

/** The ReferenceGrant of the Gateway API. */
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

/** Whether a grant in the namespace of the target allows the reference. */
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
