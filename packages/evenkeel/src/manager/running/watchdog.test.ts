import { expect, test } from 'vitest'
import { createLogger, SimulatedClock } from '#base'
import type { Clock } from '#base'
import { watchdogTask } from './watchdog.ts'

test('watchdogTask says that the process stood still, and for how long', async () => {
  const simulated = new SimulatedClock()
  let stoodMs = 0
  const clock: Clock = { now: () => simulated.now(), monotonic: () => simulated.monotonic() + stoodMs, after: (ms, callback) => simulated.after(ms, callback), soon: (callback) => { simulated.soon(callback) } }
  const lines: string[] = []
  const stopping = new AbortController()
  const log = createLogger({ clock, sink: ({ message, fields }) => { lines.push(`${message.split(':')[0] ?? ''} ${String(fields['ms'])}`) } })
  const running = watchdogTask({ controllers: () => [], clock, log }).run(stopping.signal, () => undefined)
  await simulated.advance(5500)
  expect(lines).toEqual([])
  stoodMs = 20_000
  await simulated.advance(5000)
  expect(lines).toEqual(['this process stood still 20000'])
  stopping.abort()
  await running
  expect(simulated.pending).toBe(0)
})
