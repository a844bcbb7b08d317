/** A Group keeps the members of a team in a directory: it adds who is missing and removes who is too many. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Directory } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Group = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Group',
  spec: z.object({ members: z.array(z.string()) }),
  status: z.object({ members: z.number().int().optional() }),
})

const everyMs = 10_000

export const controllers = ({ external: { directory } }: Process<{ directory: Directory }>) => [
  defineController({
    for: Group,
    concurrency: 2,
    async reconcile(group, { status }) {
      const team = `team-${group.metadata.uid}`
      const wanted = new Set(group.spec.members)
      const actual = new Set(await directory.list(team))
      for (const member of wanted) if (!actual.has(member)) await directory.add(team, member)
      for (const member of actual) if (!wanted.has(member)) await directory.remove(team, member)
      status.set({ members: wanted.size })
      status.condition('Ready', true)
      return { afterMs: everyMs }
    },
    async cleanup(group) {
      await directory.drop(`team-${group.metadata.uid}`)
    },
  }),
]

export const scenario = {
  name: 'members',
  external: () => ({ directory: new Directory() }),
  steps: [
    creates(Group, 'crew', { spec: { members: ['ann', 'bob'] } }),
    changes(Group, 'crew', { spec: { members: ['bob', 'cid'] } }),
    deletes(Group, 'crew'),
  ],
}
