/**
 * The service account of a pod: which one it gets, the token volume, pull secrets and what is refused.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { postPod, withAccount } from './accounts.ts'

const needs = ['service-accounts'] as const
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

async function account(place: Place, name: string, rest: Fields): Promise<void> {
  ok(await place.post('serviceaccounts', sample('serviceaccounts', name, rest)), 201)
}

function volumesOf(spec: Fields): readonly Fields[] {
  return (spec['volumes'] as Fields[] | undefined) ?? []
}

const refused = (message: string): { code: number; reason: string; message: string } => ({
  code: 403,
  reason: 'Forbidden',
  message: `pods "a" is forbidden: ${message}`,
})

export const serviceAccountCases: readonly ServerCase[] = [
  {
    id: 'server/service-accounts/default',
    needs,
    rule: 'A pod without an account gets `default`, a projected volume with its token, and a mount in every container.',
    async run(place) {
      await withAccount(place)
      const initContainers = [{ name: 'init', image: 'i' }]
      const { spec } = ok(await postPod(place, 'a', { spec: { initContainers } }), 201)
      const [volume = {}] = volumesOf(spec)
      const mount = { name: volume['name'], readOnly: true, mountPath }
      assert.match(String(volume['name']), /^kube-api-access-[a-z0-9]{5}$/)
      expectMatch(spec, {
        serviceAccountName: 'default',
        serviceAccount: 'default',
        initContainers: [{ volumeMounts: [mount] }],
        containers: [{ volumeMounts: [mount] }],
      })
      assert.deepEqual(volumesOf(spec), [
        {
          name: volume['name'],
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
              {
                downwardAPI: {
                  items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
                },
              },
            ],
          },
        },
      ])
    },
  },
  {
    id: 'server/service-accounts/missing',
    needs,
    rule: 'A pod with an account that does not exist is refused, before its classes are looked at.',
    async run(place) {
      const names = { serviceAccountName: 'nosuch', priorityClassName: 'nosuch', runtimeClassName: 'nosuch' }
      expectStatus(
        await postPod(place, 'a', { spec: names }),
        refused(`error looking up service account ${place.namespace}/nosuch: serviceaccount "nosuch" not found`),
      )
    },
  },
  {
    id: 'server/service-accounts/automount',
    needs,
    rule: 'The account can refuse the token volume; the choice of the pod counts more.',
    async run(place) {
      await account(place, 'bare', { automountServiceAccountToken: false })
      const spec = { serviceAccountName: 'bare' }
      assert.equal(volumesOf(ok(await postPod(place, 'a', { spec }), 201).spec).length, 0)
      const chosen = { ...spec, automountServiceAccountToken: true }
      assert.equal(volumesOf(ok(await postPod(place, 'b', { spec: chosen }), 201).spec).length, 1)
    },
  },
  {
    id: 'server/service-accounts/mounted-already',
    needs,
    rule: 'A container with its own mount at the path of the token keeps it; without other containers there is no volume.',
    async run(place) {
      await withAccount(place)
      const own = {
        volumes: [{ name: 'own', emptyDir: {} }],
        containers: [{ name: 'main', image: 'i', volumeMounts: [{ name: 'own', mountPath }] }],
      }
      const { spec } = ok(await postPod(place, 'a', { spec: own }), 201)
      assert.deepEqual(
        volumesOf(spec).map(({ name }) => name),
        ['own'],
      )
    },
  },
  {
    id: 'server/service-accounts/pull-secrets',
    needs,
    rule: 'A pod without pull secrets gets those of its account.',
    async run(place) {
      await account(place, 'puller', { imagePullSecrets: [{ name: 'registry' }] })
      const spec = { serviceAccountName: 'puller' }
      expectMatch(ok(await postPod(place, 'a', { spec }), 201).spec, { imagePullSecrets: [{ name: 'registry' }] })
      const own = ok(await postPod(place, 'b', { spec: { ...spec, imagePullSecrets: [{ name: 'own' }] } }), 201)
      expectMatch(own.spec, { imagePullSecrets: [{ name: 'own' }] })
    },
  },
  {
    id: 'server/service-accounts/mountable-secrets',
    needs,
    rule: 'An account can limit the secrets of its pods to those that it lists.',
    async run(place) {
      await account(place, 'strict', {
        metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
        secrets: [{ name: 'known' }],
      })
      const post = (rest: Fields): ReturnType<typeof postPod> =>
        postPod(place, 'a', { spec: { serviceAccountName: 'strict', ...rest } })
      const tail = 'is not allowed because service account strict does not reference that'
      const container = (more: Fields): Fields => ({ containers: [{ name: 'main', image: 'i', ...more }] })
      expectStatus(
        await post({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }),
        refused(`volume with secret.secretName="other" ${tail} secret`),
      )
      expectStatus(
        await post(container({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }] })),
        refused(`container main with envVar E referencing secret.secretName="other" ${tail} secret`),
      )
      expectStatus(
        await post({ initContainers: [{ name: 'init', image: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] }),
        refused(`init container init with envFrom referencing secret.secretName="other" ${tail} secret`),
      )
      expectStatus(
        await post({ imagePullSecrets: [{ name: 'other' }] }),
        refused(`imagePullSecrets[0].name="other" ${tail} imagePullSecret`),
      )
      ok(await post({ volumes: [{ name: 'v', secret: { secretName: 'known' } }] }), 201)
    },
  },
  {
    id: 'server/service-accounts/mirror-pod',
    needs,
    rule: 'A mirror pod is left as it is, and may use no account and no secret.',
    async run(place) {
      const mirror = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }
      const post = (spec: Fields): ReturnType<typeof postPod> =>
        postPod(place, 'a', { ...mirror, spec: { nodeName: 'n', ...spec } })
      expectStatus(
        await post({ serviceAccountName: 'default' }),
        refused('a mirror pod may not reference service accounts'),
      )
      expectStatus(
        await post({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
        refused('a mirror pod may not reference secrets'),
      )
      const token = { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }
      expectStatus(
        await post({ volumes: [{ name: 'v', ...token }] }),
        refused('a mirror pod may not use ServiceAccountToken volume projections'),
      )
      const made = ok(await post({}), 201)
      expectMatch(made.spec, { serviceAccountName: undefined, volumes: undefined })
    },
  },
]
