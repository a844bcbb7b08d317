/** A Team has a ConfigMap for each member: server-side apply, and pruning by hand. */
import { defineController, defineKind, isNotFound, isOwnedBy, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Team = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Team',
  spec: z.object({ size: z.number().int().min(0).max(4), role: z.string() }),
  status: z.object({ members: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Team,
    owns: [ConfigMap],
    async reconcile(team, { client, status }) {
      const { name, namespace = 'default' } = team.metadata
      const wanted = Array.from({ length: team.spec.size }, (_, index) => `${name}-${index}`)
      for (const member of wanted) {
        const metadata = { name: member, namespace, labels: { team: name } }
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { role: team.spec.role } }
        await client.apply(setControllerReference(team, object), { force: true })
      }
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: { matchLabels: { team: name } } })
      for (const child of items) {
        if (!isOwnedBy(child, team) || wanted.includes(child.metadata.name)) continue
        if (child.metadata.deletionTimestamp !== undefined) continue
        try {
          await client.delete(child, { preconditions: { uid: child.metadata.uid } })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
      status.set({ members: team.spec.size })
    },
  }),
]

export const scenario = {
  name: 'apply',
  steps: [
    creates(Team, 'red', { spec: { size: 3, role: 'reader' } }),
    changes(Team, 'red', { spec: { size: 1, role: 'writer' } }),
    deletes(Team, 'red'),
  ],
}
