/** A Crowd has ConfigMaps with names that the server generates: a list from the server comes before every create. */
import { defineController, defineKind, isNotFound, isOwnedBy, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Crowd = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Crowd',
  spec: z.object({ size: z.number().int().min(0).max(4) }),
  status: z.object({ size: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Crowd,
    owns: [ConfigMap],
    async reconcile(crowd, { client, status }) {
      const { name, namespace = 'default' } = crowd.metadata
      const { items } = await client.list(ConfigMap, { namespace, live: true })
      const own = items.filter((one) => isOwnedBy(one, crowd) && one.metadata.deletionTimestamp === undefined)
      for (let count = own.length; count < crowd.spec.size; count++) {
        const metadata = { generateName: `${name}-`, namespace }
        await client.create(setControllerReference(crowd, { apiVersion: 'v1', kind: 'ConfigMap', metadata }))
      }
      for (const extra of own.slice(crowd.spec.size)) {
        try {
          await client.delete(extra, { preconditions: { uid: extra.metadata.uid } })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
      status.set({ size: crowd.spec.size })
    },
  }),
]

export const scenario = {
  name: 'generated names',
  steps: [
    creates(Crowd, 'fans', { spec: { size: 2 } }),
    changes(Crowd, 'fans', { spec: { size: 1 } }),
    changes(Crowd, 'fans', { spec: { size: 3 } }),
    deletes(Crowd, 'fans'),
  ],
}
