/** A Blog in phases: settings first, then the login, then the server that uses both. */
import { defineController, defineKind } from 'evenkeel'
import { Deployment } from 'evenkeel/kinds/apps/v1'
import { ConfigMap, Service } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Blog = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Blog',
  spec: z.object({ theme: z.string(), isPublic: z.boolean().default(false) }),
  status: z.object({ phase: z.string().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Blog,
    owns: [ConfigMap, Deployment, Service],
    async reconcile(blog, { children, status }) {
      const { name } = blog.metadata
      status.set({ phase: 'Settings' })
      const settings = children.waitFor(
        await children.apply(ConfigMap, { metadata: { name: `${name}-settings` }, data: { theme: blog.spec.theme } }),
      )
      status.set({ phase: 'Server' })
      const labels = { blog: name }
      await children.apply(Deployment, {
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [{ name: 'blog', image: 'blog:1' }],
              volumes: [{ name: 'settings', configMap: { name: settings.metadata.name } }],
            },
          },
        },
      })
      if (blog.spec.isPublic) await children.apply(Service, { spec: { selector: labels, ports: [{ port: 80 }] } })
      status.set({ phase: 'Done' })
    },
  }),
]

export const scenario = {
  name: 'phases',
  steps: [
    creates(Blog, 'diary', { spec: { theme: 'dark', isPublic: true } }),
    changes(Blog, 'diary', { spec: { theme: 'light', isPublic: false } }),
    deletes(Blog, 'diary'),
  ],
}
