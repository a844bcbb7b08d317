import { expect, test } from 'vitest'
import { silentLogger, SimulatedClock } from '#base'
import { openMemoryStore } from '#store'
import { startCompaction } from './storage.ts'

const intervalMs = 1000

test('startCompaction forgets what is older than one interval, and stops', async () => {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock })
  const stop = startCompaction(store, { clock, log: silentLogger, intervalMs })
  const write = async (key: string): Promise<void> => {
    await store.commit({ key, value: new Uint8Array(1), expect: 0 })
  }
  await write('a')
  await clock.advance(intervalMs)
  expect(await store.compacted()).toBe(0)
  await write('b')
  await clock.advance(intervalMs)
  expect(await store.compacted()).toBe(2)
  stop()
  await write('c')
  await clock.advance(10 * intervalMs)
  expect(await store.compacted()).toBe(2)
  await store.close()
})

test('startCompaction goes on after a failure', async () => {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock })
  let failures = 1
  const flaky = {
    ...store,
    head: () => (failures-- > 0 ? Promise.reject(new Error('away')) : store.head()),
    compact: (revision: number) => store.compact(revision),
  }
  const stop = startCompaction(flaky, { clock, log: silentLogger, intervalMs })
  await store.commit({ key: 'a', value: new Uint8Array(1), expect: 0 })
  await clock.advance(3 * intervalMs)
  expect(await store.compacted()).toBe(2)
  stop()
  await store.close()
})
