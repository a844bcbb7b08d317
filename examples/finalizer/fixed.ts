/**
 * The same controller with `cleanup`: deletion comes first, the finalizer is added before the first call and removed
 * after the last one, and other finalizers stay.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Bucket } from './kinds.ts'
import type { Cloud } from './kinds.ts'

export const fixed = ({ external: { cloud } }: { external: { cloud: Cloud } }): ControllerDeclaration[] => {
  const controller: ControllerDeclaration<typeof Bucket> = {
    for: Bucket,
    async reconcile(bucket, { status }) {
      const region = bucket.spec.region ?? 'here'
      await cloud.createBucket(bucket.metadata.name, region)
      status.set({ region })
    },
    async cleanup(bucket) {
      await cloud.deleteBucket(bucket.metadata.name)
    },
  }
  return [controller]
}
