import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import type { Store, WatchBatch } from '../store.ts'
import { restoreBackup, saveBackup } from './backup.ts'
import { openFileStore, openOnDisk } from './file-store.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { settle, StillClock } from './still-clock.fixture.ts'

let folder = ''

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'evenkeel-file-'))
})
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})

const bytes = (text: string): Buffer => Buffer.from(text)

async function put(store: Store, [key, text]: readonly [string, string], expected = 0): Promise<number> {
  const result = await store.commit({ key, value: bytes(text), expect: expected })
  if (!result.ok) throw new Error(`${key} is at ${result.current?.revision}, not ${expected}`)
  return result.revision
}

async function textAt(store: Store, key: string, revision?: number): Promise<string | undefined> {
  const result = await store.get(key, { revision })
  if (!result.ok) throw new Error(`${key} cannot be read: ${result.reason}`)
  return result.entry && Buffer.from(result.entry.value).toString()
}

async function countOf(store: Store, prefix = ''): Promise<number> {
  const result = await store.range(prefix)
  return result.ok ? result.entries.length : NaN
}

async function firstBatch(store: Store, after: number): Promise<WatchBatch | undefined> {
  for await (const batch of store.watch('', { after })) return batch
  return undefined
}

test('after a clean shutdown the store continues at the next revision with its history', async () => {
  let store = await openFileStore(path.join(folder, 'data'))
  const first = await put(store, ['/a', 'one'])
  await put(store, ['/a', 'two'], first)
  const hash = await store.hash('')
  await store.close()

  store = await openFileStore(path.join(folder, 'data'))
  expect(await store.head()).toBe(3)
  expect(await store.hash('')).toEqual(hash)
  expect(await textAt(store, '/a', first)).toBe('one')
  expect((await firstBatch(store, 1))?.changes.map(({ revision }) => revision)).toEqual([2, 3])
  expect(await put(store, ['/b', 'three'])).toBe(4)
  await store.commit({ key: '/a', expect: 3 })
  await store.close()

  store = await openFileStore(path.join(folder, 'data'))
  expect([await textAt(store, '/a'), await textAt(store, '/b')]).toEqual([undefined, 'three'])
  await store.close()
})

test('after an unclean shutdown revisions continue above the ceiling and older ones are refused', async () => {
  const disk = new SimulatedDisk()
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  const last = await put(store, ['/a', 'one'])

  const again = await openOnDisk(new SimulatedDisk({}, disk.contents()), { clock: new StillClock(), reserveBytes: 0 })
  const head = await again.head()
  expect(head).toBeGreaterThan(last + 5_000)
  expect(await textAt(again, '/a')).toBe('one')
  expect(await again.get('/a', { revision: last })).toEqual({ ok: false, reason: 'compacted', compacted: head })
  const watch = again.watch('', { after: last })
  expect(await watch[Symbol.asyncIterator]().next()).toMatchObject({
    done: true,
    value: { reason: 'compacted', compacted: head },
  })
  expect(await put(again, ['/b', 'two'])).toBe(head + 1)
})

test('old revisions are still refused after a later clean restart', async () => {
  const disk = new SimulatedDisk()
  const last = await put(await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 }), ['/a', 'one'])
  const crashed = new SimulatedDisk({}, disk.contents())
  const second = await openOnDisk(crashed, { clock: new StillClock(), reserveBytes: 0 })
  const head = await second.head()
  await second.close()
  const third = await openOnDisk(crashed, { clock: new StillClock(), reserveBytes: 0 })
  expect(await third.head()).toBe(head)
  expect(await third.get('/a', { revision: last })).toMatchObject({ reason: 'compacted', compacted: head })
})

test('revisions never decrease over many crashes, with more commits than one ceiling block', async () => {
  let contents = new Map<string, Buffer>()
  let highest = 0
  for (let crash = 0; crash < 4; crash++) {
    const disk = new SimulatedDisk({}, contents)
    const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0, logBytesMin: 100_000 })
    expect(await store.head()).toBeGreaterThan(highest)
    const commits = Array.from({ length: 12_000 }, (_, number) => put(store, [`/${crash}/${number}`, 'x']))
    highest = Math.max(...(await Promise.all(commits)))
    contents = disk.contents()
  }
})

test('compactLog leaves one snapshot and one log, with all entries', async () => {
  const data = path.join(folder, 'data')
  let store = await openFileStore(data)
  for (let number = 0; number < 2_000; number++) await put(store, [`/k/${number % 50}/${number}`, `value ${number}`])
  const gone = await store.get('/k/0/0')
  await store.commit({ key: '/k/0/0', expect: gone.ok ? (gone.entry?.revision ?? 0) : 0 })
  const hash = await store.hash('')
  expect(await store.compactLog()).toBe(true)
  expect(
    fs
      .readdirSync(data)
      .filter((name) => name.endsWith('.ek'))
      .sort(),
  ).toEqual(['log-00000002.ek', 'snapshot-00000002.ek'])
  await put(store, ['/after', 'the snapshot'])
  await store.close()
  store = await openFileStore(data)
  expect(await textAt(store, '/after')).toBe('the snapshot')
  expect(await store.hash('/k/')).toMatchObject({ hash: expect.any(String) as string })
  const after = await store.get('/after')
  await store.commit({ key: '/after', expect: after.ok ? (after.entry?.revision ?? 0) : 0 })
  expect(await store.hash('')).toMatchObject({ hash: hash.ok ? hash.hash : '' })
  await store.close()
})

test('the log is compacted in the background during writes, and no commit is lost', async () => {
  const disk = new SimulatedDisk()
  let store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0, logBytesMin: 20_000 })
  const revisions = new Map<string, number>()
  for (let round = 0; round < 60; round++) {
    await Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        const key = `/k/${writer}`
        revisions.set(key, await put(store, [key, `${round} `.repeat(40)], revisions.get(key)))
      }),
    )
  }
  expect([...disk.contents().keys()].some((name) => name.startsWith('snapshot'))).toBe(true)
  expect([...disk.contents().values()].reduce((sum, { length }) => sum + length, 0)).toBeLessThan(80_000)
  await store.close()
  store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  for (let writer = 0; writer < 10; writer++) expect(await textAt(store, `/k/${writer}`)).toBe('59 '.repeat(40))
})

test('a compaction acknowledged before a restart holds after it', async () => {
  const disk = new SimulatedDisk()
  let store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  const first = await put(store, ['/a', 'one'])
  const second = await put(store, ['/a', 'two'], first)
  await store.compact(second)
  await store.close()
  store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  expect(await store.compacted()).toBe(second)
  expect(await store.get('/a', { revision: first })).toMatchObject({ reason: 'compacted' })
})

test('leases survive a restart with their remaining time, and a crash with their full time', async () => {
  const disk = new SimulatedDisk()
  const clock = new SimulatedClock()
  const opened = openOnDisk(disk, { clock, random: new SeededRandom(1), reserveBytes: 0 })
  await clock.advance(1)
  let store = await opened
  const run = async <T>(work: Promise<T>): Promise<T> => {
    await clock.advance(1)
    return work
  }
  const lease = await run(store.grant(10_000))
  await run(store.commit({ key: '/leased', value: bytes('x'), expect: 0, lease: lease.id }))
  await clock.advance(8_000)
  await run(store.close())
  store = await run(openOnDisk(disk, { clock, reserveBytes: 0 }))
  await clock.advance(1_500)
  expect(await run(countOf(store))).toBe(1)
  await clock.advance(1_000)
  expect(await run(countOf(store))).toBe(0)
})

test('leases survive the compaction of the log: their keys go when they expire', async () => {
  const clock = new SimulatedClock()
  const disk = new SimulatedDisk()
  const run = async <T>(work: Promise<T>): Promise<T> => {
    await clock.advance(1)
    return work
  }
  let store = await run(openOnDisk(disk, { clock, random: new SeededRandom(1), reserveBytes: 0 }))
  const lease = await run(store.grant(10_000))
  await run(store.commit({ key: '/leased', value: bytes('x'), expect: 0, lease: lease.id }))
  expect(await run(store.compactLog())).toBe(true)
  // A crash: a clean shutdown would write the leases again.
  store = await run(openOnDisk(new SimulatedDisk({}, disk.contents()), { clock, reserveBytes: 0 }))
  expect(await run(store.get('/leased'))).toMatchObject({ entry: { lease: lease.id } })
  expect(await run(store.renew(lease.id))).toBe(true)
  await clock.advance(9_000)
  expect(await run(countOf(store))).toBe(1)
  await clock.advance(1_100)
  expect(await run(countOf(store))).toBe(0)
})

test('a store of many megabytes is read back from its log and from its snapshot', async () => {
  const disk = new SimulatedDisk()
  const open = (): ReturnType<typeof openOnDisk> => openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  let store = await open()
  for (let number = 0; number < 40; number++)
    await put(store, [`/k/${number}`, String(number % 10).repeat(300_000 + number)])
  const hash = await store.hash('')
  await store.close()
  store = await open()
  expect(await store.hash('')).toEqual(hash)
  expect(await store.compactLog()).toBe(true)
  await store.close()
  store = await open()
  expect(await store.hash('')).toEqual(hash)
  await store.close()
})

test('a backup taken under load restores into a new folder, with revisions far above those of the backup', async () => {
  let store = await openFileStore(path.join(folder, 'data'))
  for (let number = 0; number < 500; number++) await put(store, [`/k/${number}`, `value ${number}`])
  const [saved] = await Promise.all([
    saveBackup(store, path.join(folder, 'backup.ek')),
    ...Array.from({ length: 50 }, (_, number) => put(store, [`/later/${number}`, 'x'])),
  ])
  const hash = await store.hash('/k/')
  await store.close()
  const restored = await restoreBackup(path.join(folder, 'backup.ek'), path.join(folder, 'restored'))
  expect(restored.revision).toBe(saved.revision + 1_000_000_000)
  store = await openFileStore(path.join(folder, 'restored'))
  expect(await store.head()).toBe(restored.revision)
  expect(await store.hash('/k/')).toMatchObject({ hash: hash.ok ? hash.hash : '' })
  expect(await store.get('/k/1', { revision: 300 })).toMatchObject({ reason: 'compacted' })
  expect(await put(store, ['/new', 'x'])).toBe(restored.revision + 1)
  await store.close()
})

test('backup and restore refuse to overwrite anything, and say what to do', async () => {
  const store = await openFileStore(path.join(folder, 'data'))
  const backup = path.join(folder, 'backup.ek')
  await put(store, ['/a', 'one'])
  await saveBackup(store, backup)
  const before = fs.readFileSync(backup)
  await expect(saveBackup(store, backup)).rejects.toThrow(
    /cannot write backup .*backup\.ek: the file exists; choose another name/,
  )
  expect(fs.readFileSync(backup)).toEqual(before)
  await expect(restoreBackup(backup, path.join(folder, 'data'))).rejects.toThrow(/is in use by another process/)
  await expect(saveBackup(store, path.join(backup, 'below-a-file.ek'))).rejects.toMatchObject({
    reason: 'Unusable',
    message: expect.stringMatching(
      /^cannot write backup .*below-a-file\.ek: ENOTDIR: not a directory/,
    ) as unknown as string,
  })
  await store.close()
  await expect(restoreBackup(backup, path.join(folder, 'data'))).rejects.toThrow(
    /is not empty .*: restore into a new folder/,
  )
  await expect(restoreBackup(path.join(folder, 'nothing.ek'), path.join(folder, 'new'))).rejects.toThrow(
    /cannot restore .*: no such file or folder/,
  )
  fs.writeFileSync(path.join(folder, 'text.ek'), 'this is not a backup')
  await expect(restoreBackup(path.join(folder, 'text.ek'), path.join(folder, 'new'))).rejects.toThrow(
    /was not written by Evenkeel/,
  )
  expect(fs.existsSync(path.join(folder, 'new'))).toBe(false)
})

test('a path to a file, a folder with foreign files and a second open each fail with what to do', async () => {
  fs.writeFileSync(path.join(folder, 'file'), 'hello')
  await expect(openFileStore(path.join(folder, 'file'))).rejects.toThrow(/file is not a folder: choose another path/)
  await expect(openFileStore(folder)).rejects.toThrow(
    /contains file, which is not a file of a store: choose an empty folder/,
  )
  expect(fs.readFileSync(path.join(folder, 'file'), 'utf8')).toBe('hello')
  expect(fs.readdirSync(folder)).toEqual(['file'])
  const store = await openFileStore(path.join(folder, 'data'))
  await expect(openFileStore(path.join(folder, 'data'))).rejects.toThrow(/is in use by another process/)
  await store.close()
})

test('files and folder are accessible to their owner only', async () => {
  const data = path.join(folder, 'data')
  const store = await openFileStore(data)
  await put(store, ['/a', 'secret'])
  await store.compactLog()
  expect(fs.statSync(data).mode & 0o077).toBe(0)
  for (const name of fs.readdirSync(data).filter((file) => file.endsWith('.ek')))
    expect(fs.statSync(path.join(data, name)).mode & 0o077, name).toBe(0)
  await store.close()
})

test('close waits for writes in progress and leaves no socket, file or timer', async () => {
  const data = path.join(folder, 'data')
  const store = await openFileStore(data)
  const writes = Array.from({ length: 20 }, (_, number) => put(store, [`/k/${number}`, 'x']))
  await store.close()
  expect((await Promise.allSettled(writes)).filter(({ status }) => status === 'fulfilled').length).toBe(20)
  expect(fs.readdirSync(data).filter((name) => name.endsWith('.sock') || name.endsWith('.tmp'))).toEqual([])
  await expect(store.get('/k/1')).rejects.toMatchObject({ reason: 'Closed' })
  const again = await openFileStore(data)
  expect(await countOf(again, '/k/')).toBe(20)
  await again.close()
})

test('all commits of a turn share one write and one sync', async () => {
  const calls: string[] = []
  const disk = new SimulatedDisk({
    before: ({ operation }) => {
      calls.push(operation)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await settle()
  calls.length = 0
  await Promise.all(Array.from({ length: 64 }, (_, number) => put(store, [`/k/${number}`, 'x'])))
  expect(calls).toEqual(['write', 'sync'])
})

test('every file that a store opens is closed, also the old log and the snapshot of a compaction', async () => {
  const open = new Set<string>()
  const disk = new SimulatedDisk({
    after: ({ operation, name }) => {
      if (operation === 'open') open.add(name)
      else if (operation === 'close') open.delete(name)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 1_000 })
  await put(store, ['/a', 'one'])
  await store.compactLog()
  await settle()
  expect([...open], 'only the current log').toEqual(['log-00000002.ek'])
  await store.close()
  expect([...open]).toEqual([])
})

test('a snapshot is written in pieces and synced every megabyte, so that commits wait for little', async () => {
  const lengthOf = (): number => disk.contents().get('snapshot-00000002.tmp')?.length ?? 0
  let [length, synced, pieceMax, unsyncedMax] = [0, 0, 0, 0]
  const disk: SimulatedDisk = new SimulatedDisk({
    after: ({ operation, name }) => {
      if (!name.endsWith('.tmp')) return
      if (operation === 'sync') synced = length
      if (operation !== 'write') return
      const before = length
      length = lengthOf()
      pieceMax = Math.max(pieceMax, length - before)
      unsyncedMax = Math.max(unsyncedMax, length - synced)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  for (let number = 0; number < 1_200; number++) await put(store, [`/k/${number}`, 'x'.repeat(5_000)])
  expect(await store.compactLog()).toBe(true)
  expect(length).toBeGreaterThan(6_000_000)
  expect(pieceMax).toBeLessThan(4 * 1024 * 1024)
  expect(unsyncedMax).toBeLessThan(4 * 1024 * 1024)
  await store.close()
})

test('many large commits of one turn are written as several frames, which can all be read', async () => {
  const calls: string[] = []
  const disk = new SimulatedDisk({
    before: ({ operation }) => {
      calls.push(operation)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await settle()
  calls.length = 0
  await Promise.all(Array.from({ length: 40 }, (_, number) => put(store, [`/k/${number}`, 'x'.repeat(300_000)])))
  expect(calls.filter((operation) => operation === 'write').length).toBe(3)
  const again = await openOnDisk(new SimulatedDisk({}, disk.contents()), { clock: new StillClock(), reserveBytes: 0 })
  expect(await countOf(again)).toBe(40)
})

test('the torn end of a log is cut off by the next start', async () => {
  const disk = new SimulatedDisk()
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await put(store, ['/a', 'one'])
  const files = disk.contents()
  const whole = files.get('log-00000001.ek') ?? Buffer.alloc(0)
  const torn = new SimulatedDisk({}, files.set('log-00000001.ek', Buffer.concat([whole, Buffer.alloc(100, 7)])))
  const again = await openOnDisk(torn, { clock: new StillClock(), reserveBytes: 0 })
  expect(await textAt(again, '/a')).toBe('one')
  expect(torn.contents().get('log-00000001.ek')).toEqual(whole)
})

test('the reserve has 4 MiB, is kept over a restart without a timer, and is not made with reserveBytes 0', async () => {
  const disk = new SimulatedDisk()
  const first = await openOnDisk(disk, { clock: new StillClock() })
  await settle()
  await first.close()
  expect(disk.contents().get('reserve')?.length).toBe(4 * 1024 * 1024)
  const clock = new SimulatedClock()
  const opening = openOnDisk(disk, { clock })
  await clock.advance(1)
  const again = await opening
  await settle()
  expect(clock.pending).toBe(0)
  const closing = again.close()
  await clock.advance(1)
  await closing
  const without = new SimulatedDisk()
  await openOnDisk(without, { clock: new StillClock(), reserveBytes: 0 })
  await settle()
  expect([...without.contents().keys()]).toEqual(['log-00000001.ek'])
})

test('a store that was started many times is not read from many logs', async () => {
  const disk = new SimulatedDisk()
  for (let starts = 0; starts < 40; starts++) {
    const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
    await put(store, [`/${starts}`, 'x'])
    await store.close()
  }
  expect([...disk.contents().keys()].filter((name) => name.startsWith('log')).length).toBeLessThanOrEqual(17)
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  expect(await countOf(store)).toBe(40)
})

test('a frame is read wherever its header lies in the pieces in which a log is read', async () => {
  const [piece, fileHeader, frameHeader] = [4 * 1024 * 1024, 64, 32]
  const disk = new SimulatedDisk()
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  const size = (): number => disk.contents().get('log-00000001.ek')?.length ?? 0
  const write = async (key: string, length: number): Promise<number> => {
    const before = size()
    await store.commit({ key, value: new Uint8Array(length), expect: 0 })
    return size() - before - length
  }
  await write('/a', 3 * 1024 * 1024)
  const overhead = await write('/b', 1)
  // The header of the next frame ends with the first piece.
  await write('/c', fileHeader + piece - frameHeader - size() - overhead)
  expect(size() + frameHeader).toBe(fileHeader + piece)
  await write('/d', 1)
  const again = await openOnDisk(new SimulatedDisk({}, disk.contents()), { clock: new StillClock(), reserveBytes: 0 })
  expect(await countOf(again)).toBe(4)
})

test('a crash skips no more than 10000 revisions', async () => {
  const disk = new SimulatedDisk()
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  let revision = 0
  while (revision < 5001) revision = await put(store, [`/${revision}`, 'x'])
  const crashed = await openOnDisk(new SimulatedDisk({}, disk.contents()), { clock: new StillClock(), reserveBytes: 0 })
  expect((await crashed.head()) - revision).toBeLessThanOrEqual(10_000)
})

test('a log that was begun and never written is not a part of the chain', async () => {
  const options = { clock: new StillClock(), reserveBytes: 0 }
  const disk = new SimulatedDisk()
  const first = await openOnDisk(disk, options)
  await put(first, ['/a', 'one'])
  await first.close()
  const [before, whole] = [disk.contents(), new SimulatedDisk({}, disk.contents())]
  await openOnDisk(whole, options)
  const begun = whole.contents().get('log-00000002.ek')?.subarray(0, 64) ?? Buffer.alloc(0)
  const crashed = new SimulatedDisk({}, before.set('log-00000002.ek', begun))
  for (let starts = 0; starts < 3; starts++) {
    const store = await openOnDisk(crashed, options)
    expect(await textAt(store, '/a')).toBe('one')
    await store.close()
  }
})

test('a snapshot leaves the disk to others for as long as its last write took', async () => {
  const pauses: number[] = []
  let nowMs = 0
  class BusyClock extends StillClock {
    override monotonic(): number {
      return nowMs
    }

    override after(delayMs: number, callback: () => void): () => void {
      pauses.push(delayMs)
      this.soon(callback)
      return () => undefined
    }
  }
  const disk = new SimulatedDisk({
    before: ({ operation }) => {
      if (operation === 'write') nowMs++
    },
  })
  const store = await openOnDisk(disk, { clock: new BusyClock(), reserveBytes: 0 })
  await put(store, ['/a', 'one'])
  pauses.length = 0
  expect(await store.compactLog()).toBe(true)
  expect(pauses).toEqual([1])
})
