/** A Bridge has two ends in a cloud. One process of several leads, and looks at the signal before every call. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Bridge = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Bridge',
  spec: z.object({ region: z.string().min(1) }),
  status: z.object({ ends: z.number().int().optional() }),
})

const ends = ['left', 'right']

export const controllers = ({ external: { cloud } }: Process<{ cloud: Buckets }>) => [
  defineController({
    for: Bridge,
    async reconcile(bridge, { signal, status }) {
      const { name, uid } = bridge.metadata
      for (const end of ends) {
        signal.throwIfAborted()
        await cloud.ensure(`${uid}-${end}`, { owner: name, region: bridge.spec.region })
      }
      status.set({ ends: ends.length })
    },
    async cleanup(bridge, { signal }) {
      for (const end of ends) {
        signal.throwIfAborted()
        await cloud.delete(`${bridge.metadata.uid}-${end}`)
      }
    },
  }),
]

export const scenario = {
  name: 'leader',
  leaderElection: { leaseMs: 15_000 },
  external: () => ({ cloud: new Buckets() }),
  steps: [
    creates(Bridge, 'golden', { spec: { region: 'west' } }),
    changes(Bridge, 'golden', { spec: { region: 'east' } }),
    deletes(Bridge, 'golden'),
  ],
}
