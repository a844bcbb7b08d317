/**
 * Every namespace has a ServiceAccount called `default`: made with the namespace, and again when somebody deletes it.
 */
import { declareKind } from '#api'
import { watching } from '#controller'
import type { ControllerDeclaration } from '#controller'
import { namespaceKind } from '../namespaces/namespace.ts'
import { createWithin } from './create-within.ts'

const serviceAccountKind = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })
const name = 'default'

export function serviceAccountController(): ControllerDeclaration<typeof namespaceKind> {
  return {
    name: 'service-account-controller',
    for: namespaceKind,
    concurrency: 5,
    watches: [
      watching(serviceAccountKind, {
        fieldSelector: { 'metadata.name': name },
        map: ({ metadata: { namespace = '' } }) => [{ name: namespace }],
      }),
    ],
    rbac: [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] }],
    async reconcile({ metadata: { name: namespace } }, { client, signal }) {
      if (await client.find(serviceAccountKind, { name, namespace }, { signal })) return
      await createWithin(() => client.create(serviceAccountKind, { metadata: { name, namespace } }, { signal }))
    },
  }
}
