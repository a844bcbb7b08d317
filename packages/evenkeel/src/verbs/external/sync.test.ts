import { describe, expect, test } from 'vitest'
import { placeOf } from '#base'
import type { CreateAttempt, ResourceRecord } from './record.ts'
import { ShapeSystem } from './session.fixture.ts'
import { syncResource } from './sync.ts'

const attempt: CreateAttempt = { number: 1, key: 'u1-1', time: '2026-01-01T00:00:00Z', outcome: 'Created' }
const synced: ResourceRecord = { id: 's-1', attempt, observedGeneration: 1 }
const [red, blue] = [{ color: 'red' }, { color: 'blue' }]
const poll = { isSynced: false, isReady: false, result: { afterMs: 60_000 } }

describe('syncResource', () => {
  test('makes every call with the connection of the object', async () => {
    const system = new ShapeSystem({ driver: { connect: ({ metadata }) => Promise.resolve(`for ${metadata.uid}`) } })
    expect(await syncResource(system.session())).toMatchObject({ isSynced: true, isReady: true })
    expect([system.calls, [...system.connections]]).toEqual([['create', 'observe s-1'], ['for u1']])
    expect(system.record).toMatchObject({ id: 's-1', attempt: { outcome: 'Created' }, observedGeneration: 1 })
  })

  test('asks a person about a create call without an answer, and records the attempt in the status', async () => {
    const pending: CreateAttempt = { ...attempt, outcome: 'Pending' }
    const system = new ShapeSystem({ strategy: 'S4', driver: { capabilities: {} }, record: { attempt: pending } })
    const session = system.session()
    expect((await syncResource(session)).result).toEqual({ park: expect.stringContaining('a decision') as string })
    const choices =
      'decide with: kubectl annotate --overwrite shape/foo -n a external.evenkeel.dev/resolve=adopt:ID or recreate:u1-1'
    expect(session.conditions.get('Owned')).toEqual({
      isTrue: false,
      reason: 'CreateOutcomeUnknown',
      message: choices,
    })
    expect(session.conditions.get('Synced')?.message).toContain(choices)
    expect(system.status).toEqual({ external: { strategy: 'S4', lastCreateAttempt: pending } })
    expect(system.calls).toEqual([])
  })

  test('does not touch a resource without its labels, and looks again after the poll interval', async () => {
    const system = new ShapeSystem({ record: synced })
    system.resources.set('s-1', { observed: blue })
    const session = system.session()
    expect(await syncResource(session)).toEqual(poll)
    expect(session.conditions.get('Owned')?.reason).toBe('OwnershipLabelsMissing')
    expect(system.calls).toEqual(['observe s-1'])
  })

  test('adopts nothing while paused, and looks again after the poll interval', async () => {
    const annotations = { adopt: 's-9', adoption: 'explicitId' }
    const paused = new ShapeSystem({ annotations: { ...annotations, paused: 'true' } })
    const free = new ShapeSystem({ annotations })
    for (const system of [paused, free]) system.resources.set('s-9', { observed: red })
    expect(await syncResource(paused.session())).toEqual(poll)
    expect(paused.record).toEqual({})
    expect(await syncResource(free.session())).toMatchObject({ isSynced: true })
    expect(free.record).toMatchObject({ id: 's-9', attempt: { outcome: 'Adopted' } })
  })

  test.each([
    [undefined, 1000],
    [5000, 5000],
  ])('waits for what it has created, with a window of %s for %d ms', async (consistencyWindowMs, afterMs) => {
    const capabilities = {
      labels: 'atomicOnCreate',
      ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
    } as const
    const system = new ShapeSystem({ driver: { capabilities, observe: () => Promise.resolve(undefined) } })
    const session = system.session()
    expect(await syncResource(session)).toEqual({ ...poll, result: { afterMs } })
    expect(session.conditions.get('Synced')?.reason).toBe('Settling')
  })

  test('reports duplicates by their ids, and touches none of them', async () => {
    const system = new ShapeSystem({ record: synced })
    for (const id of ['s-1', 's-2']) system.resources.set(id, { observed: blue, labels: system.labels })
    system.environment.observations.of('u1').duplicates = ['s-1', 's-2']
    const session = system.session()
    expect(await syncResource(session)).toEqual(poll)
    expect(session.conditions.get('Synced')).toMatchObject({
      reason: 'Duplicate',
      message: expect.stringMatching(/^2 external resources .*: s-1, s-2; .* to keep s-1$/) as string,
    })
    expect(system.calls).toEqual(['observe s-1', 'observe s-2'])
  })

  test('warns when the strategy has changed, and only then', async () => {
    for (const [strategy, logs] of [
      ['S2', []],
      ['S4', ['ownership strategy changed']],
    ] as const) {
      const system = new ShapeSystem({ record: synced, external: { strategy } })
      system.resources.set('s-1', { observed: red, labels: system.labels })
      await syncResource(system.session())
      expect(system.logs).toEqual(logs)
    }
  })
})

describe('syncResource of a resource that differs', () => {
  const capabilities = { labels: 'atomicOnCreate', consistencyWindowMs: 5000 } as const

  test.each([
    ['revert', true],
    ['report', false],
  ])('waits for the window before it counts, then the policy %s applies', async (drift, isSynced) => {
    const system = new ShapeSystem({ record: synced, driver: { capabilities }, annotations: { drift } })
    system.resources.set('s-1', { observed: blue, labels: system.labels })
    expect(await syncResource(system.session())).toMatchObject({ isSynced: false, result: { afterMs: 5000 } })
    await system.clock.advance(4999)
    expect(await syncResource(system.session())).toMatchObject({ isSynced: false, result: { afterMs: 1 } })
    expect(system.calls).not.toContain('update s-1')
    await system.clock.advance(1)
    expect((await syncResource(system.session())).isSynced).toBe(isSynced)
    expect(system.calls.includes('update s-1')).toBe(isSynced)
  })

  test('is not waited for when nothing differs', async () => {
    const system = new ShapeSystem({ record: synced, driver: { capabilities } })
    system.resources.set('s-1', { observed: red, labels: system.labels })
    expect(await syncResource(system.session())).toMatchObject({ isSynced: true })
  })

  test('records the resource that it has found although it is paused', async () => {
    const system = new ShapeSystem({
      record: { attempt: { ...attempt, outcome: 'Pending' } },
      annotations: { paused: 'true' },
      driver: {
        async *list() {
          yield await Promise.resolve([{ id: 's-1', observed: blue, labels: system.labels }])
        },
      },
    })
    expect(await syncResource(system.session())).toMatchObject({ isSynced: false, result: { afterMs: 60_000 } })
    expect(system.record).toEqual({ id: 's-1', attempt })
    expect(system.calls).toEqual([])
  })

  test('is not in sync until the update shows, and says what is left', async () => {
    const system = new ShapeSystem({ record: synced, driver: { update: () => Promise.resolve() } })
    system.resources.set('s-1', { observed: blue, labels: system.labels })
    const session = system.session()
    expect(await syncResource(session)).toEqual(poll)
    expect(session.conditions.get('Synced')).toMatchObject({ isTrue: false, reason: 'Settling' })
    expect(system.status.external).toMatchObject({ drift: { paths: ['color'], count: 1 } })
  })
})

test.each(['connect', 'create', 'observe'] as const)(
  'F1: a driver that throws in %s has its own line',
  async (operation) => {
    let thrown: unknown
    const fail = (): Promise<never> => {
      thrown = new TypeError('the service has no such field')
      return Promise.reject(thrown as Error)
    }
    const system = new ShapeSystem({
      driver: { [operation]: fail },
      ...(operation === 'observe' && { record: synced }),
    })
    const failure: unknown = await syncResource(system.session()).catch((error: unknown) => error)
    expect([placeOf(failure), (failure as Error).message]).toEqual([placeOf(thrown), 'the service has no such field'])
    expect(placeOf(thrown)).toMatch(/sync\.test\.ts:\d+$/)
  },
)
