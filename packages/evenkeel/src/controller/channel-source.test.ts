import { describe, expect, test } from 'vitest'
import { Channel } from '#base'
import { channelSource, type ChannelEvent } from './channel-source.ts'
import { Widget, World } from './world.fixture.ts'

function events(): Channel<ChannelEvent, undefined> {
  return new Channel<ChannelEvent, undefined>({ weightMax: 100_000, overflow: undefined })
}

async function started(
  world: World,
  options: Partial<Parameters<typeof channelSource>[0]> = {},
): Promise<{ channel: Channel<ChannelEvent, undefined>; seen: string[]; health: () => readonly string[] }> {
  const channel = events()
  const seen: string[] = []
  const controller = await world.start({
    for: Widget,
    sources: [channelSource({ name: 'files', events: channel, ...options })],
    reconcileKey: ({ name }, { causes, clock }) => {
      seen.push(
        `${name} ${causes.map(({ type, source, note }) => `${type} ${source} ${note ?? ''}`.trim()).join()} at ${clock.monotonic()}`,
      )
    },
  })
  return { channel, seen, health: () => controller.health.problems }
}

describe('channelSource', () => {
  test('passes keys on, with their notes as causes', async () => {
    const world = new World()
    const { channel, seen } = await started(world)
    channel.push({ name: 'one', namespace: 'a', note: 'saved' })
    await world.clock.advance(0)
    expect(seen).toEqual(['one event files saved at 0'])
    await world.stop()
  })

  test('debounceMs: a thousand events become one run when they are quiet', async () => {
    const world = new World()
    const { channel, seen } = await started(world, { debounceMs: 100 })
    for (let index = 0; index < 1000; index++) channel.push({ name: 'one', namespace: 'a' })
    await world.clock.advance(99)
    expect(seen).toEqual([])
    await world.clock.advance(1)
    expect(seen).toEqual(['one event files at 100'])
    await world.stop()
  })

  test('debounceMaxMs: a stream that is never quiet is not starved', async () => {
    const world = new World()
    const { channel, seen } = await started(world, { debounceMs: 100, debounceMaxMs: 250 })
    for (let index = 0; index < 12; index++) {
      channel.push({ name: 'one', namespace: 'a' })
      await world.clock.advance(50)
    }
    expect(seen).toEqual(['one event files at 250', 'one event files at 500'])
    await world.stop()
    expect(world.clock.pending).toBe(0)
  })

  test('keysMax: beyond it the key that waits longest comes out early, and none is lost', async () => {
    const world = new World()
    const { channel, seen } = await started(world, { debounceMs: 100, keysMax: 2 })
    for (const name of ['one', 'two', 'three']) channel.push({ name })
    await world.clock.advance(0)
    expect(seen).toEqual(['one event files at 0'])
    await world.clock.advance(100)
    expect(seen).toHaveLength(3)
    await world.stop()
  })

  test('what is no key is counted, and the next event is heard', async () => {
    const world = new World()
    const { channel, seen } = await started(world)
    for (const bad of [undefined, { name: 5 }, { name: '' }, 'one', { name: 'x', namespace: 7 }])
      channel.push(bad as never)
    channel.push({ name: 'good' })
    await world.clock.advance(0)
    expect(seen).toEqual(['good event files at 0'])
    expect(world.metric('evenkeel_controller_map_errors_total{controller="widget"}')).toBe(5)
    await world.stop()
  })

  test('a stream that breaks is begun again if it is a function, and said to be broken meanwhile', async () => {
    const world = new World()
    let calls = 0
    async function* broken(): AsyncGenerator<ChannelEvent> {
      await Promise.resolve()
      yield { name: `call-${++calls}` }
      if (calls < 3) throw new Error('the disk is gone')
    }
    const { seen, health } = await started(world, { events: () => broken() })
    expect(seen).toHaveLength(1)
    expect(health()).toEqual(['files: the disk is gone'])
    await world.clock.advance(10_000)
    expect(seen.map((line) => line.split(' ')[0])).toEqual(['call-1', 'call-2', 'call-3'])
    expect(health()).toEqual([])
    await world.stop()
  })

  test('a stream that breaks and cannot be begun again stays broken; one that hangs does not hold up the stop', async () => {
    const world = new World()
    const failing: AsyncIterable<ChannelEvent> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no')) }),
    }
    const { health } = await started(world, { events: failing })
    expect(health()).toEqual(['files: no'])
    await world.stop()
    const other = new World()
    await started(other, { events: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) } })
    await other.stop()
  })

  test('opens a stream that fails again after 1 s, then after twice as long each time, at most after a minute', async () => {
    const opened: number[] = []
    const world = new World({ random: { uint32: () => 0 } })
    const broken: AsyncIterable<ChannelEvent> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no')) }),
    }
    await started(world, {
      events: () => {
        opened.push(world.clock.monotonic())
        return broken
      },
    })
    await world.clock.advance(200_000)
    expect(opened).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000, 183_000])
    await world.stop()
    expect(world.clock.pending).toBe(0)
  })

  test('passes on the namespace of a key, or none, and the priority of the source', async () => {
    const world = new World()
    const channel = events()
    const seen: unknown[] = []
    await world.start({
      for: Widget,
      sources: [channelSource({ name: 'files', events: channel, priority: 7 })],
      reconcileKey: ({ name, namespace }, { priority }) => {
        seen.push([name, namespace, priority])
      },
    })
    channel.push({ name: 'one', namespace: 'b' })
    channel.push({ name: 'two' })
    await world.clock.advance(0)
    expect(seen).toEqual([
      ['one', 'b', 7],
      ['two', undefined, 7],
    ])
    await world.stop()
  })

  test('keysMax: a key that came out early and comes again waits its whole time again', async () => {
    const world = new World()
    const { channel, seen } = await started(world, { debounceMs: 100, keysMax: 1 })
    for (const name of ['one', 'two']) channel.push({ name })
    await world.clock.advance(50)
    expect(seen.splice(0)).toEqual(['one event files at 0'])
    channel.push({ name: 'one' })
    await world.clock.advance(1000)
    expect(seen).toEqual(['two event files at 50', 'one event files at 150'])
    await world.stop()
  })

  test('counts as synced at once, so that its controller is ready', async () => {
    const world = new World()
    const channel = events()
    const controller = await world.start({ for: Widget, reconcileKey: () => undefined })
    const source = channelSource({ name: 'files', events: channel, keysMax: 1 })
    const added = controller.addSource(source)
    expect(added.hasSynced).toBe(true)
    expect(controller.health).toMatchObject({
      isReady: true,
      sources: [
        { name: 'for Widget', hasSynced: true },
        { name: 'files', hasSynced: true },
      ],
    })
    await world.stop()
    expect(controller.health.sources[1]).toEqual({ name: 'files', hasSynced: false })
    expect(channel.open).toBe(false)
  })

  test.each([
    [{ debounceMs: -1 }, 'debounceMs must be 0 or more'],
    [{ debounceMs: 10, debounceMaxMs: 5 }, 'debounceMaxMs at least that'],
    [{ keysMax: 0 }, 'keysMax must be a whole number'],
  ])('refuses %j', (options, message) => {
    expect(() => channelSource({ name: 'x', events: events(), ...options })).toThrow(message)
  })
})
