/**
 * The steps of a user and a cloud in memory: all that the Explorer needs.
 */
import type { UserStep } from 'evenkeel/testing'
import { Bucket } from './kinds.ts'
import type { Cloud } from './kinds.ts'

/** A cloud in memory: creating an existing bucket and deleting a missing one succeed. */
class CloudInMemory implements Cloud {
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

// The Explorer delays, fails and loses calls: the program gets promises.
export const scenario = { name: 'buckets', steps, external: () => ({ cloud: new CloudInMemory() }) }
