import { describe, expect, test } from 'vitest'
import { Latencies } from './latencies.ts'
import { Meter } from './meter.ts'

describe('Latencies', () => {
  test('gives percentiles by nearest rank, in numeric order', () => {
    const latencies = new Latencies()
    for (let ms = 2000; ms >= 1; ms--) latencies.add(ms)
    expect(latencies.count).toBe(2000)
    expect(latencies.percentiles(0.5, 0.99, 1)).toEqual([1000, 1980, 2000])
  })

  test('has no percentiles without durations', () => {
    expect(new Latencies().percentiles(0.5)).toEqual([NaN])
  })
})

describe('Meter', () => {
  function meterAt(bounds: ConstructorParameters<typeof Meter>[0]['bounds']): { meter: Meter; clock: { ms: number } } {
    const clock = { ms: 1000 }
    return { clock, meter: new Meter({ bounds, processIds: [], now: () => clock.ms }) }
  }

  test('counts nothing that started during the warm-up', () => {
    const { meter, clock } = meterAt({ durationMs: 100, countMax: 10, warmMs: 50 })
    const early = meter.begin()
    clock.ms = 1060
    const counted = meter.begin()
    clock.ms = 1070
    meter.end(early as number)
    clock.ms = 1080
    meter.end(counted as number)
    expect(meter.result()).toMatchObject({ count: 1, perSecond: 50, p50Ms: 20, p99Ms: 20 })
  })

  test('ends when the number is reached', () => {
    const { meter } = meterAt({ durationMs: 100, countMax: 2 })
    expect([meter.begin(), meter.begin(), meter.begin()]).toEqual([1000, 1000, undefined])
  })

  test('ends when the time is up, and operations in progress still count', () => {
    const { meter, clock } = meterAt({ durationMs: 100, countMax: 10 })
    const begun = meter.begin()
    clock.ms = 1100
    expect(meter.begin()).toBeUndefined()
    clock.ms = 1200
    meter.end(begun as number)
    expect(meter.result()).toMatchObject({ count: 1, perSecond: 5, p50Ms: 200 })
  })

  test('divides by the given count, until it is stopped', () => {
    const { meter, clock } = meterAt({ durationMs: 100, countMax: 10 })
    meter.begin()
    clock.ms = 2000
    meter.stop()
    expect(meter.result(500)).toMatchObject({ count: 500, perSecond: 500, serverCpuUs: NaN })
  })
})
