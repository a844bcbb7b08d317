import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { heapOption, startLimitedThread } from './limited-thread.ts'

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-thread-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** A thread that sends the limit of its heap in megabytes. */
const file = join(folder, 'limit.mjs')
writeFileSync(
  file,
  `import { parentPort } from 'node:worker_threads'
   import { getHeapStatistics } from 'node:v8'
   parentPort.postMessage(getHeapStatistics().heap_size_limit / 1048576)`,
)

test('a thread has the memory that it is given', async () => {
  const worker = startLimitedThread(pathToFileURL(file), { megabytes: 64, youngMegabytes: 4, execArgv: [] })
  const limit = await new Promise((resolve) => worker.once('message', resolve))
  expect(limit).toBeLessThan(90)
  await worker.terminate()
})

describe('heapOption', () => {
  test.each([
    [[], undefined],
    [['--max-old-space-size=512'], 512],
    [['--max_old_space_size=300', '--inspect'], 300],
    [['--max-old-space-size', '200'], 200],
    [['--max-old-space-size=1', '--max-old-space-size=2'], 2],
    [['--max-semi-space-size=16'], undefined],
  ] as const)('%j is %s', (args, megabytes) => {
    expect(heapOption(args)).toBe(megabytes)
  })
})

test('Node gives threads the memory of the command line, unless the option is taken back', () => {
  const program = `
    import { Worker } from 'node:worker_threads'
    import { setFlagsFromString } from 'node:v8'
    const limit = () => new Promise((resolve) => {
      const worker = new Worker(${JSON.stringify(file)}, { resourceLimits: { maxOldGenerationSizeMb: 64 } })
      worker.once('message', (megabytes) => { resolve(megabytes > 200); void worker.terminate() })
    })
    const before = await limit()
    setFlagsFromString('--max-old-space-size=0')
    console.log(before, await limit())`
  const main = join(folder, 'main.mjs')
  writeFileSync(main, program)
  const { stdout } = spawnSync(process.execPath, ['--max-old-space-size=300', main], { encoding: 'utf8' })
  expect(stdout.trim()).toBe('true false')
})
