/**
 * Objects that every namespace has: the ServiceAccount `default`, and the ConfigMap `kube-root-ca.crt` with the CA
 * certificate of the server. Both are created with the namespace, and restored when they are deleted or changed.
 */
import { declareKind, deepEqual, findCause, isAlreadyExists, isNotFound, type KubeObject } from '#api'
import { watching, type ControllerDeclaration } from '#controller'
import { namespaceKind } from './namespace-controller.ts'

const serviceAccountKind = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })
const serviceAccountName = 'default'

export function serviceAccountController(): ControllerDeclaration<typeof namespaceKind> {
  return {
    name: 'service-account-controller',
    for: namespaceKind,
    concurrency: 5,
    watches: [
      watching(serviceAccountKind, {
        fieldSelector: { 'metadata.name': serviceAccountName },
        map: ({ metadata: { namespace = '' } }) => [{ name: namespace }],
      }),
    ],
    rbac: [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] }],
    async reconcile({ metadata: { name: namespace } }, { client, signal }) {
      if (await client.find(serviceAccountKind, { name: serviceAccountName, namespace }, { signal })) return
      await createUnlessTerminating(() =>
        client.create(serviceAccountKind, { metadata: { name: serviceAccountName, namespace } }, { signal }),
      )
    },
  }
}

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
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

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

/** Creates an object unless it exists, or its namespace is being deleted. */
export async function createUnlessTerminating(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && findCause(error, 'NamespaceTerminating') === undefined)
      throw error
  }
}
