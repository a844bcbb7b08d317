import { describe, expect, test } from 'vitest'
import {
  BackendRecordStore,
  hasExternalStatus,
  readAttempt,
  type OwnedRecord,
  type RecordBackend,
  type ResourceRecord,
} from './record.ts'

const owner = { namespace: 'a', name: 'one', uid: 'u1' }

function stored(
  record: ResourceRecord | undefined,
  fromStatus: ResourceRecord = {},
): { store: BackendRecordStore; calls: unknown[] } {
  const calls: unknown[] = []
  const backend: RecordBackend = {
    find: (uid, options) => {
      calls.push(['find', uid, options])
      return Promise.resolve(record && ({ owner, record, isOrphaned: false } satisfies OwnedRecord))
    },
    save: (_, next, options) => {
      calls.push(['save', next, options])
      return Promise.resolve()
    },
    remove: (uid) => {
      calls.push(['remove', uid])
      return Promise.resolve()
    },
    ofKey: () => Promise.resolve([]),
  }
  return { store: new BackendRecordStore(backend, { owner, fromStatus }), calls }
}

const attempt = { number: 1, key: 'k', time: '', outcome: 'Created' } as const

describe('BackendRecordStore', () => {
  test('reads from memory unless a live read is needed, and knows a record that is lost', async () => {
    const { store, calls } = stored({ id: 'x' })
    expect(await store.read()).toEqual({ id: 'x' })
    expect(await store.read({ live: true })).toEqual({ id: 'x' })
    expect(calls).toEqual([
      ['find', 'u1', { live: false }],
      ['find', 'u1', { live: true }],
    ])
    expect(await stored(undefined, { id: 'x' }).store.read()).toEqual({ id: 'x', isLost: true })
    expect(await stored(undefined).store.read()).toEqual({})
  })

  test.each<[string, ResourceRecord, boolean]>([
    ['the same', { id: 'x', attempt, observedGeneration: 1 }, false],
    ['the same, said in full', { id: 'x', attempt, observedGeneration: 1, isDeleting: false }, false],
    ['another id', { id: 'y', attempt, observedGeneration: 1 }, true],
    ['another generation', { id: 'x', attempt, observedGeneration: 2 }, true],
    ['a deletion', { id: 'x', attempt, observedGeneration: 1, isDeleting: true }, true],
    ['another attempt', { id: 'x', attempt: { ...attempt, key: 'l' }, observedGeneration: 1 }, true],
    ['another outcome', { id: 'x', attempt: { ...attempt, outcome: 'Adopted' }, observedGeneration: 1 }, true],
  ])('note of %s: %j is written: %s', async (_, next, isWritten) => {
    const { store, calls } = stored({ id: 'x', attempt, observedGeneration: 1 })
    await store.read()
    await store.note(next)
    await store.note(next)
    expect(calls.slice(1)).toEqual(isWritten ? [['save', next, { force: true }]] : [])
  })

  test('write and forget are known to a later note', async () => {
    const { store, calls } = stored(undefined)
    await store.write({ id: 'x' })
    await store.note({ id: 'x' })
    await store.forget()
    await store.note({ id: 'x' })
    expect(calls).toEqual([
      ['save', { id: 'x' }, undefined],
      ['remove', 'u1'],
      ['save', { id: 'x' }, { force: true }],
    ])
  })
})

test('readAttempt reads foreign data, with 1 as the number of an attempt that has none', () => {
  expect(readAttempt({ ...attempt, number: 3, time: 't' })).toEqual({ ...attempt, number: 3, time: 't' })
  expect(readAttempt({ key: 'k', outcome: 'Pending', number: 'x', time: 5 })).toEqual({
    number: 1,
    key: 'k',
    time: '',
    outcome: 'Pending',
  })
  expect([readAttempt(), readAttempt({ key: 'k', outcome: 'Odd' }), readAttempt({ outcome: 'Created' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('hasExternalStatus needs a status of its own and a place in the schema', () => {
  const schema = { properties: { status: { properties: { external: {} } } } }
  const on = { status: true } as never
  expect(hasExternalStatus({ schema, subresources: on })).toBe(true)
  expect(hasExternalStatus({ schema, subresources: { status: false } as never })).toBe(false)
  expect(hasExternalStatus({ schema: undefined as never, subresources: on })).toBe(false)
  expect(hasExternalStatus({ schema: { properties: { status: { properties: {} } } }, subresources: on })).toBe(false)
  expect(hasExternalStatus({ schema: { properties: {} }, subresources: on })).toBe(false)
})
