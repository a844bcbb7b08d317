import { describe, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { LocalStore } from './local-store.ts'
import { ScriptedJournal } from './scripted-journal.fixture.ts'
import { StoreError, type CommitResult, type Watch, type WatchBatch } from './store.ts'
import { Versions } from './versions.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const noSpace = new StoreError('NoSpace', 'the disk is full')
const failed = new StoreError('Failed', 'the disk broke')

interface Fixture {
  readonly clock: SimulatedClock
  readonly journal: ScriptedJournal
  readonly store: LocalStore
}

function setUp(): Fixture {
  const [clock, journal] = [new SimulatedClock(), new ScriptedJournal()]
  return { clock, journal, store: new LocalStore({ clock, journal, random: new SeededRandom(1) }) }
}

/** A promise and whether it is settled yet, which can be asked without waiting for it. */
function observed<T>(promise: Promise<T>): { promise: Promise<T>; isSettled: () => boolean } {
  let isSettled = false
  promise.then(
    () => {
      isSettled = true
    },
    () => {
      isSettled = true
    },
  )
  return { promise, isSettled: () => isSettled }
}

const put = (store: LocalStore, key: string, { at = 0, value = key } = {}): Promise<CommitResult> =>
  store.commit({ key, value: bytes(value), expect: at })

async function keysOf(store: LocalStore): Promise<string[]> {
  const result = await store.range('')
  return result.ok ? result.entries.map(({ key }) => key) : []
}

/** Lets everything run that waits on promises alone. */
const settle = (clock: SimulatedClock): Promise<void> => clock.advance(0)

async function nextOf(watch: Watch): Promise<WatchBatch | undefined> {
  const { done, value } = await watch[Symbol.asyncIterator]().next()
  return done ? undefined : value
}

describe('a commit that is not durable yet', () => {
  test('is not answered, not visible and not sent to watches', async () => {
    const { clock, journal, store } = setUp()
    const watch = store.watch('/', { after: 1 })
    const [delivered, made] = [observed(nextOf(watch)), observed(put(store, '/a'))]
    await settle(clock)
    expect([made.isSettled(), delivered.isSettled(), await keysOf(store), await store.head()]).toEqual([
      false,
      false,
      [],
      1,
    ])
    expect(await store.get('/a', { revision: 2 })).toEqual({ ok: false, reason: 'ahead', revision: 1 })
    expect(await store.compact(2)).toEqual({ ok: false, reason: 'ahead', revision: 1 })
    journal.durable()
    expect([
      await made.promise,
      (await delivered.promise)?.changes[0]?.key,
      await keysOf(store),
      await store.head(),
    ]).toEqual([{ ok: true, revision: 2 }, '/a', ['/a'], 2])
  })

  test('is visible before its writer is answered', async () => {
    const { journal, store } = setUp()
    const seen = put(store, '/a').then(() => store.get('/a'))
    journal.durable()
    expect(await seen).toMatchObject({ ok: true, entry: { key: '/a', revision: 2 } })
  })

  test('is answered in the order of revisions, some at a time', async () => {
    const { clock, journal, store } = setUp()
    const answers: number[] = []
    for (const key of ['/a', '/b', '/c'])
      void put(store, key).then((result) => {
        if (result.ok) answers.push(result.revision)
      })
    await settle(clock)
    journal.durable(2)
    await settle(clock)
    expect([answers, await keysOf(store), await store.head()]).toEqual([[2, 3], ['/a', '/b'], 3])
    journal.durable(1)
    await settle(clock)
    expect([answers, await keysOf(store)]).toEqual([
      [2, 3, 4],
      ['/a', '/b', '/c'],
    ])
  })

  test('decides races: the next writer must expect it', async () => {
    const { journal, store } = setUp()
    const first = put(store, '/a')
    const second = put(store, '/a', { at: 2, value: 'second' })
    expect(journal.records).toHaveLength(2)
    journal.durable()
    expect([await first, await second]).toEqual([
      { ok: true, revision: 2 },
      { ok: true, revision: 3 },
    ])
  })
})

describe('a race against a commit that is not durable yet', () => {
  test('is lost only once that commit is durable', async () => {
    const { clock, journal, store } = setUp()
    void put(store, '/a', { value: 'winner' })
    const loser = observed(put(store, '/a', { value: 'loser' }))
    await settle(clock)
    expect([loser.isSettled(), journal.records.length]).toEqual([false, 1])
    journal.durable()
    expect(await loser.promise).toMatchObject({
      ok: false,
      key: '/a',
      current: { revision: 2, value: bytes('winner') },
    })
  })

  test('succeeds if that commit is refused', async () => {
    const { clock, journal, store } = setUp()
    const winner = put(store, '/a', { value: 'winner' })
    const second = observed(put(store, '/a', { value: 'second' }))
    await settle(clock)
    journal.refuse(noSpace)
    await expect(winner).rejects.toBe(noSpace)
    await settle(clock)
    expect([second.isSettled(), journal.waiting]).toEqual([false, 1])
    journal.durable()
    expect(await second.promise).toEqual({ ok: true, revision: 3 })
    expect(await store.get('/a')).toMatchObject({ entry: { value: bytes('second'), revision: 3, created: 3 } })
  })

  test('fails if that commit fails', async () => {
    const { clock, journal, store } = setUp()
    const winner = put(store, '/a')
    const loser = put(store, '/a')
    await settle(clock)
    journal.fail(failed)
    await expect(winner).rejects.toBe(failed)
    await expect(loser).rejects.toBe(failed)
  })

  test('over a check, or over a deletion that is pending, waits as well', async () => {
    const { clock, journal, store } = setUp()
    const first = put(store, '/a')
    journal.durable()
    await first
    void store.commit({ key: '/a', expect: 2 })
    const checked = observed(
      store.commit({ key: '/b', value: bytes('b'), expect: 0 }, { checks: [{ key: '/a', expect: 2 }] }),
    )
    const created = observed(put(store, '/a', { at: 2 }))
    await settle(clock)
    expect([checked.isSettled(), created.isSettled()]).toEqual([false, false])
    journal.durable()
    expect([await checked.promise, await created.promise]).toEqual([
      { ok: false, key: '/a', current: undefined },
      { ok: false, key: '/a', current: undefined },
    ])
  })
})

describe('commits that are refused', () => {
  test('leave everything as it was, also several on one key', async () => {
    const { journal, store } = setUp()
    const before = put(store, '/kept', { value: 'kept' })
    journal.durable()
    await before
    const refused = [
      put(store, '/kept', { at: 2, value: 'changed' }),
      put(store, '/kept', { at: 3, value: 'again' }),
      store.commit({ key: '/kept', expect: 4 }),
      put(store, '/new'),
      store.commitAll([
        { key: '/x', value: bytes('x'), expect: 0 },
        { key: '/y', value: bytes('y'), expect: 0 },
      ]),
    ]
    journal.refuse(noSpace)
    for (const result of await Promise.allSettled(refused))
      expect(result).toEqual({ status: 'rejected', reason: noSpace })
    expect(await keysOf(store)).toEqual(['/kept'])
    expect(await store.get('/kept')).toMatchObject({ entry: { value: bytes('kept'), revision: 2 } })
    const after = put(store, '/kept', { at: 2, value: 'after' })
    journal.durable()
    const result = await after
    expect(result).toMatchObject({ ok: true })
    expect(result.ok && result.revision).toBeGreaterThan(6)
  })

  test('were never sent to a watch, and revisions are not reused', async () => {
    const { journal, store } = setUp()
    const watch = store.watch('/', { after: 1 })
    const refused = put(store, '/refused')
    journal.refuse(noSpace)
    await expect(refused).rejects.toBe(noSpace)
    const made = put(store, '/made')
    journal.durable()
    expect(await made).toEqual({ ok: true, revision: 3 })
    expect((await nextOf(watch))?.changes.map(({ key, revision }) => [key, revision])).toEqual([['/made', 3]])
  })

  test('are refused before they are tried while the journal knows, deletes excepted', async () => {
    const { journal, store } = setUp()
    const made = put(store, '/a')
    journal.durable()
    await made
    journal.full = noSpace
    await expect(put(store, '/b')).rejects.toBe(noSpace)
    await expect(store.grant(1_000)).rejects.toBe(noSpace)
    const removed = store.commit({ key: '/a', expect: 2 })
    expect(journal.waiting).toBe(1)
    journal.durable()
    expect(await removed).toEqual({ ok: true, revision: 3 })
  })
})

describe('a journal that failed', () => {
  test('keeps commits with an unknown outcome invisible, ends watches and refuses writes', async () => {
    const { journal, store } = setUp()
    const made = put(store, '/a')
    journal.durable()
    await made
    const watch = store.watch('/', { after: 2 })
    const lost = put(store, '/lost')
    journal.fail(failed)
    await expect(lost).rejects.toBe(failed)
    await expect(put(store, '/b')).rejects.toBe(failed)
    await expect(store.commit({ key: '/a', expect: 2 })).rejects.toBe(failed)
    expect([await keysOf(store), await store.head(), store.failure()?.state]).toEqual([['/a'], 2, 'failed'])
    expect([await nextOf(watch), watch.end]).toEqual([undefined, { reason: 'failed', cause: failed }])
  })
})

describe('leases and the journal', () => {
  test('a lease counts once it is durable', async () => {
    const { clock, journal, store } = setUp()
    const granted = observed(store.grant(1_000))
    await settle(clock)
    expect([granted.isSettled(), clock.pending]).toEqual([false, 0])
    journal.durable()
    await granted.promise
    expect([clock.pending, clock.nextInMs]).toEqual([1, 1_000])
  })

  test('a refused end of a lease is retried, with its keys', async () => {
    const { clock, journal, store } = setUp()
    const granting = store.grant(1_000)
    journal.durable()
    const { id } = await granting
    const making = store.commit({ key: '/a', value: bytes('a'), expect: 0, lease: id })
    journal.durable()
    await making
    await clock.advance(1_000)
    expect(journal.records.at(-1)).toMatchObject({ type: 'revoke', lease: id })
    journal.refuse(noSpace)
    await settle(clock)
    expect(await keysOf(store)).toEqual(['/a'])
    await clock.advance(1_000)
    journal.durable()
    expect(await keysOf(store)).toEqual([])
  })

  test('a key whose lease ended during the write is deleted at once', async () => {
    const { clock, journal, store } = setUp()
    const granting = store.grant(1_000)
    journal.durable()
    const { id } = await granting
    const made = store.commit({ key: '/a', value: bytes('a'), expect: 0, lease: id })
    await clock.advance(1_000)
    expect(journal.records.map(({ type }) => type)).toEqual(['grant', 'commit', 'revoke'])
    journal.durable()
    expect(await made).toMatchObject({ ok: true })
    await settle(clock)
    journal.durable()
    expect(await keysOf(store)).toEqual([])
  })

  test('an end that finds the key rewritten leaves it alone', async () => {
    const { clock, journal, store } = setUp()
    const granting = store.grant(1_000)
    journal.durable()
    const { id } = await granting
    const first = store.commit({ key: '/a', value: bytes('a'), expect: 0, lease: id })
    journal.durable()
    await first
    const freed = put(store, '/a', { at: 2, value: 'free' })
    await clock.advance(1_000)
    journal.durable()
    await freed
    await settle(clock)
    expect([journal.waiting, await keysOf(store)]).toEqual([0, ['/a']])
  })
})

describe('LocalStore', () => {
  test('scans many keys in steps, sees one revision, and is refused when compaction overtakes it', async () => {
    const { clock, journal, store } = setUp()
    for (let start = 0; start < 20_000; start += 100) {
      const made = store.commitAll(
        Array.from({ length: 100 }, (_, index) => ({
          key: `/${String(start + index).padStart(6, '0')}`,
          value: bytes('x'),
          expect: 0,
        })),
      )
      journal.durable()
      await made
    }
    const [ranging, hashing] = [observed(store.range('')), observed(store.hash(''))]
    const changed = put(store, '/000000', { at: 2, value: 'changed' })
    journal.durable()
    await changed
    expect([ranging.isSettled(), hashing.isSettled()]).toEqual([false, false])
    await clock.advance(0)
    await settle(clock)
    const ranged = await ranging.promise
    expect(ranged.ok && [ranged.entries.length, ranged.entries[0]?.value, ranged.revision]).toEqual([
      20_000,
      bytes('x'),
      201,
    ])
    expect(await hashing.promise).toMatchObject({ ok: true, revision: 201 })
    const overtaken = store.range('', { revision: 201 })
    const compacting = store.compact(202)
    journal.durable()
    await clock.advance(0)
    expect(await overtaken).toEqual({ ok: false, reason: 'compacted', compacted: 202 })
    await clock.advance(0)
    expect(await compacting).toEqual({ ok: true })
  })

  test('gives up a long scan when its signal aborts', async () => {
    const { clock, journal, store } = setUp()
    for (let start = 0; start < 9_000; start += 100) {
      const made = store.commitAll(
        Array.from({ length: 100 }, (_, index) => ({ key: `/${start + index}`, value: bytes('x'), expect: 0 })),
      )
      journal.durable()
      await made
    }
    const controller = new AbortController()
    const ranging = store.range('', { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    const outcome = expect(ranging).rejects.toBe(reason)
    await clock.advance(0)
    await outcome
  })

  test('leaves no timer behind after close', async () => {
    const { clock, journal, store } = setUp()
    const granting = store.grant(60_000)
    journal.durable()
    await granting
    store.watch('/', { after: 1 })
    await store.close()
    expect(clock.pending).toBe(0)
  })

  test('resumes what a journal recovered: contents, revisions, leases and their keys', async () => {
    const [clock, journal, versions] = [new SimulatedClock(), new ScriptedJournal(), new Versions()]
    versions.publish(
      [
        versions.apply({ key: '/held', value: bytes('x'), lease: '7' }, 2),
        versions.apply({ key: '/free', value: bytes('x') }, 2),
      ],
      2,
    )
    const store = new LocalStore({
      clock,
      journal,
      versions,
      lastRevision: 50,
      leases: [
        { id: '7', ttlMs: 1_000, leftMs: 600 },
        { id: '8', ttlMs: 1_000, leftMs: 900 },
      ],
    })
    expect([await keysOf(store), await store.head(), clock.nextInMs]).toEqual([['/free', '/held'], 2, 600])
    const made = put(store, '/new')
    journal.durable()
    expect(await made).toEqual({ ok: true, revision: 51 })
    await clock.advance(599)
    expect([store.leases(), journal.waiting]).toEqual([
      [
        { id: '7', ttlMs: 1_000, leftMs: 1 },
        { id: '8', ttlMs: 1_000, leftMs: 301 },
      ],
      0,
    ])
    await clock.advance(1)
    expect(journal.records.at(-1)).toMatchObject({
      type: 'revoke',
      lease: '7',
      revision: 52,
      versions: [{ key: '/held' }],
    })
    journal.durable()
    expect([await keysOf(store), await store.renew('8')]).toEqual([['/free', '/new'], true])
  })
})
