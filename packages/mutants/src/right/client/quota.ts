/** A Stage admits as many Acts as it has slots: those with the lowest numbers. */
import { defineController, defineKind } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Act = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Act',
  spec: z.object({ stage: z.string(), rank: z.number().int().min(0) }),
  status: z.object({}),
})

const Stage = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Stage',
  spec: z.object({ slots: z.number().int().min(0).max(5) }),
  status: z.object({ admitted: z.array(z.string()).optional(), waiting: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Stage,
    watches: [
      watching(Act, {
        map: ({ metadata: { namespace = 'default' }, spec }) => [{ name: spec.stage, namespace }],
      }),
    ],
    async reconcile(stage, { client, status }) {
      const { name, namespace = 'default' } = stage.metadata
      const { items } = await client.list(Act, { namespace })
      const acts = items
        .filter(({ spec, metadata }) => spec.stage === name && metadata.deletionTimestamp === undefined)
        .sort((a, b) => a.spec.rank - b.spec.rank || (a.metadata.name < b.metadata.name ? -1 : 1))
      const admitted = acts.slice(0, stage.spec.slots).map(({ metadata }) => metadata.name)
      status.set({ admitted, waiting: acts.length - admitted.length })
      status.condition('Full', acts.length >= stage.spec.slots)
    },
  }),
]

export const scenario = {
  name: 'quota',
  steps: [
    creates(Stage, 'main', { spec: { slots: 1 } }),
    creates(Act, 'band', { spec: { stage: 'main', rank: 2 } }),
    creates(Act, 'choir', { spec: { stage: 'main', rank: 1 } }),
    changes(Stage, 'main', { spec: { slots: 2 } }),
    deletes(Act, 'choir'),
    deletes(Stage, 'main'),
  ],
}
