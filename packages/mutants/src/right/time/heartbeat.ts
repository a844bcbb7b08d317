/** An Agent is online while its heartbeat, an annotation that it renews itself, is not too old. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Agent = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Agent',
  spec: z.object({ site: z.string(), heartbeat: z.string() }),
  status: z.object({ site: z.string().optional() }),
})

const lateMs = 60_000

export const controllers = () => [
  defineController({
    for: Agent,
    reconcile(agent, { clock, status }) {
      const seenMs = Date.parse(agent.spec.heartbeat)
      const leftMs = seenMs + lateMs - clock.now()
      const isOnline = leftMs > 0
      status.set({ site: agent.spec.site })
      status.condition('Online', isOnline, { reason: isOnline ? 'HeartbeatSeen' : 'HeartbeatLate' })
      return isOnline ? { afterMs: leftMs } : undefined
    },
  }),
]

export const scenario = {
  name: 'heartbeat',
  steps: [
    creates(Agent, 'north', { spec: { site: 'north', heartbeat: '2000-01-01T00:00:00Z' } }),
    changes(Agent, 'north', { spec: { heartbeat: '2000-01-02T00:00:00Z' } }),
    changes(Agent, 'north', { spec: { site: 'far north' } }),
    deletes(Agent, 'north'),
  ],
}
