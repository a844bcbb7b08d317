import { describe, expect, test } from 'vitest'
import { ShapeSystem } from './session.fixture.ts'
import { ObservationCache } from './session.ts'

describe('ObservationCache', () => {
  test('keeps 100 000 objects and forgets the oldest', () => {
    const cache = new ObservationCache()
    const [first, second] = [cache.of('u0'), cache.of('u1')]
    for (let index = 2; index < 100_000; index++) cache.of(`u${index}`)
    expect(cache.of('u0')).toBe(first)
    cache.of('u100000')
    expect(cache.of('u1')).toBe(second)
    expect(cache.of('u0')).not.toBe(first)
  })

  test('an object may have a resource unless a list has shown that it has none', () => {
    const cache = new ObservationCache()
    expect(cache.mayHave('u1')).toBe(true)
    cache.noteSwept(new Set(['u1']))
    expect([cache.mayHave('u1'), cache.mayHave('u2')]).toEqual([true, false])
    cache.attemptSeen('u2', 'k', 5)
    expect(cache.mayHave('u2')).toBe(true)
    cache.forget('u2')
    expect(cache.mayHave('u2')).toBe(false)
  })

  test('knows when an attempt was seen first; another attempt has its own time', () => {
    const cache = new ObservationCache()
    expect([cache.attemptSeen('u', 'a', 5), cache.attemptSeen('u', 'a', 9)]).toEqual([5, 5])
    expect([cache.attemptSeen('u', 'b', 10), cache.attemptSeen('u', 'b', 11)]).toEqual([10, 10])
  })
})

test('ExternalSession spreads a delay by 10 % in both directions', () => {
  const session = new ShapeSystem().session()
  const delays = Array.from({ length: 1000 }, () => session.jittered(1000))
  expect(delays.filter((delay) => delay < 900 || delay > 1100)).toEqual([])
  expect([delays.some((delay) => delay < 910), delays.some((delay) => delay > 1090)]).toEqual([true, true])
})
