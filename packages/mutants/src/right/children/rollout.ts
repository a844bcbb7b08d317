/** A Fleet updates its members in order: the next one follows when the one before is ready. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Fleet = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Fleet',
  spec: z.object({ members: z.number().int().min(1).max(3), firmware: z.string().min(1) }),
  status: z.object({ updated: z.number().int().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Fleet,
    owns: [ConfigMap],
    async reconcile(fleet, { children, status }) {
      const { name } = fleet.metadata
      for (let index = 0; index < fleet.spec.members; index++) {
        status.set({ updated: index })
        const metadata = { name: `${name}-${index}` }
        const member = await children.apply(ConfigMap, { metadata, data: { firmware: fleet.spec.firmware } })
        children.waitFor(member, ({ data }) => data?.['firmware'] === fleet.spec.firmware)
      }
      status.set({ updated: fleet.spec.members })
      status.condition('Ready', true)
    },
  }),
]

export const scenario = {
  name: 'rollout',
  steps: [
    creates(Fleet, 'vans', { spec: { members: 3, firmware: 'f1' } }),
    changes(Fleet, 'vans', { spec: { members: 2, firmware: 'f2' } }),
    deletes(Fleet, 'vans'),
  ],
}
