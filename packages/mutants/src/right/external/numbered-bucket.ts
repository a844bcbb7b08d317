/** An Archive has a bucket whose id the service chooses; a token makes sure that it is one. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { NumberedBuckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Archive = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Archive',
  spec: z.object({ title: z.string() }),
  status: z.object({ bucket: z.string().optional() }),
})

export const controllers = ({ external: { cloud } }: Process<{ cloud: NumberedBuckets }>) => [
  defineController({
    for: Archive,
    owns: [ConfigMap],
    async reconcile(archive, { children, status }) {
      const { name, uid } = archive.metadata
      const bucket = await cloud.create(`archive-${uid}`, archive.spec.title)
      await children.apply(ConfigMap, { metadata: { name: `${name}-bucket` }, data: { bucket } })
      status.set({ bucket })
      status.condition('Ready', true)
    },
    async cleanup(archive) {
      await cloud.delete(`archive-${archive.metadata.uid}`)
    },
  }),
]

export const scenario = {
  name: 'numbered bucket',
  external: () => ({ cloud: new NumberedBuckets() }),
  steps: [
    creates(Archive, 'letters', { spec: { title: 'Letters' } }),
    changes(Archive, 'letters', { spec: { title: 'Old letters' } }),
    deletes(Archive, 'letters'),
  ],
}
