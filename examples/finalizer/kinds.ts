/**
 * A Bucket: an object in the cluster, a bucket in a cloud.
 */
import { defineKind } from 'evenkeel'

export const Bucket = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Bucket',
  spec: { type: 'object', properties: { region: { type: 'string' } } },
  status: { type: 'object', properties: { region: { type: 'string' } } },
})

export const finalizer = 'demo.example.com/cleanup'

/** The API of the cloud. */
export interface Cloud {
  createBucket(name: string, region: string): Promise<void>
  deleteBucket(name: string): Promise<void>
}
