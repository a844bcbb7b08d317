/** A Template has a ConfigMap for its current generation; those of earlier generations are deleted. */
import { defineController, defineKind, isNotFound, isOwnedBy, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Template = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Template',
  spec: z.object({ text: z.string() }),
  status: z.object({ current: z.string().optional() }),
})

export const controllers = () => [
  defineController({
    for: Template,
    owns: [ConfigMap],
    async reconcile(template, { client, status }) {
      const { name, namespace = 'default', generation } = template.metadata
      const metadata = { name: `${name}-r${generation}`, namespace, labels: { template: name } }
      const data = { text: template.spec.text }
      const revision = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
      await client.apply(setControllerReference(template, revision), { force: true })
      status.set({ current: metadata.name })
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: { matchLabels: { template: name } } })
      for (const old of items) {
        if (!isOwnedBy(old, template) || old.metadata.deletionTimestamp !== undefined) continue
        if (Number(old.metadata.name.split('-r').at(-1)) >= (generation ?? 0)) continue
        try {
          await client.delete(old, { preconditions: { uid: old.metadata.uid } })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
    },
  }),
]

export const scenario = {
  name: 'generations',
  steps: [
    creates(Template, 'letter', { spec: { text: 'Dear' } }),
    changes(Template, 'letter', { spec: { text: 'Hello' } }),
    deletes(Template, 'letter'),
  ],
}
