import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import type { Widget } from './fake-server.fixture.ts'
import { Item } from './items.ts'
import {
  isConfirmedBy,
  isConfirmedByList,
  OwnWrites,
  PendingWriteCheck,
  VersionWaiters,
  type PendingWrite,
} from './own-writes.ts'
import { Store } from './store.ts'

const own = { namespace: 'a', name: 'one' }

test('OwnWrites explains a chain of our writes, and nothing that another writer has a part in', () => {
  const writes = new OwnWrites()
  writes.note({ ...own, from: '', to: '5' })
  writes.note({ ...own, from: '5', to: '8' })
  writes.note({ ...own, from: '8', to: '9' })
  expect(writes.explains({ ...own, from: '5', to: '9' })).toBe(true)
  expect(writes.explains({ ...own, from: '', to: '9' })).toBe(true)
  expect(writes.explains({ ...own, from: '4', to: '9' })).toBe(false)
  expect(writes.explains({ ...own, from: '5', to: '10' })).toBe(false)
  expect(writes.explains({ ...own, name: 'two', from: '5', to: '9' })).toBe(false)
})

test('OwnWrites ignores a write that changed nothing', () => {
  const writes = new OwnWrites()
  writes.note({ ...own, from: '5', to: '5' })
  writes.note({ ...own, from: '5', to: '' })
  expect(writes.explains({ ...own, from: '5', to: '5' })).toBe(false)
  expect(writes.explains({ ...own, from: '5', to: '' })).toBe(false)
})

test('OwnWrites remembers the latest 4096 writes and forgets the oldest first', () => {
  const writes = new OwnWrites()
  for (let version = 1; version <= 4097; version++)
    writes.note({ ...own, from: String(version - 1), to: String(version) })
  expect(writes.explains({ ...own, from: '0', to: '1' })).toBe(false)
  expect(writes.explains({ ...own, from: '1', to: '2' })).toBe(true)
  expect(writes.explains({ ...own, from: '1', to: '4097' })).toBe(true)
})

const ofVersion = (version: string, uid = 'uid-1'): Item<Widget> =>
  Item.ofObject({
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    metadata: { ...own, uid, resourceVersion: version },
  })
const write: PendingWrite<Widget> = { ...own, item: ofVersion('8'), version: '8', uid: 'uid-1', observed: undefined }
const deletion: PendingWrite<Widget> = { ...write, item: undefined }

test('isConfirmedBy: a delete is confirmed by the deletion of the same object, or of any if it is not known which', () => {
  expect(isConfirmedBy(deletion, { type: 'DELETED', item: ofVersion('9') })).toBe(true)
  expect(isConfirmedBy(deletion, { type: 'DELETED', item: ofVersion('9', 'uid-2') })).toBe(false)
  expect(isConfirmedBy({ ...deletion, uid: '' }, { type: 'DELETED', item: ofVersion('9', 'uid-2') })).toBe(true)
  expect(isConfirmedBy(deletion, { type: 'MODIFIED', item: ofVersion('9') })).toBe(false)
})

test('isConfirmedByList: a list of our version or a later one confirms a write, and a delete if the object is not in it', () => {
  expect(isConfirmedByList(write, '7', undefined)).toBe(false)
  expect(isConfirmedByList(write, '8', ofVersion('8'))).toBe(true)
  expect(isConfirmedByList(deletion, '8', undefined)).toBe(true)
  expect(isConfirmedByList(deletion, '9', ofVersion('9'))).toBe(false)
  expect(isConfirmedByList(deletion, '9', ofVersion('9', 'uid-2'))).toBe(true)
})

test('VersionWaiters end a wait for a version that cannot be compared by a list, not by an event', async () => {
  const waiters = new VersionWaiters()
  let isOver = false
  const waiting = waiters.wait('abc').then(() => {
    isOver = true
  })
  waiters.reach('5')
  await Promise.resolve()
  expect([isOver, waiters.waiting]).toEqual([false, 1])
  waiters.reach('6', { isList: true })
  await waiting
  expect(waiters.waiting).toBe(0)
})

test('VersionWaiters forget a wait whose signal aborts', async () => {
  const waiters = new VersionWaiters()
  const stop = new AbortController()
  const waiting = waiters.wait('9', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(waiters.waiting).toBe(0)
})

test('PendingWriteCheck aborts its question to the server when it is stopped, also after another write', async () => {
  const clock = new SimulatedClock()
  const store = new Store<Widget>({ onIndexError: () => undefined })
  const signals: AbortSignal[] = []
  const check = new PendingWriteCheck<Widget>({
    store,
    find: (_, { signal }) => {
      if (signal) signals.push(signal)
      return new Promise(() => undefined)
    },
    shape: (item) => item,
    clock,
    checkMs: 1_000,
  })
  expect(store.note(write)).toBe(true)
  check.expect()
  await clock.advance(1_000)
  check.expect()
  check.stop()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})
