import { SeededRandom, SimulatedClock } from '#base'
import { expect, test } from 'vitest'
import { openMemoryStore } from './memory.ts'

const value = new Uint8Array(1)

test('openMemoryStore opens a new empty store each time', async () => {
  const [one, two] = [openMemoryStore(), openMemoryStore()]
  await one.commit({ key: '/a', value, expect: 0 })
  expect([await one.head(), await two.head()]).toEqual([2, 1])
  await one.close()
  await two.close()
})

test('openMemoryStore keeps as much history as configured', async () => {
  const store = openMemoryStore({ clock: new SimulatedClock(), historyChangesMax: 10 })
  let expected = 0
  for (let round = 0; round < 100; round++) {
    const result = await store.commit({ key: '/a', value, expect: expected })
    expected = result.ok ? result.revision : 0
  }
  expect((await store.head()) - (await store.compacted())).toBeLessThanOrEqual(11)
  expect(await store.get('/a', { revision: 2 })).toMatchObject({ ok: false, reason: 'compacted' })
  expect(() => openMemoryStore({ historyMs: -1 })).toThrow(RangeError)
})

test('a watch of a memory store that compaction overtakes while it reads history ends where it is', async () => {
  const store = openMemoryStore({
    clock: new SimulatedClock(),
    random: new SeededRandom(1),
    historyChangesMax: 1_000_000,
  })
  let expected = 0
  for (let round = 0; round < 2_000; round++) {
    const result = await store.commit({ key: '/a', value, expect: expected })
    expected = result.ok ? result.revision : 0
  }
  const watch = store.watch('/', { after: 1 })
  const iterator = watch[Symbol.asyncIterator]()
  const first = await iterator.next()
  expect(first.done ? 0 : first.value.changes.length).toBeGreaterThan(1)
  await store.compact(1_900)
  expect(await iterator.next()).toEqual({ done: true, value: { reason: 'compacted', compacted: 1_900 } })
})
