/** A Volume has a bucket: `reconcileKey`, a client of its own, and a finalizer by hand. */
import { addFinalizer, defineController, defineKind, hasFinalizer, isNotFound, removeFinalizer } from 'evenkeel'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Volume = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Volume',
  spec: z.object({ region: z.string().min(1) }),
  status: z.object({ bucket: z.string().optional() }),
})

const finalizer = 'right.dev/bucket'

export const controllers = ({ client, external: { cloud } }: Process<{ cloud: Buckets }>) => [
  defineController({
    for: Volume,
    rbac: [{ apiGroups: ['right.dev'], resources: ['volumes', 'volumes/status'], verbs: ['get', 'update', 'patch'] }],
    async reconcileKey({ name, namespace = 'default' }) {
      const volume = await client.find(Volume, { name, namespace })
      if (!volume) return
      const bucket = `bucket-${volume.metadata.uid}`
      if (volume.metadata.deletionTimestamp !== undefined) {
        if (!hasFinalizer(volume, finalizer)) return
        await cloud.delete(bucket)
        try {
          await client.update(removeFinalizer(volume, finalizer))
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
        return
      }
      let current = volume
      if (!hasFinalizer(volume, finalizer)) current = await client.update(addFinalizer(volume, finalizer))
      await cloud.ensure(bucket, { owner: name, region: volume.spec.region })
      if (current.status?.bucket !== bucket) await client.patchStatus(current, { bucket })
    },
  }),
]

export const scenario = {
  name: 'finalizer',
  external: () => ({ cloud: new Buckets() }),
  steps: [
    creates(Volume, 'photos', { spec: { region: 'north' } }),
    changes(Volume, 'photos', { spec: { region: 'south' } }),
    deletes(Volume, 'photos'),
  ],
}
