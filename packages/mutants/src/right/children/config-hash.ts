/** A Worker restarts its Deployment when the settings that it uses change: their hash is in the template. */
import { createHash } from 'node:crypto'
import { defineController, defineKind, dependsOn } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import { Deployment } from 'evenkeel/kinds/apps/v1'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Worker = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Worker',
  spec: z.object({ image: z.string().min(1), settings: z.string().min(1) }),
  status: z.object({ hash: z.string().optional() }),
})

const settings = dependsOn(ConfigMap, (worker: ObjectOf<typeof Worker>) => worker.spec.settings)

function hashOf(data: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16)
}

export const controllers = () => [
  defineController({
    for: Worker,
    owns: [Deployment],
    verbs: [settings],
    async reconcile(worker, context) {
      const found = await settings.one(context)
      const hash = hashOf(found?.object.data ?? {})
      const labels = { worker: worker.metadata.name }
      await context.children.apply(Deployment, {
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels, annotations: { 'right.dev/settings': hash } },
            spec: { containers: [{ name: 'worker', image: worker.spec.image }] },
          },
        },
      })
      context.status.set({ hash })
    },
  }),
]

export const scenario = {
  name: 'config hash',
  steps: [
    creates(ConfigMap, 'tuning', { data: { threads: '1' } }),
    creates(Worker, 'mail', { spec: { image: 'mail:1', settings: 'tuning' } }),
    changes(ConfigMap, 'tuning', { data: { threads: '2' } }),
    changes(Worker, 'mail', { spec: { image: 'mail:2' } }),
    deletes(Worker, 'mail'),
  ],
}
