import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { getPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { lowerBackgroundThreads } from './server-process.ts'

test('lowerBackgroundThreads changes the threads of V8 and no other', () => {
  const names = new Map([
    [1, 'node-MainThread'],
    [2, 'DelayedTaskSche'],
    [3, 'node-V8Worker'],
    [4, 'V8Worker'],
    [5, 'libuv-worker'],
  ])
  const changed: [number, number][] = []
  const setPriority = (id: number, priority: number): void => {
    changed.push([id, priority])
  }
  expect(lowerBackgroundThreads({ names: () => names, priority: () => 0, setPriority })).toBe(2)
  expect(changed).toEqual([
    [3, 5],
    [4, 5],
  ])
  expect(lowerBackgroundThreads({ names: () => new Map(), priority: () => 0, setPriority })).toBe(0)
})

const hasNames = existsSync('/proc/self/task') && Number.parseInt(process.versions.node) >= 24

test.runIf(hasNames)('the V8 threads of a server have a lower priority than its main thread', async () => {
  const [runner = '', program = ''] = ['../../../../tools/run.mjs', './server-process.fixture.ts'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  const env = { ...process.env, NODE_OPTIONS: '--v8-pool-size=2' }
  const own = getPriority()
  const { stdout } = await promisify(execFile)(process.execPath, [runner, program], { env })
  expect(JSON.parse(stdout)).toEqual({ MainThread: [own], V8Worker: [own + 5, own + 5] })
})
