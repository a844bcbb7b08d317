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

/** At once by a service in memory, later over a network. */
type Answer<T> = Promise<T> | T

/** The API of the cloud. */
export interface Cloud {
  createBucket(name: string, region: string): Answer<void>
  deleteBucket(name: string): Answer<void>
}
