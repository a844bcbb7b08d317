import { expect, test } from 'vitest'
import { deferred } from '#base'
import { setUpInformer } from './informer.fixture.ts'
import { JoinedSubscription } from './listeners.ts'

test('JoinedSubscription adds up what waits, is synced when all are, and removes all', async () => {
  const setups = [await setUpInformer(), await setUpInformer()]
  const [first, second] = setups as [(typeof setups)[0], (typeof setups)[0]]
  const free = deferred<void>()
  let calls = 0
  for (const name of ['one', 'two', 'three']) first.server.put(name)
  second.server.put('four')
  for (const { clock } of setups) await clock.advance(0)
  const all = setups.map(({ informer }) =>
    informer.addHandler(() => {
      calls++
      return free.promise
    }),
  )
  let hasLeft = false
  const joined = new JoinedSubscription(
    () => all,
    () => {
      hasLeft = true
    },
  )
  expect([joined.backlog, joined.hasSynced]).toEqual([4, false])
  for (const { clock } of setups) await clock.advance(0)
  expect([joined.backlog, joined.hasSynced, calls]).toEqual([2, false, 2])
  free.resolve()
  await joined.waitForSync()
  expect([joined.backlog, joined.hasSynced, calls]).toEqual([0, true, 4])
  await joined.remove()
  expect(hasLeft).toBe(true)
  first.server.put('five')
  await first.clock.advance(0)
  expect(calls).toBe(4)
})
