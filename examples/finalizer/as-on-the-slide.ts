/**
 * The finalizer sample of most slide decks: add the finalizer, do the work, clean up when deleted.
 *
 * It works when you try it. `npm test` shows its mistakes.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Bucket, finalizer } from './kinds.ts'
import type { Cloud } from './kinds.ts'

export const asOnTheSlide = ({ external: { cloud } }: { external: { cloud: Cloud } }): ControllerDeclaration[] => [
  {
    for: Bucket,
    rbac: [{ apiGroups: ['demo.example.com'], resources: ['buckets'], verbs: ['get', 'update'] }],
    async reconcileKey({ name, namespace = 'default' }, { client }) {
      const bucket = await client.find(Bucket, { name, namespace })
      if (!bucket) return
      const { finalizers = [] } = bucket.metadata
      // 1. Add the finalizer, if it is missing.
      if (!finalizers.includes(finalizer)) {
        await client.update({ ...bucket, metadata: { ...bucket.metadata, finalizers: [...finalizers, finalizer] } })
        return
      }
      // 2. Clean up when the object is deleted, and remove the finalizer.
      if (bucket.metadata.deletionTimestamp !== undefined) {
        await cloud.deleteBucket(name)
        await client.update({ ...bucket, metadata: { ...bucket.metadata, finalizers: [] } })
        return
      }
      // 3. Do the work.
      await cloud.createBucket(name, bucket.spec.region ?? 'here')
    },
  },
]
