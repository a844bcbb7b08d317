import { expect, test as plainTest } from 'vitest'
import { planeFixture } from 'evenkeel/testing'
import 'evenkeel/testing/vitest'
import { fixed } from './fixed.ts'
import { Bucket } from './kinds.ts'
import { scenario } from './scenario.ts'

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
