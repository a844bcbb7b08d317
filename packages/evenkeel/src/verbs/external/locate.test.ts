import { describe, expect, test } from 'vitest'
import { choicesFor, locate } from './locate.ts'
import type { CreateAttempt } from './record.ts'
import { ShapeSystem } from './session.fixture.ts'

const attempt: CreateAttempt = { number: 1, key: 'u1-1', time: '2026-01-01T00:00:00Z', outcome: 'Created' }
const options = { isCleanup: false }

describe('locate', () => {
  test('knows at once that there is no resource without a record', async () => {
    expect(await locate(new ShapeSystem().session(), {}, options)).toEqual({ state: 'absent' })
  })

  test('looks twice for a resource that is recorded without an attempt', async () => {
    const system = new ShapeSystem()
    expect(await locate(system.session(), { id: 's-1' }, options)).toEqual({ state: 'unsure', afterMs: 1 })
    expect(await locate(system.session(), { id: 's-1' }, options)).toEqual({ state: 'absent' })
  })

  test('calls a resource absent that stays away for the consistency window', async () => {
    const capabilities = { labels: 'atomicOnCreate', consistencyWindowMs: 5000 } as const
    const system = new ShapeSystem({ driver: { capabilities } })
    const record = { id: 's-1', attempt, observedGeneration: 1 }
    const located = (): Promise<unknown> => locate(system.session(), record, options)
    expect(await located()).toEqual({ state: 'unsure', afterMs: 5000 })
    await system.clock.advance(5000)
    expect(await located()).toEqual({ state: 'unsure', afterMs: 5000 })
    await system.clock.advance(4999)
    expect(await located()).toEqual({ state: 'unsure', afterMs: 1 })
    await system.clock.advance(1)
    expect(await located()).toEqual({ state: 'absent' })
  })
})

test('choicesFor names the object as kubectl does, and the attempt if there is one', () => {
  const { object } = new ShapeSystem()
  const global = { ...object, metadata: { name: 'foo' } }
  const prefix = 'decide with: kubectl annotate --overwrite shape/foo'
  expect(choicesFor(object, undefined, options)).toBe(`${prefix} -n a external.evenkeel.dev/resolve=adopt:ID`)
  expect(choicesFor(global, attempt, { isCleanup: true })).toBe(
    `${prefix} external.evenkeel.dev/resolve=adopt:ID or orphan:u1-1`,
  )
})
