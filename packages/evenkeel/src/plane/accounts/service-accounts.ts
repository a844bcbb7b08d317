/**
 * Every namespace has a ServiceAccount called `default`: made with the namespace, and again when somebody deletes it.
 */
import { declareKind } from '#api'
import { watching } from '#controller'
import type { ControllerDeclaration } from '#controller'
import { namespaceKind } from '../namespaces/namespace.ts'
import { createUnlessTerminating } from './create-within.ts'

const serviceAccountKind = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })
const controllerName = 'default'

export function serviceAccountController(): ControllerDeclaration<typeof namespaceKind> {
  return {
    name: 'service-account-controller',
    for: namespaceKind,
    concurrency: 5,
    watches: [
      watching(serviceAccountKind, {
        fieldSelector: { 'metadata.name': controllerName },
        map: ({ metadata: { namespace = '' } }) => [{ name: namespace }],
      }),
    ],
    rbac: [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] }],
    async reconcile({ metadata: { name: namespace } }, { client, signal }) {
      if (await client.find(serviceAccountKind, { name: controllerName, namespace }, { signal })) return
      await createUnlessTerminating(() =>
        client.create(serviceAccountKind, { metadata: { name: controllerName, namespace } }, { signal }),
      )
    },
  }
}
