import { describe, expect, test } from 'vitest'
import { HotLoops } from './hot-loops.ts'
import { Ledger } from './ledger.ts'
import type { RunCause } from './run-record.ts'

const key = 'default/test.dev/Widget/a/one'

function begin(
  ledger: Ledger,
  { reconcileId, runKey = key, causes = [], rounds = 0 }: Begun & { readonly runKey?: string },
): void {
  ledger.begin({
    reconcileId,
    controller: 'widget',
    key: runKey,
    startedMs: 0,
    attempt: 0,
    priority: 0,
    causes,
    causesLeftOut: 0,
    rounds,
    signal: new AbortController().signal,
  })
}

interface Begun {
  readonly reconcileId: string
  readonly causes?: readonly RunCause[]
  readonly rounds?: number
}

function causedBy(reconcileId: string): RunCause {
  return { type: 'update', source: 'for Widget', writer: { reconcileId, controller: 'widget', key } }
}

const foreign: RunCause = { type: 'update', source: 'for Widget' }

/** Runs of other keys, each caused by the one before; the first is caused by a run of our key. */
function chain(length: number): Ledger {
  const ledger = new Ledger()
  begin(ledger, { reconcileId: 'own', rounds: 3 })
  for (let index = 0; index < length; index++)
    begin(ledger, {
      reconcileId: `r${index}`,
      runKey: `other-${index}`,
      causes: [causedBy(index === 0 ? 'own' : `r${index - 1}`)],
    })
  return ledger
}

describe('HotLoops.roundsOf', () => {
  const roundsOf = (ledger: Ledger, causes: readonly RunCause[]): number =>
    new HotLoops({ ledger }).roundsOf({ controller: 'widget', key, causes })

  test('counts one more than the run of the same key that caused this one, directly or through other keys', () => {
    expect(roundsOf(chain(0), [causedBy('own')])).toBe(4)
    expect(roundsOf(chain(5), [causedBy('r4')])).toBe(4)
  })

  test('is 0 without a cause, with an external cause, and where an external cause began the chain', () => {
    expect(roundsOf(chain(0), [])).toBe(0)
    expect(roundsOf(chain(0), [causedBy('own'), foreign])).toBe(0)
    const ledger = chain(0)
    begin(ledger, { reconcileId: 'mixed', runKey: 'other', causes: [causedBy('own'), foreign] })
    expect(roundsOf(ledger, [causedBy('mixed')])).toBe(0)
  })

  test('of another controller on the same key does not count', () => {
    const hotLoops = new HotLoops({ ledger: chain(0) })
    expect(hotLoops.roundsOf({ controller: 'gadget', key, causes: [causedBy('own')] })).toBe(0)
  })

  test('looks at no more than 64 runs', () => {
    expect(roundsOf(chain(63), [causedBy('r62')])).toBe(4)
    expect(roundsOf(chain(64), [causedBy('r63')])).toBe(0)
  })
})

describe('HotLoops.detect', () => {
  const changing = [{ ...foreign, changed: ['status.seen'] }]

  test('suspects a key four rounds before the limit, until a round without a cause of its own', () => {
    const hotLoops = new HotLoops({ ledger: new Ledger() })
    expect(hotLoops.detect(key, 5, changing)).toBeUndefined()
    expect([hotLoops.suspectsAny, hotLoops.suspects(key)]).toEqual([false, false])
    expect(hotLoops.detect(key, 6, changing)).toBeUndefined()
    expect([hotLoops.suspectsAny, hotLoops.suspects(key), hotLoops.suspects('other')]).toEqual([true, true, false])
    expect(hotLoops.detect(key, 0, [])).toBeUndefined()
    expect(hotLoops.suspectsAny).toBe(false)
  })

  test('names the fields that changed more than once, and doubles the wait up to the longest', () => {
    const hotLoops = new HotLoops({ ledger: new Ledger(), roundsMax: 2, baseMs: 100, maxMs: 300 })
    hotLoops.detect(key, 1, changing)
    const delays = [2, 3, 4, 5].map((rounds) => hotLoops.detect(key, rounds, changing)?.delayMs)
    expect(delays).toEqual([100, 200, 300, 300])
    expect(hotLoops.detect(key, 6, [{ ...foreign, changed: ['spec.size'] }])?.fields).toEqual(['status.seen'])
  })

  test('forgets the changes of rounds that are more than eight rounds old', () => {
    const hotLoops = new HotLoops({ ledger: new Ledger(), roundsMax: 2 })
    for (let rounds = 1; rounds <= 2; rounds++) hotLoops.detect(key, rounds, changing)
    for (let rounds = 3; rounds <= 8; rounds++) hotLoops.detect(key, rounds, [])
    expect(hotLoops.detect(key, 9, [])?.fields).toEqual([])
  })

  test('keeps 1000 suspects and drops the one that was seen longest ago', () => {
    const hotLoops = new HotLoops({ ledger: new Ledger() })
    for (let index = 0; index < 1000; index++) hotLoops.detect(`k${index}`, 6, [])
    expect(hotLoops.suspects('k0')).toBe(true)
    hotLoops.detect('k0', 6, [])
    hotLoops.detect('k1000', 6, [])
    expect(['k0', 'k1', 'k2', 'k1000'].map((one) => hotLoops.suspects(one))).toEqual([true, false, true, true])
  })
})

describe('HotLoops', () => {
  test.each([
    [{ roundsMax: 1 }, 'roundsMax must be a whole number of 2 or more, got 1'],
    [{ roundsMax: 2.5 }, 'roundsMax must be a whole number of 2 or more, got 2.5'],
    [{ baseMs: 0 }, 'baseMs must be above 0 and maxMs at least that, got 0 and 60000'],
    [{ baseMs: 10, maxMs: 9 }, 'baseMs must be above 0 and maxMs at least that, got 10 and 9'],
    [{ maxMs: Infinity }, 'baseMs must be above 0 and maxMs at least that, got 100 and Infinity'],
  ])('refuses %j', (options, message) => {
    expect(() => new HotLoops({ ledger: new Ledger(), ...options })).toThrow(message)
  })

  test('accepts the least of every option', () => {
    expect(() => new HotLoops({ ledger: new Ledger(), roundsMax: 2, baseMs: 1, maxMs: 1 })).not.toThrow()
  })
})
