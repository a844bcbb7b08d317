import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { Retention, type RetentionOptions } from './history.ts'
import { Versions } from './versions.ts'

/** A store that keeps history as it is told, and a way to write to it. */
function setUp(options: RetentionOptions): {
  clock: SimulatedClock
  versions: Versions
  write: (bytes?: number) => void
} {
  const [clock, versions] = [new SimulatedClock(), new Versions()]
  const retention = new Retention(versions, { ...options, clock })
  const write = (bytes = 1): void => {
    const revision = versions.published + 1
    versions.publish([versions.apply({ key: '/a', value: new Uint8Array(bytes) }, revision)], revision)
    retention.published(1)
  }
  return { clock, versions, write }
}

describe('Retention by age', () => {
  test('keeps everything that is young enough, and forgets what is older', async () => {
    const { clock, versions, write } = setUp({ historyMs: 1_000 })
    for (let second = 0; second < 50; second++) {
      write()
      const youngest = versions.published
      await clock.advance(100)
      expect(youngest - versions.compacted).toBeGreaterThanOrEqual(Math.min(second, 9))
    }
    expect(versions.published - versions.compacted).toBeLessThanOrEqual(13)
    expect(versions.compacted).toBeGreaterThan(0)
  })

  test('forgets nothing while nothing is written, and catches up with the next write', async () => {
    const { clock, versions, write } = setUp({ historyMs: 1_000 })
    for (let index = 0; index < 20; index++) write()
    await clock.advance(1_000_000)
    expect([versions.compacted, clock.pending]).toEqual([0, 0])
    write()
    write()
    expect(versions.compacted).toBeGreaterThan(0)
    expect(versions.compacted).toBeLessThan(versions.published)
  })

  test('is unaffected by jumps of the wall clock', async () => {
    const { clock, versions, write } = setUp({ historyMs: 1_000 })
    for (const jumpMs of [3_600_000 * 24 * 3650, -3_600_000]) {
      write()
      clock.jumpWall(jumpMs)
      await clock.advance(10)
      write()
      expect(versions.compacted).toBe(0)
    }
  })
})

describe('Retention by number', () => {
  test('never keeps more changes than asked, and a good part of that', () => {
    const { versions, write } = setUp({ historyChangesMax: 100 })
    for (let index = 0; index < 1_000; index++) {
      write()
      const kept = versions.published - versions.compacted
      expect(kept).toBeLessThanOrEqual(101)
      if (index > 100) expect(kept).toBeGreaterThanOrEqual(75)
    }
    expect(versions.history.length).toBeLessThanOrEqual(101)
  })

  test('keeps at least the newest state, also with room for one change', () => {
    const { versions, write } = setUp({ historyChangesMax: 1 })
    for (let index = 0; index < 10; index++) write()
    expect(versions.get('/a', versions.published)?.revision).toBe(versions.published)
    expect(versions.history.length).toBeLessThanOrEqual(2)
  })
})

describe('Retention by bytes', () => {
  test('never keeps much more than asked', () => {
    const { versions, write } = setUp({ historyBytesMax: 100_000 })
    for (let index = 0; index < 500; index++) {
      write(5_000)
      expect(versions.history.bytes).toBeLessThan(110_000)
    }
    expect(versions.published - versions.compacted).toBeGreaterThan(10)
  })

  test('frees a quarter at once, so that it has nothing to do for a while', () => {
    const { versions, write } = setUp({ historyBytesMax: 100_000 })
    while (versions.compacted === 0) write(5_000)
    expect(versions.history.bytes).toBeLessThanOrEqual(80_000)
    expect(versions.history.bytes).toBeGreaterThan(60_000)
  })
})

test.each<RetentionOptions>([{ historyMs: 0 }, { historyMs: NaN }, { historyChangesMax: 0 }, { historyBytesMax: -1 }])(
  'Retention refuses %j',
  (options) => {
    expect(() => setUp(options)).toThrow(RangeError)
  },
)

test('Retention accepts limits of 1 and refuses less', () => {
  expect(() => setUp({ historyChangesMax: 1, historyBytesMax: 1 })).not.toThrow()
  expect(() => setUp({ historyChangesMax: 0 })).toThrow('historyChangesMax must be 1 or more, got 0')
  expect(() => setUp({ historyBytesMax: 0 })).toThrow('historyBytesMax must be 1 or more, got 0')
})
