import { expect, test } from 'vitest'
import { watchChannel } from './watch.ts'

const entry = { key: '/a', value: new Uint8Array(1_000), revision: 2, created: 2 }

test('watchChannel counts keys and new values, and every batch has a cost', () => {
  const channel = watchChannel({}, () => undefined)
  channel.push({ revision: 1, changes: [] })
  const empty = channel.weight
  channel.push({ revision: 2, changes: [{ key: '/a', revision: 2, entry }] })
  const put = channel.weight - empty
  channel.push({ revision: 3, changes: [{ key: '/a', revision: 3, previous: entry }] })
  const removed = channel.weight - empty - put
  expect(empty).toBeGreaterThan(0)
  expect(put).toBeGreaterThan(1_000)
  expect(removed).toBeLessThan(1_000)
})

test('watchChannel ends with overflow when its reader falls behind, and calls onClose', () => {
  let closed = 0
  const channel = watchChannel({ backlogBytesMax: 2_000 }, () => {
    closed++
  })
  const batch = { revision: 2, changes: [{ key: '/a', revision: 2, entry }] }
  expect([channel.push(batch), channel.push(batch)]).toEqual([true, false])
  expect([channel.reason, channel.weight, closed]).toEqual([{ reason: 'overflow' }, 0, 1])
})
