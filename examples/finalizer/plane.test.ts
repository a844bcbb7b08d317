import { expect, test as plainTest } from 'vitest'
import { matchers, planeFixture } from 'evenkeel/testing'
import { fixed } from './fixed.ts'
import { Bucket } from './kinds.ts'
import { scenario } from './scenario.ts'

declare module 'vitest' {
  interface Matchers<T> {
    toConverge(): Promise<T>
    toKeepTheRules(): Promise<T>
  }
}

expect.extend(matchers)

// Every test has its own control plane on a simulated clock.
const { cloud } = scenario.external()
const test = plainTest.extend({
  plane: planeFixture(() => ({ kinds: [Bucket], controllers: fixed({ external: { cloud } }), simulated: true })),
})

test('a bucket reports its address', async ({ plane }) => {
  await plane.client.create(Bucket, { metadata: { name: 'photos' }, spec: { region: 'north' } })
  await plane.until(async () => (await plane.client.get(Bucket, { name: 'photos' })).status?.region === 'north')
})

test('the program converges', async () => {
  await expect({ controllers: fixed, scenario }).toConverge()
})
