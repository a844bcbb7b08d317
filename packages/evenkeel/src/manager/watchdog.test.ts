import { expect, test } from 'vitest'
import { createLogger, SimulatedClock } from '#base'
import type { Clock } from '#base'
import { Ledger } from '#controller'
import { watchdogTask } from './watchdog.ts'

test('watchdogTask logs a blocked event loop, its duration, and the reconciles that lasted all that time', async () => {
  const simulated = new SimulatedClock()
  let stoodMs = 0
  const clock: Clock = {
    now: () => simulated.now() + stoodMs,
    monotonic: () => simulated.monotonic() + stoodMs,
    after: (ms, callback) => simulated.after(ms, callback),
    soon: (callback) => {
      simulated.soon(callback)
    },
  }
  const lines: string[] = []
  const stopping = new AbortController()
  const log = createLogger({
    clock,
    sink: ({ message, fields }) => {
      lines.push(`${message.split(':')[0] ?? ''} ${String(fields['ms'])} ${String(fields['reconciles'])}`)
    },
  })
  const ledger = new Ledger()
  const begin = (key: string): ReturnType<Ledger['begin']> =>
    ledger.begin({
      reconcileId: key,
      controller: 'note',
      key,
      startedMs: clock.now(),
      attempt: 0,
      priority: 0,
      causes: [],
      causesLeftOut: 0,
      rounds: 0,
      signal: stopping.signal,
    })
  const running = watchdogTask({ controllers: () => [], ledger, clock, log }).run(stopping.signal, () => undefined)
  await simulated.advance(5500)
  expect(lines).toEqual([])
  ledger.finish(begin('long ago'), { durationMs: 0, result: 'success' })
  const slow = begin('slow')
  begin('slower')
  stoodMs = 20_000
  ledger.finish(slow, { durationMs: 20_000, result: 'success' })
  begin('afterwards')
  await simulated.advance(5000)
  expect(lines).toEqual(['event loop was blocked 20000 note slower,note slow'])
  stopping.abort()
  await running
  expect(simulated.pending).toBe(0)
})
