import { expect, test } from 'vitest'
import { createLogger, SimulatedClock } from '#base'
import type { Clock } from '#base'
import { Ledger } from '#controller'
import { watchdogTask } from './watchdog.ts'

/** A clock that goes on while the event loop is blocked. */
function blockable(): { simulated: SimulatedClock; clock: Clock; block: (ms: number) => void } {
  const simulated = new SimulatedClock()
  let blockedMs = 0
  const clock: Clock = {
    now: () => simulated.now() + blockedMs,
    monotonic: () => simulated.monotonic() + blockedMs,
    after: (ms, callback) => simulated.after(ms, callback),
    soon: (callback) => {
      simulated.soon(callback)
    },
  }
  return {
    simulated,
    clock,
    block: (ms) => {
      blockedMs += ms
    },
  }
}

function begin(ledger: Ledger, key: string, startedMs: number): ReturnType<Ledger['begin']> {
  return ledger.begin({
    reconcileId: key,
    controller: 'note',
    key,
    startedMs,
    attempt: 0,
    priority: 0,
    causes: [],
    causesLeftOut: 0,
    rounds: 0,
    signal: new AbortController().signal,
  })
}

test('watchdogTask logs a blocked event loop, its duration, and the reconciles that lasted all that time', async () => {
  const { simulated, clock, block } = blockable()
  const lines: string[] = []
  const stopping = new AbortController()
  const log = createLogger({
    clock,
    sink: ({ message, fields }) => {
      lines.push(`${message.split(':')[0] ?? ''} ${String(fields['ms'])} ${String(fields['reconciles'])}`)
    },
  })
  const ledger = new Ledger()
  const running = watchdogTask({ controllers: () => [], ledger, clock, log }).run(stopping.signal, () => undefined)
  await simulated.advance(5500)
  expect(lines).toEqual([])
  ledger.finish(begin(ledger, 'long ago', clock.now()), { durationMs: 0, result: 'success' })
  const slow = begin(ledger, 'slow', clock.now())
  begin(ledger, 'slower', clock.now())
  block(20_000)
  ledger.finish(slow, { durationMs: 20_000, result: 'success' })
  begin(ledger, 'afterwards', clock.now())
  await simulated.advance(5000)
  expect(lines).toEqual(['event loop was blocked 20000 note slower,note slow'])
  stopping.abort()
  await running
  expect(simulated.pending).toBe(0)
})

test('watchdogTask checks for stuck runs every ten seconds, and logs each of them once', async () => {
  const clock = new SimulatedClock()
  const lines: string[] = []
  const log = createLogger({
    clock,
    sink: ({ message, fields }) => {
      lines.push(`${clock.monotonic()} ${message.split(':')[0] ?? ''} ${String(fields['reconcileId'])}`)
    },
  })
  let stuck = [{ key: 'k', reconcileId: 'r1', runningMs: 600_000 }]
  const controllers = (): never => [{ name: 'note', health: { stuck } }] as never
  const stopping = new AbortController()
  const running = watchdogTask({ controllers, ledger: new Ledger(), clock, log }).run(stopping.signal, () => undefined)
  await clock.advance(9999)
  expect(lines).toEqual([])
  await clock.advance(10_001)
  expect(lines.splice(0)).toEqual(['10000 reconcile does not end r1'])
  stuck = []
  await clock.advance(10_000)
  stuck = [{ key: 'k', reconcileId: 'r1', runningMs: 600_000 }]
  await clock.advance(10_000)
  expect(lines).toEqual(['40000 reconcile does not end r1'])
  stopping.abort()
  await running
})

test('watchdogTask suspects a run that ended a second ago, not one that ended before', async () => {
  const { simulated, clock, block } = blockable()
  const suspects: unknown[] = []
  const log = createLogger({
    clock,
    sink: ({ fields }) => {
      suspects.push(fields['reconciles'])
    },
  })
  const ledger = new Ledger()
  const stopping = new AbortController()
  const running = watchdogTask({ controllers: () => [], ledger, clock, log }).run(stopping.signal, () => undefined)
  // The tick at 1 s comes at 21 s.
  block(20_000)
  for (const [key, endedMs, afterMs] of [
    ['late', 20_000, 0],
    ['early', 19_999, 0],
    ['as long as the block', 19_000, 1000],
    ['shorter', 18_999, 1001],
  ] as const) {
    const record = begin(ledger, key, simulated.now() + afterMs)
    ledger.finish(record, { durationMs: endedMs, result: 'success' })
  }
  await simulated.advance(1000)
  expect(suspects).toEqual([['note as long as the block', 'note late']])
  stopping.abort()
  await running
})

test('watchdogTask names ten of the runs that may have blocked the event loop', async () => {
  const { simulated, clock, block } = blockable()
  const suspects: unknown[] = []
  const log = createLogger({
    clock,
    sink: ({ fields }) => {
      suspects.push(fields['reconciles'])
    },
  })
  const ledger = new Ledger()
  const stopping = new AbortController()
  const running = watchdogTask({ controllers: () => [], ledger, clock, log }).run(stopping.signal, () => undefined)
  for (let index = 0; index < 12; index++) begin(ledger, `k${index}`, clock.now())
  block(20_000)
  await simulated.advance(1000)
  expect(suspects).toEqual([Array.from({ length: 10 }, () => expect.stringMatching(/^note k\d+$/))])
  stopping.abort()
  await running
})
