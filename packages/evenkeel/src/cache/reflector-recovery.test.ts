import { expect, test } from 'vitest'
import { expired } from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import { recoveryFor, RelistError, RetryDelay, Watchdog, type ReflectorStep } from './reflector-recovery.ts'

test.each<ReflectorStep>(['stream', 'list', 'watch'])(
  'recoveryFor requests everything again after a pause when data of a %s was wrong',
  (step) => {
    const context = { step, askedNewest: false, worked: true, cuts: 0 }
    expect(recoveryFor(new RelistError('cannot be decoded'), context)).toEqual({ next: 'sync', pause: true })
  },
)

test('recoveryFor asks a stream for the newest state when our version is too old, and lists if it did', () => {
  const context = { step: 'stream' as const, worked: true, cuts: 0 }
  expect(recoveryFor(expired('too old'), { ...context, askedNewest: false })).toMatchObject({ next: 'sync' })
  expect(recoveryFor(expired('too old'), { ...context, askedNewest: true })).toMatchObject({ next: 'list' })
})

test('RetryDelay starts again with the shortest wait after more than two minutes without a failure', async () => {
  const clock = new SimulatedClock()
  const delay = new RetryDelay({ clock, random: new SeededRandom('delay') })
  for (let round = 0; round < 4; round++) delay.nextMs()
  const lastMs = delay.nextMs()
  await clock.advance(lastMs + 120_000)
  expect(delay.nextMs()).toBeGreaterThan(10_000)
  const longMs = delay.nextMs()
  await clock.advance(longMs + 120_001)
  expect(delay.nextMs()).toBeLessThanOrEqual(1_600)
})

test('Watchdog notices silence exactly when its limit is over since the last message', async () => {
  const clock = new SimulatedClock()
  let silences = 0
  const watchdog = new Watchdog({
    clock,
    limitMs: 100,
    onSilence: () => {
      silences++
    },
  })
  await clock.advance(1)
  watchdog.heard()
  await clock.advance(99)
  expect(silences).toBe(0)
  await clock.advance(1)
  expect(silences).toBe(1)
})
