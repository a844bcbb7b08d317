/** Log files that grow, begin again, and end without a line break. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SystemClock } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LogTail } from './log-tail.ts'

let folder: string
let lines: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-tail-'))
  lines = []
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function tailOf(name: string, fromEnd = false): LogTail {
  const tail = new LogTail({
    path: join(folder, name),
    clock: new SystemClock(),
    fromEnd,
    onLine: (line) => lines.push(line),
  })
  tail.start()
  return tail
}

test('LogTail passes on every line once, also of a file that comes later, and what has no end', async () => {
  const tail = tailOf('a')
  await writeFile(join(folder, 'a'), 'one\r\ntw')
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(['one'])
  await appendFile(join(folder, 'a'), 'o\n€')
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(['one', 'two'])
  await tail.stop()
  expect(lines).toEqual(['one', 'two', '€'])
})

test('LogTail begins again with a file that became shorter', async () => {
  await writeFile(join(folder, 'a'), 'a long line\n')
  const tail = tailOf('a')
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(['a long line'])
  await writeFile(join(folder, 'a'), 'new\n')
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual(['a long line', 'new'])
  await tail.stop()
})

test('LogTail leaves out what a process of an earlier run has written', async () => {
  await writeFile(join(folder, 'a'), 'old\n')
  const tail = tailOf('a', true)
  await tail.stop()
  const second = tailOf('a')
  await second.stop()
  expect(lines).toEqual(['old'])
})

test('LogTail reads what was written while it was reading, however often it ends', async () => {
  const expected = Array.from({ length: 200 }, (_, index) => `line ${index}`)
  for (const [index, line] of expected.entries()) {
    const tail = tailOf(`f${index}`)
    const written = writeFile(join(folder, `f${index}`), `${line}\n`)
    // The first look finds no file, or an empty one.
    await written
    await tail.stop()
  }
  expect(lines).toEqual(expected)
})

test('LogTail rests while the system watches its file, and looks once a second at one that does not exist', async () => {
  const delays: number[] = []
  const clock = Object.assign(new SystemClock(), {
    after: (delayMs: number) => {
      delays.push(delayMs)
      return () => undefined
    },
  })
  await writeFile(join(folder, 'a'), '')
  for (const name of ['a', 'missing']) {
    const tail = new LogTail({ path: join(folder, name), clock, onLine: () => undefined })
    tail.start()
    await tail.stop()
  }
  expect(delays).toEqual([30_000, 1000])
})
