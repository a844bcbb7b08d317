import { expect, test } from 'vitest'
import { deferred } from '#base'
import { CacheEvent } from './event.ts'
import type { Widget } from './fake-server.fixture.ts'
import { setUpInformer } from './informer.fixture.ts'
import { Item } from './items.ts'
import { JoinedSubscription, Listener } from './listeners.ts'
import { OwnWrites } from './own-writes.ts'

const context = { cluster: 'default', group: 'test.dev', kind: 'Widget', ownWrites: new OwnWrites() }
const eventOf = (resourceVersion: string): CacheEvent<Widget> =>
  new CacheEvent(context, {
    type: 'update',
    item: Item.ofObject({ apiVersion: 'test.dev/v1', kind: 'Widget', metadata: { name: 'one', resourceVersion } }),
  })

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

test('Listener calls an idle handler at once, and not at all after it was stopped', async () => {
  const { clock } = await setUpInformer()
  const called: string[] = []
  const listener = new Listener<Widget>({
    handler: ({ resourceVersion }) => {
      called.push(resourceVersion)
    },
    clock,
    onError: () => undefined,
    skipOwn: false,
  })
  listener.offer(eventOf('5'))
  expect(called).toEqual(['5'])
  listener.offer(eventOf('6'), { later: true })
  expect([called.length, listener.backlog]).toEqual([1, 1])
  await listener.stop()
  listener.offer(eventOf('7'))
  listener.offer(eventOf('8'), { later: true })
  await clock.advance(0)
  expect([called, listener.backlog]).toEqual([['5'], 0])
})
