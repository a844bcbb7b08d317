/** An Archive has a bucket whose id the service chooses: it is found by its owner before one is created. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { NumberedBuckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Archive = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Archive',
  spec: z.object({ title: z.string() }),
  status: z.object({ bucket: z.string().optional(), title: z.string().optional() }),
})

export const controllers = ({ external: { cloud } }: Process<{ cloud: NumberedBuckets }>) => [
  defineController({
    for: Archive,
    async reconcile(archive, { status }) {
      const { uid } = archive.metadata
      const [known, ...duplicates] = await cloud.listOf(uid)
      for (const duplicate of duplicates) await cloud.delete(duplicate)
      const bucket = known ?? (await cloud.create(uid))
      status.set({ bucket, title: archive.spec.title })
      status.condition('Ready', true)
    },
    async cleanup(archive) {
      for (const bucket of await cloud.listOf(archive.metadata.uid)) await cloud.delete(bucket)
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
