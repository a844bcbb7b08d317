import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClientTarget } from '../target.fixture.ts'
import type { ClientTarget } from '../target.fixture.ts'
import { makeHeard } from './heard.fixture.ts'
import type { Heard } from './heard.fixture.ts'
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

    /** A namespace, and what is done with config maps in it. */
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

    /** An informer, and what it says, as `add a`. */
    function inform({ api, namespace, path }: Awaited<ReturnType<typeof makeScene>>) {
      const heard = makeHeard<string>()
      const informer = k8s.makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace }))
      for (const verb of ['add', 'update', 'delete'] as const)
        informer.on(verb, (object: Loose) => {
          heard.push(`${verb} ${object.metadata?.name}`)
        })
      informer.on('error', (error: unknown) => {
        heard.push(`error ${String(error)}`)
      })
      return { informer, heard }
    }

    test('makeInformer: what is there is added, and changes are told in order', async () => {
      const scene = await makeScene()
      await scene.create('a')
      const { informer, heard } = inform(scene)
      await informer.start()
      await scene.create('b')
      await scene.change('a')
      await scene.remove('b')
      await heard.until((all) => all.includes('delete b'))
      expect(heard.all).toEqual(['add a', 'add b', 'update a', 'delete b'])
      expect(informer.get('a', scene.namespace)).toMatchObject({ data: { changed: 'yes' } })
      expect(informer.list(scene.namespace)).toHaveLength(1)
      await informer.stop()
    })

    test('makeInformer: who stops and starts again hears what happened in between', async () => {
      const scene = await makeScene()
      const { informer, heard } = inform(scene)
      await informer.start()
      await scene.create('a')
      await heard.until((all) => all.includes('add a'))
      await informer.stop()
      await scene.create('b')
      await scene.remove('a')
      await informer.start()
      await heard.until((all) => all.includes('delete a'))
      expect(withoutAborts(heard)).toEqual(['add a', 'add b', 'delete a'])
      await informer.stop()
    })

    test('makeInformer: whose place is forgotten lists again', async ({ skip }) => {
      if (!target.compact) return skip('this server forgets when it wants to')
      const scene = await makeScene()
      const { informer, heard } = inform(scene)
      await informer.start()
      await scene.create('a')
      await heard.until((all) => all.includes('add a'))
      await informer.stop()
      await scene.remove('a')
      await scene.create('b')
      await target.compact()
      await informer.start()
      await heard.until((all) => all.includes('add b'))
      expect(withoutAborts(heard).sort()).toEqual(['add a', 'add b', 'delete a'])
      await informer.stop()
    })

    test('Watch: tells types and objects, only of what is selected, and ends in time', async () => {
      const scene = await makeScene()
      const heard = makeHeard<string>()
      const { metadata } = await scene.api.listNamespacedConfigMap({ namespace: scene.namespace })
      const query = { resourceVersion: metadata?.resourceVersion, labelSelector: 'of=mine', timeoutSeconds: 2 }
      const watch = new k8s.Watch(config)
      await watch.watch(
        scene.path,
        query,
        (type: string, object: Loose) => {
          heard.push(`${type} ${object.metadata?.name}`)
        },
        (error: unknown) => {
          heard.push(`done ${String(error)}`)
        },
      )
      await scene.create('other', { of: 'another' })
      await scene.create('mine', { of: 'mine' })
      await scene.change('mine')
      await scene.remove('mine')
      await heard.until((all) => all.some((one) => one.startsWith('done')))
      expect(heard.all.slice(0, 3)).toEqual(['ADDED mine', 'MODIFIED mine', 'DELETED mine'])
    })

    test('Watch: bookmarks come to whom they were promised', async () => {
      const scene = await makeScene()
      await scene.create('a')
      const heard = makeHeard<string>()
      const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true }
      const told = (type: string, object: Loose & { metadata?: { annotations?: Record<string, string> } }): void => {
        heard.push(
          type === 'BOOKMARK' ? JSON.stringify(object.metadata?.annotations) : `${type} ${object.metadata?.name}`,
        )
      }
      const request = await new k8s.Watch(config).watch(scene.path, query, told, () => undefined)
      await heard.until((all) => all.length === 2)
      expect(heard.all).toEqual(['ADDED a', '{"k8s.io/initial-events-end":"true"}'])
      request.abort()
    })
  })
}

/** A watch that the client itself cut off is no error of anybody. */
function withoutAborts(heard: Heard<string>): string[] {
  return heard.all.filter((one) => !/^error .*abort/i.test(one))
}
