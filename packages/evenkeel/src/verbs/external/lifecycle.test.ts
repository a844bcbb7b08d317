import { describe, expect, test } from 'vitest'
import { deleteResource } from './lifecycle.ts'
import type { CreateAttempt } from './record.ts'
import { ShapeSystem } from './session.fixture.ts'
import { syncResource } from './sync.ts'

const attempt: CreateAttempt = { number: 1, key: 'u1-1', time: '2026-01-01T00:00:00Z', outcome: 'Created' }

describe('createResource', () => {
  test('records the id before it labels the resource', async () => {
    const system = new ShapeSystem({
      driver: {
        capabilities: { labels: 'afterCreate' },
        setLabels: () => Promise.reject(new Error('connection reset')),
      },
    })
    await expect(syncResource(system.session())).rejects.toThrow('connection reset')
    expect(system.record).toMatchObject({ id: 's-1', attempt: { key: 'u1-1', outcome: 'Created' } })
  })
})

describe('deleteResource', () => {
  test('is done without a call for an object that was never created outside', async () => {
    const system = new ShapeSystem()
    expect(await deleteResource(system.session())).toBeUndefined()
    expect([system.calls, system.record]).toEqual([[], undefined])
  })

  test.each([
    ['Refused', []],
    ['Created', ['remove']],
  ] as const)('after an attempt that was %s makes the calls %j', async (outcome, expected) => {
    const system = new ShapeSystem({
      strategy: 'S1',
      driver: { capabilities: { ids: 'deterministic' } },
      record: { attempt: { ...attempt, outcome }, observedGeneration: 1 },
    })
    while (await deleteResource(system.session())) await system.clock.advance(1000)
    expect(system.calls.map((call) => call.split(' ')[0]).filter((call) => call !== 'observe')).toEqual(expected)
    expect(system.record).toBeUndefined()
  })
})
