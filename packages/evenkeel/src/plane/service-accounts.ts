/**
 * Every namespace has a ServiceAccount called `default`: made with the namespace, and again when somebody deletes it.
 */
import { declareKind, deepEqual, findCause, isAlreadyExists, isNotFound, type KubeObject } from '#api'
import { watching, type ControllerDeclaration } from '#controller'
import { namespaceKind } from './namespace-controller.ts'

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

/*
 * Every namespace has a ConfigMap `kube-root-ca.crt` with the authority that the server's certificate comes from: made
 * with the namespace, and put right when somebody deletes or changes it.
 */

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const configMapKind = declareKind<ConfigMapObject>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  statusSubresource: false,
})
const configMapName = 'kube-root-ca.crt'
const descriptionKey = 'kubernetes.io/description'
const description =
  'The authority to trust when the API server is called by its names within the cluster. Nothing else is promised about it.'

export function rootCertificateController({ caPem }: { caPem: string }): ControllerDeclaration<typeof namespaceKind> {
  const data = { 'ca.crt': caPem }
  return {
    name: 'root-ca-certificate-publisher',
    for: namespaceKind,
    concurrency: 5,
    watches: [
      watching(configMapKind, {
        fieldSelector: { 'metadata.name': configMapName },
        map: ({ metadata: { namespace = '' } }) => [{ name: namespace }],
      }),
    ],
    rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] }],
    async reconcile({ metadata: { name: namespace } }, { client, signal }) {
      const present = await client.find(configMapKind, { name: configMapName, namespace }, { signal })
      if (!present) {
        await createUnlessTerminating(() =>
          client.create(
            configMapKind,
            { metadata: { name: configMapName, namespace, annotations: { [descriptionKey]: description } }, data },
            { signal },
          ),
        )
        return
      }
      const { annotations = {} } = present.metadata
      if (deepEqual(present.data ?? {}, data) && annotations[descriptionKey]) return
      const described = annotations[descriptionKey] ? annotations : { ...annotations, [descriptionKey]: description }
      await client.update({ ...present, metadata: { ...present.metadata, annotations: described }, data }, { signal })
    },
  }
}

/*
 * Makes an object that every namespace has.
 */

/** Makes it, unless somebody was faster, or its namespace is on its way out: then it is not wanted any more. */
export async function createUnlessTerminating(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && findCause(error, 'NamespaceTerminating') === undefined)
      throw error
  }
}
