/**
 * What a user does to a Bucket, and a cloud that remembers: this is all the Explorer needs.
 */
import type { UserStep } from 'evenkeel/testing'
import { Bucket } from './kinds.ts'
import type { Cloud } from './kinds.ts'

/** A cloud in memory: making a bucket that is there, and deleting one that is not, is fine with it. */
class CloudInMemory {
  readonly buckets = new Map<string, string>()

  createBucket(name: string, region: string): void {
    this.buckets.set(name, region)
  }

  deleteBucket(name: string): void {
    this.buckets.delete(name)
  }
}

const place = { name: 'photos', namespace: 'default' }

const steps: readonly UserStep[] = [
  { name: 'creates Bucket photos', run: (user) => user.create(Bucket, { metadata: place, spec: { region: 'north' } }) },
  {
    name: 'moves it to the south',
    run: async (user) => user.patch(await user.get(Bucket, place), { spec: { region: 'south' } }),
  },
  { name: 'deletes it', run: async (user) => user.delete(await user.get(Bucket, place)) },
]

// The Explorer makes every call of a process wait, fail or get lost: what the program holds is a promise.
export const scenario = { name: 'buckets', steps, external: () => ({ cloud: new CloudInMemory() as unknown as Cloud }) }
