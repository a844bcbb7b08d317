import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { makeEventLog } from './event-log.fixture.ts'
import type { EventLog } from './event-log.fixture.ts'
import { versions } from './versions.fixture.ts'
import type { ClientNode } from './versions.fixture.ts'

interface Loose {
  readonly metadata?: { readonly name?: string }
}

for (const { name, unavailable, load } of versions) {
  describe.skipIf(unavailable !== undefined)(unavailable === undefined ? name : `${name} (${unavailable})`, () => {
    let target: ClientTarget
    let k8s: ClientNode
    let config: InstanceType<ClientNode['KubeConfig']>
    beforeAll(async () => {
      target = await startClientTarget()
      k8s = await load()
      config = new k8s.KubeConfig()
      config.loadFromFile(target.kubeconfig)
    })
    afterAll(() => target.stop())

    /** A namespace, and helpers to change ConfigMaps in it. */
    async function makeScene() {
      const api = config.makeApiClient(k8s.CoreV1Api)
      const namespace =
        (await api.createNamespace({ body: { metadata: { generateName: 'watching-' } } })).metadata?.name ?? ''
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      return {
        api,
        namespace,
        path,
        create: (one: string, labels: Record<string, string> = {}) =>
          api.createNamespacedConfigMap({ namespace, body: { metadata: { name: one, labels } } }),
        change: async (one: string) =>
          api.replaceNamespacedConfigMap({
            name: one,
            namespace,
            body: { ...(await api.readNamespacedConfigMap({ name: one, namespace })), data: { changed: 'yes' } },
          }),
        remove: (one: string) => api.deleteNamespacedConfigMap({ name: one, namespace }),
      }
    }

    /** An informer, and its notifications, as `add a`. */
    function inform({ api, namespace, path }: Awaited<ReturnType<typeof makeScene>>) {
      const log = makeEventLog<string>()
      const informer = k8s.makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace }))
      for (const verb of ['add', 'update', 'delete'] as const)
        informer.on(verb, (object: Loose) => {
          log.push(`${verb} ${object.metadata?.name}`)
        })
      informer.on('error', (error: unknown) => {
        log.push(`error ${String(error)}`)
      })
      return { informer, log }
    }

    test('makeInformer: adds existing objects and reports changes in order', async () => {
      const scene = await makeScene()
      await scene.create('a')
      const { informer, log } = inform(scene)
      await informer.start()
      await scene.create('b')
      await scene.change('a')
      await scene.remove('b')
      await log.until((all) => all.includes('delete b'))
      expect(log.all).toEqual(['add a', 'add b', 'update a', 'delete b'])
      expect(informer.get('a', scene.namespace)).toMatchObject({ data: { changed: 'yes' } })
      expect(informer.list(scene.namespace)).toHaveLength(1)
      await informer.stop()
    })

    test('makeInformer: after stop and start, reports the changes in between', async () => {
      const scene = await makeScene()
      const { informer, log } = inform(scene)
      await informer.start()
      await scene.create('a')
      await log.until((all) => all.includes('add a'))
      await informer.stop()
      await scene.create('b')
      await scene.remove('a')
      await informer.start()
      await log.until((all) => all.includes('delete a'))
      expect(withoutAborts(log)).toEqual(['add a', 'add b', 'delete a'])
      await informer.stop()
    })

    test('makeInformer: lists again when its resourceVersion is compacted', async ({ skip }) => {
      if (!target.compact) return skip('this server forgets when it wants to')
      const scene = await makeScene()
      const { informer, log } = inform(scene)
      await informer.start()
      await scene.create('a')
      await log.until((all) => all.includes('add a'))
      await informer.stop()
      await scene.remove('a')
      await scene.create('b')
      await target.compact()
      await informer.start()
      await log.until((all) => all.includes('add b'))
      expect(withoutAborts(log).sort()).toEqual(['add a', 'add b', 'delete a'])
      await informer.stop()
    })

    test('Watch: reports types and objects that match the selector, and ends after the timeout', async () => {
      const scene = await makeScene()
      const log = makeEventLog<string>()
      const { metadata } = await scene.api.listNamespacedConfigMap({ namespace: scene.namespace })
      const query = { resourceVersion: metadata?.resourceVersion, labelSelector: 'of=mine', timeoutSeconds: 2 }
      const watch = new k8s.Watch(config)
      await watch.watch(
        scene.path,
        query,
        (type: string, object: Loose) => {
          log.push(`${type} ${object.metadata?.name}`)
        },
        (error: unknown) => {
          log.push(`done ${String(error)}`)
        },
      )
      await scene.create('other', { of: 'another' })
      await scene.create('mine', { of: 'mine' })
      await scene.change('mine')
      await scene.remove('mine')
      await log.until((all) => all.some((one) => one.startsWith('done')))
      expect(log.all.slice(0, 3)).toEqual(['ADDED mine', 'MODIFIED mine', 'DELETED mine'])
    })

    test('Watch: sends bookmarks when requested', async () => {
      const scene = await makeScene()
      await scene.create('a')
      const log = makeEventLog<string>()
      const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }
      const onEvent = (type: string, object: Loose & { metadata?: { annotations?: Record<string, string> } }): void => {
        log.push(
          type === 'BOOKMARK' ? JSON.stringify(object.metadata?.annotations) : `${type} ${object.metadata?.name}`,
        )
      }
      const request = await new k8s.Watch(config).watch(scene.path, query, onEvent, () => undefined)
      await log.until((all) => all.length === 2)
      expect(log.all).toEqual(['ADDED a', '{"k8s.io/initial-events-end":"true"}'])
      request.abort()
    })
  })
}

/** A watch that the client itself aborted is not an error. */
function withoutAborts(log: EventLog<string>): string[] {
  return log.all.filter((one) => !/^error .*abort/i.test(one))
}
