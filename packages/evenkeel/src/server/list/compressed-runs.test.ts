import { constants, inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Entry } from '#store'
import { CompressedRunCache, type ListRun } from './compressed-list.ts'
import type { CompressedRun } from './gzip.ts'

const entry = (key: string, { revision = 2, text = `{"name":"${key}"}` } = {}): Entry => ({
  key,
  value: Buffer.from(text),
  revision,
  created: 2,
})
const runOf = (...entries: Entry[]): ListRun => ({ entries, start: 0, end: entries.length, skipped: 0, fingerprint: 1 })
const textOf = ({ bytes }: CompressedRun): string =>
  inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString()

test('PackedRuns compresses a run once and remembers it', async () => {
  const packed = new CompressedRunCache()
  const run = runOf(entry('a'), entry('b'))
  expect(packed.find(run)).toBeUndefined()
  const [first, second] = await Promise.all([packed.compress(run), packed.compress(run)])
  expect(textOf(first)).toBe(',{"name":"a"},{"name":"b"}')
  expect(second).toBe(first)
  expect(packed.find(runOf(entry('a'), entry('b')))).toBe(first)
})

test('PackedRuns never takes one run for another, even with the same fingerprint', async () => {
  const packed = new CompressedRunCache()
  await packed.compress(runOf(entry('a'), entry('b')))
  const others = [
    runOf(entry('a'), entry('c')),
    runOf(entry('a'), entry('b', { revision: 3 })),
    runOf(entry('a')),
    { ...runOf(entry('a'), entry('b')), skipped: 3 },
  ]
  expect(others.map((run) => packed.find(run))).toEqual([undefined, undefined, undefined, undefined])
  expect(textOf(await packed.compress(others[0] as ListRun))).toBe(',{"name":"a"},{"name":"c"}')
})

test('PackedRuns forgets first what was not asked for longest, and keeps its bound', async () => {
  const runs = Array.from({ length: 4 }, (_, index) => ({ ...runOf(entry(`k${index}`)), fingerprint: index }))
  const packed = new CompressedRunCache({ bytesMax: 1500 })
  for (const run of runs.slice(0, 3)) await packed.compress(run)
  packed.find(runs[0] as ListRun)
  await packed.compress(runs[3] as ListRun)
  expect(runs.map((run) => packed.find(run) !== undefined)).toEqual([true, false, true, true])
  expect(packed.bytes).toBeLessThanOrEqual(1500)
})

test('PackedRuns remembers nothing when it may not, and refuses nonsense', async () => {
  const packed = new CompressedRunCache({ bytesMax: 0 })
  expect(textOf(await packed.compress(runOf(entry('a'))))).toBe(',{"name":"a"}')
  expect(packed.find(runOf(entry('a')))).toBeUndefined()
  expect(packed.bytes).toBe(0)
  expect(() => new CompressedRunCache({ bytesMax: -1 })).toThrow('bytesMax must be 0 or more, got -1')
})
