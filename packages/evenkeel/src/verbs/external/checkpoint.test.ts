import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CheckpointBackend, fileCheckpoint } from './record-store.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoint-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const owner = { namespace: 'default', name: 'foo', uid: 'u-1' }
const attempt = { number: 1, key: 'u-1-1', time: '2026-01-01T00:00:00Z', outcome: 'Pending' as const }

test('fileCheckpoint is there after a restart, and what was removed is not', async () => {
  const path = join(folder, 'things')
  const records = new CheckpointBackend(fileCheckpoint(path))
  await records.save(owner, { attempt })
  await records.save({ ...owner, uid: '__proto__' }, { id: 'x', attempt, observedGeneration: 3 })
  const again = new CheckpointBackend(fileCheckpoint(path))
  expect(await again.find('u-1')).toEqual({ owner, record: { attempt }, isOrphaned: false })
  expect((await again.find('__proto__'))?.record).toEqual({ id: 'x', attempt, observedGeneration: 3 })
  expect((await again.ofKey({ name: 'foo', namespace: 'default' })).map(({ owner: { uid } }) => uid)).toEqual([
    '__proto__',
    'u-1',
  ])
  expect(await again.ofKey({ name: 'foo' })).toEqual([])
  await again.remove('u-1')
  await again.remove('nobody')
  expect(await new CheckpointBackend(fileCheckpoint(path)).find('u-1')).toBeUndefined()
})

test('fileCheckpoint: many writes at once leave the last state', async () => {
  const path = join(folder, 'things')
  const records = new CheckpointBackend(fileCheckpoint(path))
  await Promise.all(
    Array.from({ length: 30 }, (_, each) => records.save({ ...owner, uid: `u-${each}` }, { id: String(each) })),
  )
  expect(Object.keys(JSON.parse(await readFile(path, 'utf8')) as object).length).toBe(30)
})

test('fileCheckpoint refuses what it cannot read instead of treating it as empty', async () => {
  const path = join(folder, 'things')
  for (const text of ['[]', '{', 'null']) {
    await writeFile(path, text)
    await expect(fileCheckpoint(path).entries()).rejects.toThrow()
  }
  await writeFile(path, JSON.stringify({ 'u-1': 'torn' }))
  await expect(new CheckpointBackend(fileCheckpoint(path)).find('u-1')).rejects.toThrow(
    'cannot read the checkpoint record of UID u-1',
  )
})
