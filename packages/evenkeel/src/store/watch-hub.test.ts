import { describe, expect, test } from 'vitest'
import { Channel } from '#base'
import type { WatchBatch, WatchEnd } from './store.ts'
import { Version } from './version.ts'
import { watchChannel, WatchHub, type WatchChannel } from './watch.ts'

const version = (key: string, revision: number): Version =>
  new Version(key, revision, { created: revision, lease: undefined })
const channel = (): WatchChannel =>
  new Channel<WatchBatch, WatchEnd>({ weightMax: 1_000_000, overflow: { reason: 'overflow' } })

function joined(hub: WatchHub, prefix: string): WatchChannel {
  const made = channel()
  hub.add(made)
  hub.join(prefix, made)
  return made
}

/** What waits in a channel. */
async function batchesOf(watch: WatchChannel): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = []
  while (watch.weight > 0) {
    const { done, value } = await watch.next()
    if (!done) batches.push(value)
  }
  return batches
}

const keysOf = (batches: readonly WatchBatch[]): string[] =>
  batches.flatMap(({ changes }) => changes.map(({ key }) => key))

describe('Hub.tell', () => {
  test('delivers the keys of its prefix to each watch, in order, in one batch', async () => {
    const hub = new WatchHub()
    const prefixes = ['', '/', '/a', '/a/', '/a/b', '/ab', '/b', '/c']
    const watches = prefixes.map((prefix) => joined(hub, prefix))
    const keys = ['/a/b', '/a', '/b', '/ab', '/a/bc']
    hub.publish(
      keys.map((key, index) => version(key, 2 + index)),
      6,
    )
    for (const [index, prefix] of prefixes.entries()) {
      const batches = await batchesOf(watches[index] as WatchChannel)
      expect(keysOf(batches)).toEqual(keys.filter((key) => key.startsWith(prefix)))
      expect(batches.map(({ revision }) => revision)).toEqual(prefix === '/c' ? [] : [6])
    }
  })

  test('watches of one prefix get the same batch object', async () => {
    const hub = new WatchHub()
    const [one, two] = [joined(hub, '/'), joined(hub, '/')]
    hub.publish([version('/a', 2)], 2)
    hub.publish([version('/b', 3)], 3)
    const [first, second] = [await batchesOf(one), await batchesOf(two)]
    expect(first[0]).toBe(second[0])
    expect(first.map(({ changes }) => changes.length)).toEqual([1, 1])
  })

  test('watches of different prefixes share the change object', async () => {
    const hub = new WatchHub()
    const [one, two] = [joined(hub, '/'), joined(hub, '/a')]
    hub.publish([version('/a', 2)], 2)
    expect((await batchesOf(one))[0]?.changes[0]).toBe((await batchesOf(two))[0]?.changes[0])
  })

  test('delivers nothing to a closed or replaying watch', async () => {
    const hub = new WatchHub()
    const [stays, leaves, reads] = [joined(hub, '/'), joined(hub, '/'), channel()]
    hub.add(reads)
    hub.leave('/', leaves)
    hub.publish([version('/a', 2)], 2)
    expect([(await batchesOf(stays)).length, leaves.weight, reads.weight, hub.size]).toEqual([1, 0, 0, 2])
  })

  test('is unaffected by a watch that overflows', async () => {
    const hub = new WatchHub()
    const small: WatchChannel = watchChannel({ backlogBytesMax: 1 }, () => {
      hub.leave('/', small)
    })
    hub.add(small)
    hub.join('/', small)
    const other = joined(hub, '/')
    hub.publish([version('/a', 2)], 2)
    expect([small.reason, hub.size, keysOf(await batchesOf(other))]).toEqual([{ reason: 'overflow' }, 1, ['/a']])
  })
})

describe('Hub.leave', () => {
  test('drops a prefix with its last watch, and adds it again later', async () => {
    const hub = new WatchHub()
    const [one, two] = [joined(hub, '/a'), joined(hub, '/a')]
    hub.leave('/a', one)
    hub.leave('/a', one)
    hub.publish([version('/a', 2)], 2)
    hub.leave('/a', two)
    hub.leave('/never', two)
    expect([hub.size, (await batchesOf(two)).length]).toEqual([0, 1])
    const three = joined(hub, '/a')
    hub.publish([version('/a', 3)], 3)
    expect(keysOf(await batchesOf(three))).toEqual(['/a'])
  })
})

test('Hub.endAll ends every watch, live or not, with the reason', () => {
  const hub = new WatchHub()
  const [live, reads] = [joined(hub, '/'), channel()]
  hub.add(reads)
  hub.endAll({ reason: 'closed' })
  expect([live.reason, reads.reason]).toEqual([{ reason: 'closed' }, { reason: 'closed' }])
})

test('the backlog of a watch counts keys, new values and 64 bytes for the batch and for each change', () => {
  const backlogBytesMax = 64 + 2 + 64
  const deleted = { key: '/a', revision: 2 }
  const channel = (): ReturnType<typeof watchChannel> => watchChannel({ backlogBytesMax }, () => undefined)
  expect(channel().push({ revision: 2, changes: [deleted] })).toBe(true)
  const entry = { key: '/a', value: new Uint8Array(1), revision: 2, created: 2 }
  expect(channel().push({ revision: 2, changes: [{ ...deleted, entry }] })).toBe(false)
})
