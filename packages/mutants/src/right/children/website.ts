/** A Website is a Deployment and a Service, by `children`. */
import { defineController, defineKind } from 'evenkeel'
import { Deployment } from 'evenkeel/kinds/apps/v1'
import { Service } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Website = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Website',
  spec: z.object({ image: z.string().min(1), replicas: z.number().int().min(0).max(5).default(1) }),
  status: z.object({ readyReplicas: z.number().int().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Website,
    owns: [Deployment, Service],
    async reconcile(site, { children, status }) {
      const labels = { app: site.metadata.name }
      const deployment = await children.apply(Deployment, {
        spec: {
          replicas: site.spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } },
        },
      })
      await children.apply(Service, { spec: { selector: labels, ports: [{ port: 80 }] } })
      status.set({ readyReplicas: deployment.status?.readyReplicas ?? 0 })
      status.condition('Ready', children.ready())
    },
  }),
]

export const scenario = {
  name: 'website',
  steps: [
    creates(Website, 'shop', { spec: { image: 'shop:1', replicas: 2 } }),
    changes(Website, 'shop', { spec: { image: 'shop:2' } }),
    deletes(Website, 'shop'),
  ],
}
