/** A Scaler sets the replicas of a Deployment of the user. When it goes, they stay as they are. */
import { defineController, defineKind } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { Deployment } from 'evenkeel/kinds/apps/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Scaler = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Scaler',
  spec: z.object({ target: z.string().min(1), load: z.number().int().min(0).max(50) }),
  status: z.object({ replicas: z.number().int().optional() }),
})

const loadPerReplica = 10

export const controllers = () => [
  defineController({
    for: Scaler,
    rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] }],
    watches: [
      watching(Deployment, {
        map: ({ metadata: { name, namespace } }, { cache }) =>
          cache
            .list(Scaler)
            .filter((scaler) => scaler.spec.target === name && scaler.metadata.namespace === namespace)
            .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? 'default' })),
      }),
    ],
    async reconcile(scaler, { client, status }) {
      const { namespace = 'default' } = scaler.metadata
      const replicas = Math.max(1, Math.ceil(scaler.spec.load / loadPerReplica))
      const target = await client.find(Deployment, { name: scaler.spec.target, namespace })
      if (!target || target.metadata.deletionTimestamp !== undefined) {
        status.condition('Ready', false, { reason: 'NoTarget' })
        return { park: `Deployment ${scaler.spec.target} to be created` }
      }
      const { resourceVersion } = target.metadata
      if (target.spec?.replicas !== replicas)
        await client.patch(target, { metadata: { resourceVersion }, spec: { replicas } })
      status.set({ replicas })
      status.condition('Ready', true)
      return undefined
    },
  }),
]

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }

export const scenario = {
  name: 'scaler',
  exceptions: [{ rule: 'cleanup', about: 'Deployment', because: 'the replicas stay as they are when the scaler goes' }],
  steps: [
    creates(Deployment, 'web', { spec: { replicas: 1, selector: { matchLabels: labels }, template } }),
    creates(Scaler, 'web', { spec: { target: 'web', load: 25 } }),
    changes(Scaler, 'web', { spec: { load: 11 } }),
    deletes(Scaler, 'web'),
  ],
}
