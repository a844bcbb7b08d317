import { expect, test } from 'vitest'
import { SeededRandom } from '#base'
import { isStoreError, type CommitResult } from '../store.ts'
import { openOnDisk, type FileStore } from './file-store.ts'
import { diskError, SimulatedDisk, type DiskCall } from './simulated-disk.ts'
import { settle, StillClock } from './still-clock.fixture.ts'

const value = Buffer.alloc(400, 'v')

/** What was acknowledged, and what was answered with an error that leaves the outcome open. */
interface Known {
  readonly acked: Map<string, number>
  readonly unknown: Set<string>
}

async function attempt(known: Known, key: string, commit: () => Promise<CommitResult>): Promise<void> {
  try {
    const result = await commit()
    if (result.ok) known.acked.set(key, result.revision)
  } catch (error) {
    if (!isStoreError(error)) throw error
    expect(error.message).not.toContain('\n')
    if (error.reason !== 'NoSpace') known.unknown.add(key)
  }
}

/** Opens, writes, compacts, writes and closes; every call of the disk may fail. */
async function live(disk: SimulatedDisk, known: Known): Promise<void> {
  let store: FileStore
  try {
    store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 2_000 })
  } catch (error) {
    if (!isStoreError(error)) throw error
    return
  }
  const put = (key: string): Promise<void> => attempt(known, key, () => store.commit({ key, value, expect: 0 }))
  await Promise.all([put('/a'), put('/b')])
  await store.compactLog()
  await Promise.all([put('/c'), put('/d')])
  await store.close().catch((error: unknown) => {
    if (!(error instanceof Error)) throw error
  })
}

/** Everything acknowledged is there; what was refused for lack of room is not. */
async function verify(disk: SimulatedDisk, { acked, unknown }: Known, note: string): Promise<void> {
  const healthy = new SimulatedDisk({}, disk.contents())
  const store = await openOnDisk(healthy, { clock: new StillClock(), reserveBytes: 0 })
  const found = await store.range('')
  if (!found.ok) throw new Error('the newest revision can always be read')
  const keys = new Set(found.entries.map(({ key }) => key))
  for (const key of acked.keys()) expect(keys, `${note}: ${key} was acknowledged`).toContain(key)
  for (const key of keys)
    expect(acked.has(key) || unknown.has(key), `${note}: ${key} was refused and is there`).toBe(true)
  expect(found.revision).toBeGreaterThanOrEqual(Math.max(1, ...acked.values()))
}

for (const code of ['ENOSPC', 'EIO', 'EROFS']) {
  test(`${code} in any disk call, once or permanently, loses no acknowledged commit`, async () => {
    for (const lasting of [false, true]) {
      let failures = 0
      for (let failAt = 0; ; failAt++) {
        let calls = 0
        const known: Known = { acked: new Map(), unknown: new Set() }
        const before = (call: DiskCall): void => {
          const number = calls++
          if (number !== failAt && !(lasting && number > failAt && call.operation !== 'read')) return
          failures++
          throw diskError(code, `${call.operation} ${call.name}`)
        }
        const disk = new SimulatedDisk({ before })
        await live(disk, known)
        if (calls <= failAt) break
        await verify(disk, known, `${code} at call ${failAt}${lasting ? ' and after' : ''}`)
      }
      expect(failures).toBeGreaterThanOrEqual(30)
    }
  })
}

test('a power cut before or after any disk call loses no acknowledged commit', async () => {
  const random = new SeededRandom('power')
  const known: Known = { acked: new Map(), unknown: new Set() }
  const cuts: { note: string; acked: Map<string, number>; files: Map<string, Buffer> }[] = []
  const cut = (when: string, { operation, name }: DiskCall): void => {
    const note = `${when} call ${cuts.length}, ${operation} ${name}`
    for (let round = 0; round < 10; round++) cuts.push({ note, acked: new Map(known.acked), files: disk.cut(random) })
  }
  const disk: SimulatedDisk = new SimulatedDisk({
    before: (call) => {
      cut('before', call)
    },
    after: (call) => {
      cut('after', call)
    },
  })
  await live(disk, known)
  expect([...known.acked.keys()]).toEqual(['/a', '/b', '/c', '/d'])
  const unknown = new Set(known.acked.keys())
  for (const { note, acked, files } of cuts) await verify(new SimulatedDisk({}, files), { acked, unknown }, note)
})

test('a failed sync is final: the write is not acknowledged, later writes are refused, reads still work', async () => {
  let failing = false
  const calls: string[] = []
  const disk = new SimulatedDisk({
    before: ({ operation, name }) => {
      calls.push(operation)
      if (failing && operation === 'sync') throw diskError('EIO', name)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await store.commit({ key: '/a', value, expect: 0 })
  const watch = store.watch('', { after: await store.head() })
  failing = true
  await expect(store.commit({ key: '/b', value, expect: 0 })).rejects.toMatchObject({ reason: 'Failed' })
  failing = false
  calls.length = 0
  await expect(store.commit({ key: '/c', value, expect: 0 })).rejects.toMatchObject({ reason: 'Failed' })
  expect(calls, 'nothing touches the disk again').toEqual([])
  expect(store.failure()).toMatchObject({ state: 'failed' })
  const read = await store.get('/a')
  expect(read.ok && read.entry?.value.length).toBe(400)
  const lost = await store.get('/b')
  expect(lost.ok && lost.entry).toBeUndefined()
  const seen: string[] = []
  for await (const { changes } of watch) seen.push(...changes.map(({ key }) => key))
  expect(seen, 'a watch never shows what may not be durable').toEqual([])
  expect(watch.end).toMatchObject({ reason: 'failed' })
  await store.close()
})

test('a full disk refuses puts and keeps serving reads, deletes and watches; puts work again once there is space', async () => {
  const clock = new StillClock()
  const limits = { bytesMax: 9_000 }
  const disk = new SimulatedDisk(limits)
  const store = await openOnDisk(disk, { clock, reserveBytes: 3_000 })
  await settle()
  const revisions: number[] = []
  const fill = async (): Promise<void> => {
    for (let number = 0; number < 100; number++) {
      const result = await store.commit({ key: `/k/${number}`, value, expect: 0 })
      if (result.ok) revisions.push(result.revision)
    }
  }
  await expect(fill()).rejects.toMatchObject({ reason: 'NoSpace' })
  expect(revisions.length).toBeGreaterThan(5)
  expect(store.failure()).toMatchObject({ state: 'full' })
  await expect(store.commit({ key: '/more', value, expect: 0 })).rejects.toThrow(
    /is full: free some space or delete objects/,
  )

  const watch = store.watch('', { after: await store.head() })
  const deleted = await store.commit({ key: '/k/0', expect: revisions[0] ?? 0 })
  expect(deleted.ok).toBe(true)
  const delivered = await watch[Symbol.asyncIterator]().next()
  expect(delivered.value).toMatchObject({ changes: [{ key: '/k/0' }] })
  const read = await store.range('/k/')
  expect(read.ok && read.entries.length).toBe(revisions.length - 1)

  limits.bytesMax = 1e9
  clock.fire()
  await settle()
  expect(store.failure()).toBeUndefined()
  const again = await store.commit({ key: '/more', value, expect: 0 })
  expect(again.ok).toBe(true)
  watch.close()
  await store.close()
})

test('on a full disk, deletes alone free space: a snapshot gives it back to the disk', async () => {
  const clock = new StillClock()
  const disk = new SimulatedDisk({ bytesMax: 20_000 })
  const store = await openOnDisk(disk, { clock, reserveBytes: 4_000 })
  await settle()
  const revisions: [string, number][] = []
  const fill = async (): Promise<void> => {
    for (let number = 0; ; number++) {
      const result = await store.commit({ key: `/k/${number}`, value, expect: 0 })
      if (result.ok) revisions.push([`/k/${number}`, result.revision])
    }
  }
  await expect(fill()).rejects.toMatchObject({ reason: 'NoSpace' })
  for (const [key, revision] of revisions.slice(0, -3)) await store.commit({ key, expect: revision })
  clock.fire()
  await settle()
  expect(store.failure()).toBeUndefined()
  expect((await store.commit({ key: '/more', value, expect: 0 })).ok).toBe(true)
  expect([...disk.contents().keys()].filter((name) => name.startsWith('snapshot')).length).toBe(1)
  await store.close()
})

test.each([
  [40, 1],
  [60, 0],
])(
  'a full disk with %i of 100 values left has %i snapshots: one is written if it halves the space',
  async (left, count) => {
    const clock = new StillClock()
    const disk = new SimulatedDisk({ bytesMax: 2_000_000 })
    const store = await openOnDisk(disk, { clock, reserveBytes: 1_000_000 })
    await settle()
    const revisions: [string, number][] = []
    const fill = async (): Promise<void> => {
      for (let number = 0; ; number++) {
        const result = await store.commit({ key: `/k/${number}`, value: Buffer.alloc(20_000), expect: 0 })
        if (result.ok) revisions.push([`/k/${number}`, result.revision])
      }
    }
    await expect(fill()).rejects.toMatchObject({ reason: 'NoSpace' })
    const deleted = Math.round(revisions.length * (1 - left / 100))
    for (const [key, revision] of revisions.slice(0, deleted)) await store.commit({ key, expect: revision })
    clock.fire()
    await settle()
    expect([...disk.contents().keys()].filter((name) => name.startsWith('snapshot'))).toHaveLength(count)
    await store.close()
  },
)

test('a commit refused by a full disk never becomes visible, and its key can be written later', async () => {
  const clock = new StillClock()
  const limits = { bytesMax: 2_000 }
  const disk = new SimulatedDisk(limits)
  const store = await openOnDisk(disk, { clock, reserveBytes: 0 })
  await settle()
  const before = disk.contents()
  await expect(store.commit({ key: '/big', value: Buffer.alloc(5_000), expect: 0 })).rejects.toMatchObject({
    reason: 'NoSpace',
  })
  expect(disk.contents(), 'the part that did fit is cut off').toEqual(before)
  limits.bytesMax = 1e9
  clock.fire()
  await settle()
  const result = await store.commit({ key: '/big', value, expect: 0 })
  expect(result.ok).toBe(true)
  await verify(
    disk,
    { acked: new Map([['/big', result.ok ? result.revision : 0]]), unknown: new Set() },
    'after a refusal',
  )
})

test('a commit that waits behind a refused one is refused with it, and is not there after a restart', async () => {
  let second: Promise<unknown> | undefined
  let isFull = false
  const disk: SimulatedDisk = new SimulatedDisk({
    before: ({ operation, name }) => {
      if (!isFull || operation !== 'write' || !name.startsWith('log')) return
      second ??= store.commit({ key: '/second', value, expect: 0 }).catch((error: unknown) => error)
      throw diskError('ENOSPC', name)
    },
  })
  const clock = new StillClock()
  const store: FileStore = await openOnDisk(disk, { clock, reserveBytes: 0 })
  isFull = true
  const first = await store.commit({ key: '/first', value, expect: 0 }).catch((error: unknown) => error)
  expect(first).toMatchObject({ reason: 'NoSpace' })
  expect(await second).toMatchObject({ reason: 'NoSpace' })
  isFull = false
  clock.fire()
  await settle()
  const third = await store.commit({ key: '/third', value, expect: 0 })
  await verify(
    disk,
    { acked: new Map([['/third', third.ok ? third.revision : 0]]), unknown: new Set() },
    'after two refusals',
  )
})

test('compactLog resolves to false when the disk is full, and to true once there is space', async () => {
  const limits = { bytesMax: Infinity }
  const disk = new SimulatedDisk(limits)
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await store.commit({ key: '/a', value, expect: 0 })
  limits.bytesMax = 0
  expect(await store.compactLog()).toBe(false)
  limits.bytesMax = Infinity
  expect(await store.compactLog()).toBe(true)
  await store.close()
})

test('a store on a full disk opens with its reserve, whatever part of the first frame fits', async () => {
  const filled = new SimulatedDisk()
  const store = await openOnDisk(filled, { clock: new StillClock(), reserveBytes: 2_000 })
  await settle()
  await store.commit({ key: '/a', value, expect: 0 })
  await store.close()
  const files = filled.contents()
  const used = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  for (let free = 0; free < 200; free++) {
    const disk = new SimulatedDisk({ bytesMax: used + free }, files)
    const again = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 2_000 })
    expect(await again.get('/a'), `${free} bytes free`).toMatchObject({ ok: true, entry: { key: '/a' } })
  }
})

test('a reserve that does not fit leaves nothing of itself', async () => {
  const disk = new SimulatedDisk({ bytesMax: 1_500 })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 2_000 })
  await settle()
  expect([...disk.contents().keys()]).toEqual(['log-00000001.ek'])
  await store.close()
})

test('a compaction that failed is tried again when the log is half as long again', async () => {
  const attempts: number[] = []
  const disk: SimulatedDisk = new SimulatedDisk({
    before: ({ operation, name }) => {
      if (operation !== 'open' || !name.startsWith('snapshot')) return
      attempts.push([...disk.contents().values()].reduce((sum, { length }) => sum + length, 0))
      throw diskError('ENOSPC', name)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0, logBytesMin: 10_000 })
  for (let number = 0; attempts.length < 2 && number < 200; number++) {
    await store.commit({ key: `/k/${number}`, value, expect: 0 })
    await settle()
  }
  const [first = 0, second = 0] = attempts
  expect(first).toBeGreaterThanOrEqual(10_000)
  expect(second / first).toBeGreaterThan(1.4)
  expect(second / first).toBeLessThan(1.7)
})

test('a log that could not be begun stays removed after a power cut', async () => {
  let writes = 0
  const disk = new SimulatedDisk({
    before: ({ operation, name }) => {
      // The second write is the first frame, after the header of the file.
      if (operation === 'write' && name === 'log-00000002.ek' && ++writes === 2) throw diskError('ENOSPC', name)
    },
  })
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  await store.commit({ key: '/a', value, expect: 0 })
  expect(await store.compactLog()).toBe(false)
  expect(writes).toBe(2)
  const random = new SeededRandom('cuts')
  const left = Array.from({ length: 50 }, () => [...disk.cut(random).keys()].join())
  expect(new Set(left)).toEqual(new Set(['log-00000001.ek']))
})
