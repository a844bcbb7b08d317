import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { versions } from './versions.fixture.ts'
import type { ClientNode } from './versions.fixture.ts'

for (const { name, unavailable, load } of versions) {
  describe.skipIf(unavailable !== undefined)(unavailable === undefined ? name : `${name} (${unavailable})`, () => {
    let target: ClientTarget
    let k8s: ClientNode
    let config: InstanceType<ClientNode['KubeConfig']>
    let namespace = ''
    beforeAll(async () => {
      target = await startClientTarget()
      k8s = await load()
      config = new k8s.KubeConfig()
      config.loadFromFile(target.kubeconfig)
      const made = await config
        .makeApiClient(k8s.CoreV1Api)
        .createNamespace({ body: { metadata: { generateName: 'objects-' } } })
      namespace = made.metadata?.name ?? ''
    })
    afterAll(() => target.stop())

    test('CoreV1Api: a ConfigMap is created, read, listed, replaced and deleted', async () => {
      const api = config.makeApiClient(k8s.CoreV1Api)
      const made = await api.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: 'typed', labels: { of: 'typed' } }, data: { a: '1' } },
      })
      expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
      expect(made.metadata?.creationTimestamp?.toISOString()).toMatch(/Z$/)

      const replaced = await api.replaceNamespacedConfigMap({
        name: 'typed',
        namespace,
        body: { ...made, data: { a: '2' } },
      })
      expect(Number(replaced.metadata?.resourceVersion)).toBeGreaterThan(Number(made.metadata?.resourceVersion))
      expect((await api.readNamespacedConfigMap({ name: 'typed', namespace })).data).toEqual({ a: '2' })

      const list = await api.listNamespacedConfigMap({ namespace, labelSelector: 'of=typed' })
      expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['typed'])
      expect(list.metadata?.resourceVersion).toMatch(/^\d+$/)

      await expect(api.deleteNamespacedConfigMap({ name: 'typed', namespace })).resolves.toMatchObject({
        status: 'Success',
      })
      await expect(api.readNamespacedConfigMap({ name: 'typed', namespace })).rejects.toMatchObject({ code: 404 })
    })

    test('CoreV1Api: lists come in pages', async () => {
      const api = config.makeApiClient(k8s.CoreV1Api)
      for (const one of ['a', 'b', 'c'])
        await api.createNamespacedSecret({ namespace, body: { metadata: { name: one }, stringData: { x: one } } })
      const first = await api.listNamespacedSecret({ namespace, limit: 2 })
      expect(first.items.map(({ data }) => data?.['x'])).toEqual(['YQ==', 'Yg=='])
      expect(first.metadata?.remainingItemCount).toBe(1)
      const rest = await api.listNamespacedSecret({ namespace, limit: 2, _continue: first.metadata?._continue ?? '' })
      expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(['c'])
      await api.deleteCollectionNamespacedSecret({ namespace })
      expect((await api.listNamespacedSecret({ namespace })).items).toEqual([])
    })

    test('AppsV1Api: a Deployment has defaults, scale and status', async () => {
      const api = config.makeApiClient(k8s.AppsV1Api)
      const labels = { app: 'web' }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
      const made = await api.createNamespacedDeployment({
        namespace,
        body: { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } },
      })
      expect(made.spec).toMatchObject({
        replicas: 1,
        revisionHistoryLimit: 10,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
      })
      expect(made.metadata?.generation).toBe(1)

      const scale = await api.readNamespacedDeploymentScale({ name: 'web', namespace })
      await api.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: { ...scale, spec: { replicas: 4 } } })
      const scaled = await api.readNamespacedDeployment({ name: 'web', namespace })
      expect([scaled.spec?.replicas, scaled.metadata?.generation]).toEqual([4, 2])

      const status = await api.replaceNamespacedDeploymentStatus({
        name: 'web',
        namespace,
        body: {
          ...scaled,
          spec: { replicas: 9, selector: { matchLabels: labels }, template },
          status: { replicas: 3 },
        },
      })
      expect([status.spec?.replicas, status.status?.replicas, status.metadata?.generation]).toEqual([4, 3, 2])
    })

    test('patches: every content type works', async () => {
      const api = config.makeApiClient(k8s.CoreV1Api)
      const body = { metadata: { name: 'patched' }, spec: { containers: [{ name: 'main', image: 'a' }] } }
      await api.createNamespacedPod({ namespace, body })
      const patch = (strategy: string, change: unknown): ReturnType<typeof api.patchNamespacedPod> =>
        api.patchNamespacedPod(
          { name: 'patched', namespace, body: change },
          k8s.setHeaderOptions('Content-Type', strategy),
        )

      const json = await patch(k8s.PatchStrategy.JsonPatch, [
        { op: 'add', path: '/metadata/labels', value: { by: 'json' } },
      ])
      expect(json.metadata?.labels).toEqual({ by: 'json' })
      const merge = await patch(k8s.PatchStrategy.MergePatch, { metadata: { labels: { by: null, too: 'merge' } } })
      expect(merge.metadata?.labels).toEqual({ too: 'merge' })
      const strategic = await patch(k8s.PatchStrategy.StrategicMergePatch, {
        spec: { containers: [{ name: 'main', image: 'b' }] },
      })
      expect(strategic.spec?.containers.map(({ name: one, image }) => [one, image])).toEqual([['main', 'b']])
      await expect(patch('application/nonsense', {})).rejects.toMatchObject({ code: 415 })
      await expect(
        patch(k8s.PatchStrategy.JsonPatch, [{ op: 'test', path: '/spec/nodeName', value: 'x' }]),
      ).rejects.toMatchObject({ code: 422 })
    })

    test('errors: the client shows the code and the Status that the server sent', async () => {
      const api = config.makeApiClient(k8s.CoreV1Api)
      const missing = await api.readNamespacedConfigMap({ name: 'none', namespace }).catch((error: unknown) => error)
      expect(missing).toBeInstanceOf(k8s.ApiException)
      const { code, body } = missing as { code: number; body: string }
      expect(code).toBe(404)
      expect(JSON.parse(body)).toMatchObject({
        kind: 'Status',
        reason: 'NotFound',
        message: 'configmaps "none" not found',
        details: { name: 'none', kind: 'configmaps' },
      })

      const twice = { metadata: { name: 'twice' } }
      await api.createNamespacedConfigMap({ namespace, body: twice })
      await expect(api.createNamespacedConfigMap({ namespace, body: twice })).rejects.toMatchObject({
        code: 409,
        body: expect.stringContaining('AlreadyExists') as string,
      })
      await expect(
        api.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'UPPER' } } }),
      ).rejects.toMatchObject({ code: 422, body: expect.stringContaining('FieldValueInvalid') as string })
      await expect(api.deleteNamespace({ name: 'default' })).rejects.toMatchObject({ code: 403 })
    })

    test('Lease: of two clients that renew the same version, one gets a conflict', async () => {
      const api = config.makeApiClient(k8s.CoordinationV1Api)
      const now = new k8s.V1MicroTime('2030-01-02T03:04:05.678Z')
      await api.createNamespacedLease({
        namespace,
        body: {
          metadata: { name: 'leader' },
          spec: { holderIdentity: 'nobody', leaseDurationSeconds: 15, renewTime: now },
        },
      })
      const [mine, yours] = [
        await api.readNamespacedLease({ name: 'leader', namespace }),
        await api.readNamespacedLease({ name: 'leader', namespace }),
      ]
      expect(JSON.stringify(mine.spec?.renewTime)).toMatch(/2030-01-02T03:04:05\.678/)

      const won = await api.replaceNamespacedLease({
        name: 'leader',
        namespace,
        body: { ...mine, spec: { ...mine.spec, holderIdentity: 'me' } },
      })
      expect(won.spec?.holderIdentity).toBe('me')
      const lost = api.replaceNamespacedLease({
        name: 'leader',
        namespace,
        body: { ...yours, spec: { ...yours.spec, holderIdentity: 'you' } },
      })
      await expect(lost).rejects.toMatchObject({
        code: 409,
        body: expect.stringContaining('the object has been modified') as string,
      })
    })

    test('KubernetesObjectApi: finds the path of an object by discovery', async () => {
      const api = k8s.KubernetesObjectApi.makeApiClient(config)
      const header = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'loose', namespace } }
      await expect(api.create({ ...header, data: { a: '1' } })).resolves.toMatchObject({ data: { a: '1' } })
      await expect(api.read(header)).resolves.toMatchObject({ data: { a: '1' } })
      const change = { ...header, data: { b: '2' } }
      await expect(
        api.patch(change, undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch),
      ).resolves.toMatchObject({ data: { a: '1', b: '2' } })
      const cluster = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: namespace },
        rules: [],
      }
      await expect(api.create(cluster)).resolves.toMatchObject({ kind: 'ClusterRole' })
      await expect(api.list('v1', 'ConfigMap', namespace)).resolves.toMatchObject({ kind: 'ConfigMapList' })
      await expect(api.delete(header)).resolves.toMatchObject({ status: 'Success' })
      await expect(api.read(header)).rejects.toMatchObject({ code: 404 })
    })

    test('TLS: a client that does not trust the CA fails', async () => {
      const cluster = config.getCurrentCluster()
      const other = new k8s.KubeConfig()
      other.loadFromClusterAndUser(
        { name: 'x', server: cluster?.server ?? '', skipTLSVerify: false },
        { name: 'x', token: config.getCurrentUser()?.token ?? '' },
      )
      await expect(other.makeApiClient(k8s.CoreV1Api).listNamespace()).rejects.toThrow(/certificate|fetch failed/)
    })
  })
}
