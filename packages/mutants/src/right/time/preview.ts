/** A Preview has a ConfigMap and deletes itself when its time is over. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates } from '../steps.ts'

const Preview = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Preview',
  spec: z.object({ branch: z.string(), ttlSeconds: z.number().int().min(600).max(86_400) }),
  status: z.object({ until: z.string().optional() }),
})

export const controllers = () => [
  defineController({
    for: Preview,
    owns: [ConfigMap],
    rbac: [{ apiGroups: ['right.dev'], resources: ['previews'], verbs: ['delete'] }],
    async reconcile(preview, { children, client, clock, status }) {
      const { creationTimestamp, uid } = preview.metadata
      const untilMs = Date.parse(creationTimestamp) + preview.spec.ttlSeconds * 1000
      const leftMs = untilMs - clock.now()
      if (leftMs <= 0) {
        await client.delete(preview, { preconditions: { uid }, ignoreNotFound: true })
        return undefined
      }
      await children.apply(ConfigMap, { data: { branch: preview.spec.branch } })
      status.set({ until: new Date(untilMs).toISOString() })
      status.condition('Ready', true)
      return { afterMs: leftMs }
    },
  }),
]

export const scenario = {
  name: 'preview',
  steps: [
    creates(Preview, 'fix', { spec: { branch: 'fix', ttlSeconds: 3600 } }),
    changes(Preview, 'fix', { spec: { branch: 'fix-2', ttlSeconds: 7200 } }),
  ],
}
