/**
 * Leases: keys that are deleted together, on expiry or on revocation.
 */
import assert from 'node:assert/strict'
import type { Store, Write } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { bytes, commitAll, entryAt, keysBelow, put, Reader, rejectsRange, rejectsStore, remove } from './shorthand.ts'

const hourMs = 3_600_000

/** Waits until a watch sends the deletion of these keys: in one commit, with their previous entries. */
async function seeEnd(reader: Reader, keys: readonly string[]): Promise<number> {
  const { changes } = await reader.batch()
  assert.deepEqual(changes.map(({ key }) => key).sort(), [...keys].sort())
  assert.equal(new Set(changes.map(({ revision }) => revision)).size, 1)
  assert.ok(changes.every(({ entry, previous }) => entry === undefined && previous !== undefined))
  return changes[0]?.revision ?? 0
}

async function watchFromNow(store: Store): Promise<Reader> {
  return new Reader(store.watch('/', { after: await store.head() }))
}

const ending: readonly StoreCase[] = [
  {
    id: 'store/lease/expires',
    rule: 'When a lease expires all its keys are deleted, in one commit.',
    async run(target) {
      const store = await target.open()
      const lease = await store.grant(target.ttlMs)
      assert.ok(lease.ttlMs >= target.ttlMs)
      const keys = ['/1', '/2', '/3']
      for (const key of keys) await put(store, key, { lease: lease.id })
      await put(store, '/other')
      const reader = await watchFromNow(store)
      await target.advance(lease.ttlMs)
      const revision = await seeEnd(reader, keys)
      assert.deepEqual(await keysBelow(store, '/'), ['/other'])
      assert.deepEqual(await keysBelow(store, '/', { revision: revision - 1 }), ['/1', '/2', '/3', '/other'])
      assert.equal(await store.renew(lease.id), false)
      await rejectsStore(store.commit({ key: '/4', value: bytes('x'), expect: 0, lease: lease.id }), 'NoLease')
      await reader.leave()
    },
  },
  {
    id: 'store/lease/not-a-moment-early',
    rule: 'A lease keeps its keys until it expires.',
    needs: ['time'],
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(5_000)
      await put(store, '/a', { lease: id })
      const reader = await watchFromNow(store)
      await target.advance(4_999)
      const before = await put(store, '/barrier')
      assert.deepEqual(
        (await reader.changes(before)).map(({ key }) => key),
        ['/barrier'],
      )
      await target.advance(1)
      await seeEnd(reader, ['/a'])
      await reader.leave()
    },
  },
  {
    id: 'store/lease/renewed',
    rule: 'Each renewal restarts the full time to live.',
    needs: ['time'],
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(5_000)
      await put(store, '/a', { lease: id })
      const reader = await watchFromNow(store)
      for (let round = 0; round < 5; round++) {
        await target.advance(4_000)
        assert.equal(await store.renew(id), true)
      }
      await target.advance(4_999)
      const before = await put(store, '/barrier')
      assert.deepEqual(
        (await reader.changes(before)).map(({ key }) => key),
        ['/barrier'],
      )
      await target.advance(1)
      await seeEnd(reader, ['/a'])
      await reader.leave()
    },
  },
  {
    id: 'store/lease/each-in-its-own-commit',
    rule: 'Leases expire one by one in the order of their expiry, each in its own commit; one without keys uses no revision.',
    needs: ['time', 'alone'],
    async run(target) {
      const store = await target.open()
      const [late, early, none] = [await store.grant(3_000), await store.grant(1_000), await store.grant(2_000)]
      await put(store, '/late', { lease: late.id })
      await put(store, '/early', { lease: early.id })
      const head = await store.head()
      const reader = await watchFromNow(store)
      await target.advance(10_000)
      const changes = await reader.changes(head + 2)
      assert.deepEqual(
        changes.map(({ key, revision }) => [key, revision]),
        [
          ['/early', head + 1],
          ['/late', head + 2],
        ],
      )
      assert.equal(await store.renew(none.id), false)
      assert.equal(await store.head(), head + 2)
      await reader.leave()
    },
  },
  {
    id: 'store/lease/wall-clock-means-nothing',
    rule: 'A wall clock that jumps back an hour or ahead ten years neither ends nor extends a lease.',
    needs: ['time'],
    async run(target) {
      const store = await target.open()
      for (const jumpMs of [-hourMs, 10 * 365 * 24 * hourMs, -10 * 365 * 24 * hourMs]) {
        const [key, lease] = [`/${jumpMs}`, await store.grant(5_000)]
        await put(store, key, { lease: lease.id })
        const reader = await watchFromNow(store)
        target.jumpWall(jumpMs)
        await store.revoke((await store.grant(1_000)).id)
        await target.advance(4_999)
        const before = await put(store, `/barrier${jumpMs}`)
        assert.deepEqual(
          (await reader.changes(before)).map((change) => change.key),
          [`/barrier${jumpMs}`],
        )
        await target.advance(1)
        await seeEnd(reader, [key])
        await reader.leave()
      }
    },
  },
  {
    id: 'store/lease/revoked',
    rule: 'Revoking ends a lease and deletes its keys immediately; revoking or renewing it again reports that it is gone.',
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(hourMs)
      for (const key of ['/1', '/2']) await put(store, key, { lease: id })
      const reader = await watchFromNow(store)
      assert.equal(await store.revoke(id), true)
      assert.deepEqual(await keysBelow(store, '/'), [])
      await seeEnd(reader, ['/1', '/2'])
      assert.equal(await store.revoke(id), false)
      assert.equal(await store.renew(id), false)
      for (const unknown of ['1', 'no-such-lease', '']) {
        assert.equal(await store.revoke(unknown), false)
        assert.equal(await store.renew(unknown), false)
      }
      await reader.leave()
    },
  },
]

const keys: readonly StoreCase[] = [
  {
    id: 'store/lease/shown',
    rule: 'An entry contains its lease, in reads and in watches, or none.',
    async run(target) {
      const store = await target.open()
      const reader = await watchFromNow(store)
      const { id } = await store.grant(hourMs)
      const first = await put(store, '/a', { lease: id })
      const entry = { key: '/a', value: 'value of /a', revision: first, created: first, lease: id }
      assert.deepEqual(await entryAt(store, '/a'), entry)
      const lost = await store.commit({ key: '/a', value: bytes('x'), expect: 0 })
      assert.equal(lost.ok ? undefined : lost.current?.lease, id)
      const second = await put(store, '/a', { expect: first })
      assert.deepEqual(await entryAt(store, '/a'), {
        key: '/a',
        value: 'value of /a',
        revision: second,
        created: first,
      })
      assert.deepEqual(await entryAt(store, '/a', first), entry)
      assert.deepEqual(
        (await reader.changes(second)).map((change) => [change.previous?.lease, change.entry?.lease]),
        [
          [undefined, id],
          [id, undefined],
        ],
      )
      await reader.leave()
    },
  },
  {
    id: 'store/lease/last-write-decides',
    rule: 'Only the lease of the last write deletes a key: a key moved to another lease or written without one survives the first.',
    async run(target) {
      const store = await target.open()
      const [one, two] = [await store.grant(hourMs), await store.grant(hourMs)]
      const moved = await put(store, '/moved', { lease: one.id })
      const freed = await put(store, '/freed', { lease: one.id })
      const taken = await put(store, '/taken')
      await put(store, '/stays', { lease: one.id })
      await put(store, '/moved', { lease: two.id, expect: moved })
      await put(store, '/freed', { expect: freed })
      await put(store, '/taken', { lease: one.id, expect: taken })
      assert.equal(await store.revoke(one.id), true)
      assert.deepEqual(await keysBelow(store, '/'), ['/freed', '/moved'])
      assert.equal(await store.revoke(two.id), true)
      assert.deepEqual(await keysBelow(store, '/'), ['/freed'])
    },
  },
  {
    id: 'store/lease/deleted-key-is-free',
    rule: 'A deleted key has left its lease: created again, it does not expire with it.',
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(hourMs)
      const revision = await put(store, '/a', { lease: id })
      await remove(store, '/a', revision)
      await put(store, '/a', { value: 'again' })
      assert.equal(await store.revoke(id), true)
      assert.equal((await entryAt(store, '/a'))?.value, 'again')
    },
  },
  {
    id: 'store/lease/rewritten-under-the-same',
    rule: 'A key written again under its lease still expires with it, once.',
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(hourMs)
      const first = await put(store, '/a', { lease: id })
      await put(store, '/a', { lease: id, expect: first })
      const reader = await watchFromNow(store)
      assert.equal(await store.revoke(id), true)
      await seeEnd(reader, ['/a'])
      assert.equal(await entryAt(store, '/a'), undefined)
      await reader.leave()
    },
  },
  {
    id: 'store/lease/unknown',
    rule: 'A commit with an expired or unknown lease fails and writes nothing.',
    async run(target) {
      const store = await target.open()
      const gone = await store.grant(hourMs)
      await store.revoke(gone.id)
      const head = await store.head()
      for (const lease of [gone.id, '123456789', 'nonsense', '']) {
        await rejectsStore(store.commit({ key: '/a', value: bytes('x'), expect: 0, lease }), 'NoLease')
        const writes: Write[] = [
          { key: '/b', value: bytes('x'), expect: 0 },
          { key: '/c', value: bytes('x'), expect: 0, lease },
        ]
        await rejectsStore(store.commitAll(writes), 'NoLease')
      }
      assert.deepEqual(await keysBelow(store, ''), [])
      assert.equal(await store.head(), head)
    },
  },
  {
    id: 'store/lease/batch-under-several',
    rule: 'One commit can attach keys to several leases, and each key expires with its own.',
    async run(target) {
      const store = await target.open()
      const [one, two] = [await store.grant(hourMs), await store.grant(hourMs)]
      await commitAll(store, [
        { key: '/1', value: bytes('1'), expect: 0, lease: one.id },
        { key: '/2', value: bytes('2'), expect: 0, lease: two.id },
        { key: '/none', value: bytes('none'), expect: 0 },
      ])
      await store.revoke(one.id)
      assert.deepEqual(await keysBelow(store, '/'), ['/2', '/none'])
    },
  },
  {
    id: 'store/lease/wrong-time',
    rule: "An invalid time to live, or a delete with a lease, is the caller's mistake.",
    async run(target) {
      const store = await target.open()
      for (const ttlMs of [0, -1, NaN, Infinity, 0.5]) await rejectsRange(store.grant(ttlMs))
      const { id } = await store.grant(hourMs)
      const revision = await put(store, '/a')
      await rejectsRange(store.commit({ key: '/a', expect: revision, lease: id }))
      assert.equal((await entryAt(store, '/a'))?.revision, revision)
    },
  },
]

const restarts: readonly StoreCase[] = [
  {
    id: 'store/lease/survives-a-restart',
    rule: 'The time of a lease stops while the store is closed and continues afterwards.',
    needs: ['reopen', 'time'],
    async run(target) {
      const first = await target.open()
      const { id } = await first.grant(5_000)
      await put(first, '/a', { lease: id })
      await target.advance(3_000)
      await first.close()
      await target.advance(hourMs)
      const store = await target.reopen()
      const reader = await watchFromNow(store)
      assert.equal((await entryAt(store, '/a'))?.lease, id)
      await target.advance(1_999)
      const before = await put(store, '/barrier')
      assert.deepEqual(
        (await reader.changes(before)).map(({ key }) => key),
        ['/barrier'],
      )
      await target.advance(1)
      await seeEnd(reader, ['/a'])
      await reader.leave()
    },
  },
  {
    id: 'store/lease/survives-a-crash',
    rule: 'After a power cut a lease still keeps its keys and still expires.',
    needs: ['crash', 'time'],
    async run(target) {
      const first = await target.open()
      const [kept, revoked] = [await first.grant(5_000), await first.grant(5_000)]
      await put(first, '/a', { lease: kept.id })
      await put(first, '/b', { lease: revoked.id })
      await first.revoke(revoked.id)
      const store = await target.crash()
      const reader = await watchFromNow(store)
      assert.deepEqual(await keysBelow(store, '/'), ['/a'])
      assert.equal(await store.renew(revoked.id), false)
      assert.equal(await store.renew(kept.id), true)
      await target.advance(5_000)
      await seeEnd(reader, ['/a'])
      await reader.leave()
    },
  },
]

export const leaseCases: readonly StoreCase[] = [...ending, ...keys, ...restarts]
