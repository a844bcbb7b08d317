/** A Proxy has a ConfigMap for each content of its settings, by `revisions`, and a Deployment that uses the newest. */
import { defineController, defineKind, revisions } from 'evenkeel'
import { Deployment } from 'evenkeel/kinds/apps/v1'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Proxy = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Proxy',
  spec: z.object({ routes: z.string() }),
  status: z.object({ settings: z.string().optional() }),
  reports: ['children'],
})

const settings = revisions(ConfigMap, { keep: 1 })

export const controllers = () => [
  defineController({
    for: Proxy,
    owns: [Deployment],
    verbs: [settings],
    async reconcile(proxy, context) {
      const config = await settings.apply(context, { data: { routes: proxy.spec.routes } })
      const labels = { proxy: proxy.metadata.name }
      await context.children.apply(Deployment, {
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [{ name: 'proxy', image: 'proxy:1' }],
              volumes: [{ name: 'routes', configMap: { name: config.metadata.name } }],
            },
          },
        },
      })
      context.status.set({ settings: config.metadata.name })
    },
  }),
]

export const scenario = {
  name: 'revisions',
  steps: [
    creates(Proxy, 'front', { spec: { routes: '/a' } }),
    changes(Proxy, 'front', { spec: { routes: '/b' } }),
    changes(Proxy, 'front', { spec: { routes: '/c' } }),
    deletes(Proxy, 'front'),
  ],
}
