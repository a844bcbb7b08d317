import { expect, test } from 'vitest'
import { isStoreError, type Entry, type Store } from '../store.ts'
import { openOnDisk } from './file-store.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { StillClock } from './still-clock.fixture.ts'

type Files = Map<string, Buffer>

/** The state as text, so that states can be compared and collected. */
function textOf(entries: readonly Entry[]): string {
  return entries
    .map(
      ({ key, value, revision, created }) => `${key}=${Buffer.from(value).toString('latin1')}@${revision}/${created}`,
    )
    .join(' ')
}

async function stateOf(store: Store): Promise<string> {
  const found = await store.range('')
  if (!found.ok) throw new Error('the newest revision can always be read')
  return textOf(found.entries)
}

/** A folder with a snapshot and a log behind it, and every state it ever had. */
async function makeFiles({ closed }: { closed: boolean }): Promise<{ files: Files; states: Set<string> }> {
  const disk = new SimulatedDisk()
  const store = await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  const states = new Set<string>([''])
  const revisions = new Map<string, number>()
  const put = async (key: string, text: string): Promise<void> => {
    const result = await store.commit({ key, value: Buffer.from(text), expect: revisions.get(key) ?? 0 })
    if (!result.ok) throw new Error('lost a race with nobody')
    revisions.set(key, result.revision)
    states.add(await stateOf(store))
  }
  await put('/a', 'one')
  await put('/b', 'two')
  await store.compactLog()
  await put('/a', 'three')
  await put('/c', 'four')
  await store.commit({ key: '/b', expect: revisions.get('/b') ?? 0 })
  states.add(await stateOf(store))
  if (closed) await store.close()
  return { files: disk.contents(), states }
}

/** What comes of opening these files: a state, or a refusal. Anything else throws. */
async function outcome(files: Files): Promise<{ state: string } | { refusal: string }> {
  const before = new Map([...files].map(([name, bytes]) => [name, Buffer.from(bytes)]))
  const disk = new SimulatedDisk({}, files)
  try {
    return { state: await stateOf(await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })) }
  } catch (error) {
    if (!isStoreError(error)) throw error
    expect(disk.contents(), 'a refusal changes nothing').toEqual(before)
    expect(error.message).not.toContain('\n')
    return { refusal: error.reason }
  }
}

/** Every file with one byte changed, in one bit and in all. */
function* flips(files: Files): Generator<{ name: string; at: number; flipped: Buffer }> {
  for (const [name, bytes] of files) {
    for (let change = 0; change < bytes.length * 2; change++) {
      const at = change >> 1
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (change % 2 === 0 ? 0x01 : 0xff)
      yield { name, at, flipped }
    }
  }
}

for (const closed of [true, false]) {
  const how = closed ? 'closed' : 'killed'

  test(`${how} store: any one flipped byte gives a clean prefix or a refusal, never other data`, async () => {
    const { files, states } = await makeFiles({ closed })
    const seen = { right: 0, refused: 0 }
    for (const { name, at, flipped } of flips(files)) {
      const result = await outcome(new Map(files).set(name, flipped))
      if ('state' in result) expect(states, `${name} byte ${at}`).toContain(result.state)
      seen['state' in result ? 'right' : 'refused']++
    }
    expect(seen.right).toBeGreaterThan(0)
    expect(seen.refused).toBeGreaterThan(0)
  })

  test(`${how} store: a file cut at any length gives a clean prefix or a refusal`, async () => {
    const { files, states } = await makeFiles({ closed })
    for (const [name, bytes] of files) {
      for (let length = 0; length < bytes.length; length++) {
        const result = await outcome(new Map(files).set(name, bytes.subarray(0, length)))
        if ('state' in result) expect(states, `${name} cut to ${length}`).toContain(result.state)
        else expect(result.refusal).toBe('Damaged')
      }
    }
  })
}

test('a flipped byte in what was once durable is damage, not a torn tail', async () => {
  const { files } = await makeFiles({ closed: false })
  const [name, bytes] = [...files].find(([file]) => file.startsWith('log')) ?? ['', Buffer.alloc(0)]
  const flipped = Buffer.from(bytes)
  flipped[64 + 40] = 0xee
  expect(await outcome(new Map(files).set(name, flipped))).toEqual({ refusal: 'Damaged' })
})

test('a snapshot with any flipped byte after its header is refused', async () => {
  const { files } = await makeFiles({ closed: true })
  const [name, bytes] = [...files].find(([file]) => file.startsWith('snapshot')) ?? ['', Buffer.alloc(0)]
  for (let at = 64; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 0x10
    expect(await outcome(new Map(files).set(name, flipped)), `byte ${at}`).toEqual({ refusal: 'Damaged' })
  }
})

test('a missing log or snapshot is refused with the name of the file', async () => {
  const { files } = await makeFiles({ closed: true })
  const without = (name: string): SimulatedDisk =>
    new SimulatedDisk({}, new Map([...files].filter(([file]) => file !== name)))
  await expect(openOnDisk(without('snapshot-00000002.ek'))).rejects.toThrow(
    /log-00000001\.ek is damaged: it is missing/,
  )
  await expect(openOnDisk(without('log-00000002.ek'))).rejects.toThrow(/log-00000002\.ek is damaged: it is missing/)
})

test('a truncated log before the last one is refused', async () => {
  const disk = new SimulatedDisk()
  const open = (): ReturnType<typeof openOnDisk> => openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  for (const key of ['/a', '/b', '/c']) {
    const store = await open()
    await store.commit({ key, value: Buffer.from('x'), expect: 0 })
    await store.close()
  }
  const files = disk.contents()
  const middle = files.get('log-00000002.ek') ?? Buffer.alloc(0)
  for (let length = 0; length < middle.length; length++) {
    expect(
      await outcome(new Map(files).set('log-00000002.ek', middle.subarray(0, length))),
      `cut to ${length}`,
    ).toEqual({ refusal: 'Damaged' })
  }
})

test('files of another store are refused', async () => {
  const { files } = await makeFiles({ closed: true })
  const { files: others } = await makeFiles({ closed: true })
  const mixed = new Map(files).set('log-00000002.ek', others.get('log-00000002.ek') ?? Buffer.alloc(0))
  expect(await outcome(mixed)).toEqual({ refusal: 'Damaged' })
})

test('a foreign file, a foreign name and a newer format each say what to do', async () => {
  const { files } = await makeFiles({ closed: true })
  const open = (more: [string, Buffer]): Promise<unknown> =>
    openOnDisk(new SimulatedDisk({}, new Map(files).set(...more)))
  await expect(
    open(['log-00000002.ek', Buffer.from('just some text of somebody, longer than a header of ours would be, really')]),
  ).rejects.toThrow(/was not written by Evenkeel: move it away/)
  await expect(open(['notes.txt', Buffer.from('hello')])).rejects.toThrow(
    /contains notes\.txt, which is not a file of a store: choose an empty folder/,
  )
  const newer = Buffer.from(files.get('log-00000002.ek') ?? Buffer.alloc(0))
  newer.writeUInt16LE(7, 8)
  await expect(open(['log-00000002.ek', newer])).rejects.toThrow(
    /has format 7, but this release reads up to 1: use the release of Evenkeel that wrote it/,
  )
})

test('a log with a corrupt header and a single frame is refused', async () => {
  const disk = new SimulatedDisk()
  await openOnDisk(disk, { clock: new StillClock(), reserveBytes: 0 })
  const files = disk.contents()
  const corrupt = Buffer.from(files.get('log-00000001.ek') ?? [])
  corrupt[20] = (corrupt[20] ?? 0) ^ 0x10
  await expect(openOnDisk(new SimulatedDisk({}, files.set('log-00000001.ek', corrupt)))).rejects.toThrow(
    /log-00000001\.ek is damaged: its header is corrupt/,
  )
})
