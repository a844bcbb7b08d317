/** A CronJob of one's own: a Job for each period, by `children.once`, and a history of those that are done. */
import { defineController, defineKind } from 'evenkeel'
import { Job } from 'evenkeel/kinds/batch/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Nightly = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Nightly',
  spec: z.object({
    image: z.string().min(1),
    everySeconds: z.number().int().min(60).max(86_400).default(3600),
    isSuspended: z.boolean().default(false),
  }),
  status: z.object({ lastRun: z.string().optional() }),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Nightly,
    owns: [Job],
    async reconcile(nightly, { children, clock, status }) {
      const { image, everySeconds, isSuspended } = nightly.spec
      if (isSuspended) {
        status.condition('Ready', false, { reason: 'Suspended' })
        return undefined
      }
      const everyMs = everySeconds * 1000
      const dueMs = Math.floor(clock.now() / everyMs) * everyMs
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image }] } }
      await children.once(
        Job,
        { spec: { backoffLimit: 2, template } },
        { key: String(dueMs / 1000), keep: { Complete: 2, Failed: 1 } },
      )
      status.set({ lastRun: new Date(dueMs).toISOString() })
      status.condition('Ready', true)
      return { afterMs: dueMs + everyMs - clock.now() }
    },
  }),
]

export const scenario = {
  name: 'cron job',
  steps: [
    creates(Nightly, 'report', { spec: { image: 'report:1' } }),
    changes(Nightly, 'report', { spec: { isSuspended: true } }),
    changes(Nightly, 'report', { spec: { isSuspended: false, image: 'report:2' } }),
    deletes(Nightly, 'report'),
  ],
}
