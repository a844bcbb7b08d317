import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { growingPercent, keepHeapHeadroom, recentPeak, type GrowingHeap } from './heap-growth.ts'
import { SimulatedClock } from './simulated-clock.ts'

const mebibyte = 1_048_576
const [runner = '', program = ''] = ['../../../../tools/run.mjs', './heap-growth.fixture.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

class FakeHeap implements GrowingHeap {
  bytes = 24 * mebibyte
  buffers = 0
  collections = 0
  readonly percents: number[] = []
  readonly limitBytes: number

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  usedBytes = (): number => this.bytes
  bufferBytes = (): number => this.buffers
  setGrowingPercent = (percent: number): void => {
    this.percents.push(percent)
  }
  collectYoung = (): void => {
    this.collections++
  }
}

test('keepHeapHeadroom follows a growing heap within a quarter of a second, until it is ended', async () => {
  const [clock, heap] = [new SimulatedClock(), new FakeHeap(512 * mebibyte)]
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
  const heap = new FakeHeap(1024 * mebibyte)
  keepHeapHeadroom(new SimulatedClock(), heap)
  expect(heap.percents).toEqual([])
})

test('keepHeapHeadroom collects the young generation when buffers have grown by 32 MiB', async () => {
  const [clock, heap] = [new SimulatedClock(), new FakeHeap(512 * mebibyte)]
  heap.buffers = 40 * mebibyte
  keepHeapHeadroom(clock, heap)
  heap.buffers = 71 * mebibyte
  await clock.advance(250)
  expect(heap.collections).toBe(0)
  heap.buffers = 73 * mebibyte
  await clock.advance(20)
  expect(heap.collections).toBe(1)
})

test('keepHeapHeadroom looks every 20 ms while buffers grow, and counts from what a collection left', async () => {
  const [clock, heap] = [new SimulatedClock(), new FakeHeap(512 * mebibyte)]
  keepHeapHeadroom(clock, heap)
  heap.buffers = 100 * mebibyte
  await clock.advance(250)
  expect(heap.collections).toBe(1)
  // Another thread frees them.
  heap.buffers = 10 * mebibyte
  await clock.advance(20)
  heap.buffers = 41 * mebibyte
  await clock.advance(20)
  expect(heap.collections).toBe(1)
  heap.buffers = 43 * mebibyte
  await clock.advance(20)
  expect(heap.collections).toBe(2)
})

test('keepHeapHeadroom collects in a real process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [runner, program], {
    env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=512' },
  })
  expect(stdout).toBe('collected')
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
