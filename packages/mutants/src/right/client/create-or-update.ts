/** A Banner has a ConfigMap, by `createOrUpdate`. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Banner = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Banner',
  spec: z.object({ text: z.string(), colour: z.string().optional() }),
  status: z.object({}),
})

export const controllers = () => [
  defineController({
    for: Banner,
    owns: [ConfigMap],
    async reconcile(banner, { client, status }) {
      const { name, namespace = 'default' } = banner.metadata
      const { text, colour } = banner.spec
      const seed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-banner`, namespace }, data: {} }
      await client.createOrUpdate(seed, (current) =>
        setControllerReference(banner, {
          ...current,
          data: { text, ...(colour !== undefined && { colour }) },
        }),
      )
      status.condition('Ready', true)
    },
  }),
]

export const scenario = {
  name: 'create or update',
  steps: [
    creates(Banner, 'sale', { spec: { text: 'Sale!', colour: 'red' } }),
    changes(Banner, 'sale', { spec: { text: 'Last day!', colour: null } }),
    deletes(Banner, 'sale'),
  ],
}
