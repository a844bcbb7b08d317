/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with token, CA certificate and namespace. A user creates the
 * Secret and names the service account in an annotation. The Secret is deleted with its service account.
 *
 * These tokens never expire. They are for programs outside of the cluster that cannot use the TokenRequest API.
 */
import { declareKind, isConflict, isNotFound } from '#api'
import type { KubeObject } from '#api'
import { watching } from '#controller'
import type { ControllerDeclaration } from '#controller'
import type { Server } from '#server'

interface SecretObject extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

const secretKind = declareKind<SecretObject>({ group: '', version: 'v1', kind: 'Secret', statusSubresource: false })
const accountKind = declareKind<KubeObject>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  statusSubresource: false,
})
const type = 'kubernetes.io/service-account-token'
const [nameKey, uidKey] = ['kubernetes.io/service-account.name', 'kubernetes.io/service-account.uid'] as const

interface TokenControllerOptions extends Pick<Server, 'tokenForSecret'> {
  /** The CA certificate of the server; not written if undefined. */
  readonly caPem: string | undefined
}

export function tokenController({
  caPem,
  tokenForSecret,
}: TokenControllerOptions): ControllerDeclaration<typeof secretKind> {
  return {
    name: 'service-account-tokens',
    for: secretKind,
    fieldSelector: { type },
    concurrency: 5,
    watches: [
      watching(accountKind, {
        map: ({ metadata: { name, namespace = '' } }, { cache }) =>
          cache
            .list(secretKind, { namespace })
            .filter(({ metadata: { annotations = {} } }) => annotations[nameKey] === name)
            .map(({ metadata }) => ({ name: metadata.name, namespace })),
      }),
    ],
    rbac: [{ apiGroups: [''], resources: ['secrets'], verbs: ['update', 'delete'] }],
    async reconcile(secret, { client, signal }) {
      const { name: secretName, namespace = '', annotations = {}, uid } = secret.metadata
      const name = annotations[nameKey] ?? ''
      if (name === '') return
      // A live read before the delete request: the cache may lag behind.
      const account =
        (await client.find(accountKind, { name, namespace }, { signal })) ??
        (await client.find(accountKind, { name, namespace }, { signal, live: true }))
      if (!account || (annotations[uidKey] ?? account.metadata.uid) !== account.metadata.uid) {
        await client.delete(secret, { preconditions: { uid }, ignoreNotFound: true, signal }).catch(ignoreConflict)
        return
      }
      const data = {
        ...secret.data,
        ...missing(secret, {
          caPem,
          token: () => tokenForSecret({ namespace, account: { name, uid: account.metadata.uid }, secretName }),
        }),
      }
      if (Object.keys(data).every((key) => data[key] === secret.data?.[key])) return
      await client
        .update(
          {
            ...secret,
            metadata: {
              ...secret.metadata,
              annotations: { ...annotations, [nameKey]: name, [uidKey]: account.metadata.uid },
            },
            data,
          },
          { signal },
        )
        .catch(ignoreConflict)
    },
  }
}

/** The missing fields, and always the CA certificate: an outdated one is replaced. */
function missing(
  { data = {}, metadata: { namespace = '' } }: SecretObject,
  { caPem, token }: { caPem: string | undefined; token: () => string },
): Record<string, string> {
  return {
    ...(caPem !== undefined && { 'ca.crt': base64(caPem) }),
    ...(!data['namespace'] && { namespace: base64(namespace) }),
    ...(!data['token'] && { token: base64(token()) }),
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The object has changed or is gone: its event starts the next reconcile. */
function ignoreConflict(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error
}
