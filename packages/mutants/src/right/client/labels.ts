/** A Badge puts a label on the Namespace that it is about, and takes it away with its own deletion. */
import { defineController, defineKind } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { Namespace } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Badge = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Badge',
  spec: z.object({ level: z.enum(['gold', 'silver', 'none']) }),
  status: z.object({ level: z.string().optional() }),
})

export const controllers = () => [
  defineController({
    for: Badge,
    rbac: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'patch'] }],
    watches: [
      watching(Namespace, {
        map: ({ metadata: { name } }, { cache }) =>
          cache
            .list(Badge)
            .filter(({ metadata }) => metadata.namespace === name)
            .map(({ metadata }) => ({ name: metadata.name, namespace: name })),
      }),
    ],
    async reconcile(badge, { client, status }) {
      const { name, namespace = 'default' } = badge.metadata
      const { level } = badge.spec
      const place = await client.get(Namespace, { name: namespace })
      const label = `badge.right.dev/${name}`
      const value = level === 'none' ? null : level
      if ((place.metadata.labels?.[label] ?? null) !== value)
        await client.patch(place, { metadata: { labels: { [label]: value } } })
      status.set({ level })
    },
    async cleanup(badge, { client }) {
      const { name, namespace = 'default' } = badge.metadata
      const place = await client.find(Namespace, { name: namespace })
      const label = `badge.right.dev/${name}`
      if (place?.metadata.labels?.[label] !== undefined)
        await client.patch(place, { metadata: { labels: { [label]: null } } })
    },
  }),
]

export const scenario = {
  name: 'labels',
  steps: [
    creates(Badge, 'quality', { spec: { level: 'gold' } }),
    changes(Badge, 'quality', { spec: { level: 'silver' } }),
    deletes(Badge, 'quality'),
  ],
}
