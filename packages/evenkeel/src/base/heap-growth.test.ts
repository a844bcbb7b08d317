import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { growingPercent, keepHeapHeadroom, recentPeak, type GrowingHeap } from './heap-growth.ts'
import { SimulatedClock } from './simulated-clock.ts'

const mebibyte = 1_048_576

/** A heap of a given size and limit, and the settings it got. */
function fakeHeap(
  limitBytes: number,
): GrowingHeap & { bytes: number; external: number; collections: number; readonly percents: number[] } {
  const percents: number[] = []
  return {
    bytes: 24 * mebibyte,
    external: 0,
    collections: 0,
    externalBytes() {
      return this.external
    },
    collectYoung() {
      this.collections++
      this.external -= 3 * mebibyte
    },
    percents,
    limitBytes,
    usedBytes() {
      return this.bytes
    },
    setGrowingPercent: (percent) => percents.push(percent),
  }
}

test('keepHeapHeadroom follows a growing heap within a quarter of a second, until it is ended', async () => {
  const [clock, heap] = [new SimulatedClock(), fakeHeap(512 * mebibyte)]
  const end = keepHeapHeadroom(clock, heap)
  expect(heap.percents).toEqual([133])
  heap.bytes = 64 * mebibyte
  await clock.advance(250)
  expect(heap.percents).toEqual([133, 50])
  end()
  await clock.advance(10_000)
  expect(heap.percents).toEqual([133, 50])
})

test('keepHeapHeadroom leaves a heap of 1 GiB to V8', () => {
  const heap = fakeHeap(1024 * mebibyte)
  keepHeapHeadroom(new SimulatedClock(), heap)
  expect(heap.percents).toEqual([])
})

test('keepHeapHeadroom collects the young generation after each 4 MiB of new buffers', async () => {
  const [clock, heap] = [new SimulatedClock(), fakeHeap(512 * mebibyte)]
  const end = keepHeapHeadroom(clock, heap)
  heap.external = 4 * mebibyte
  await clock.advance(1000)
  expect(heap.collections).toBe(0)
  heap.external += mebibyte
  await clock.advance(10)
  expect(heap.collections).toBe(1)
  // What is left counts as old: another 4 MiB have to come. They are seen within ten milliseconds.
  heap.external += 5 * mebibyte
  await clock.advance(10)
  expect(heap.collections).toBe(2)
  end()
  heap.external += 50 * mebibyte
  await clock.advance(10_000)
  expect(heap.collections).toBe(2)
})

test('V8 frees dead buffers when keepHeapHeadroom collects the young generation', async () => {
  const [runner = '', program = ''] = ['../../../../tools/run.mjs', './dead-buffers.fixture.ts'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=512' }
  const { stdout } = await promisify(execFile)(process.execPath, [runner, program], { env })
  const { made, most, isExposed } = JSON.parse(stdout) as { made: number; most: number; isExposed: boolean }
  expect(made).toBe(80e6)
  expect(most).toBeLessThan(24e6)
  expect(isExposed).toBe(false)
})

// An unknown option is an error on stderr and nothing else, so a V8 that renames it would go unnoticed.
test('V8 has the option that keepHeapHeadroom sets', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--v8-options'], { maxBuffer: 16 * mebibyte })
  expect(stdout).toContain('--heap-growing-percent ')
})

test.each([
  [0, 400],
  [24, 133],
  [64, 50],
  [400, 30],
])('keepHeapHeadroom gives %s MiB of memory %s percent', (mebibytes, percent) => {
  expect(growingPercent(mebibytes * mebibyte)).toBe(percent)
})

test('keepHeapHeadroom remembers the size of a burst: half of it after eleven seconds', () => {
  expect(recentPeak(20, 150)).toBe(150)
  let bytes = 150
  for (let step = 0; step < 44; step++) bytes = recentPeak(bytes, 0)
  expect(bytes / 150).toBeCloseTo(0.5, 1)
})
