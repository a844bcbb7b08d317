/** A Poll counts the votes that name it; the votes belong to users. */
import { defineController, defineKind } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Vote = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Vote',
  spec: z.object({ poll: z.string(), isYes: z.boolean() }),
  status: z.object({}),
})

const Poll = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Poll',
  spec: z.object({ question: z.string(), quorum: z.number().int().min(1).max(3) }),
  status: z.object({ yes: z.number().int().optional(), no: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Poll,
    watches: [
      watching(Vote, {
        map: ({ metadata: { namespace = 'default' }, spec }) => [{ name: spec.poll, namespace }],
      }),
    ],
    async reconcile(poll, { client, status }) {
      const { name, namespace = 'default' } = poll.metadata
      const { items } = await client.list(Vote, { namespace })
      const votes = items.filter(({ metadata, spec }) => spec.poll === name && metadata.deletionTimestamp === undefined)
      const yes = votes.filter(({ spec }) => spec.isYes).length
      status.set({ yes, no: votes.length - yes })
      status.condition('Decided', votes.length >= poll.spec.quorum)
    },
  }),
]

export const scenario = {
  name: 'aggregate',
  steps: [
    creates(Poll, 'lunch', { spec: { question: 'Soup?', quorum: 2 } }),
    creates(Vote, 'ann', { spec: { poll: 'lunch', isYes: true } }),
    creates(Vote, 'bob', { spec: { poll: 'lunch', isYes: false } }),
    changes(Vote, 'bob', { spec: { isYes: true } }),
    deletes(Vote, 'ann'),
    deletes(Poll, 'lunch'),
  ],
}
