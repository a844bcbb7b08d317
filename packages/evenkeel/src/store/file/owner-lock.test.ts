import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SeededRandom, SystemClock } from '#base'
import { isStoreError } from '../store.ts'
import { lockFolder, openFolder } from './owner-lock.ts'

const clock = new SystemClock()
let folder = ''

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'evenkeel-lock-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  fs.rmSync(folder, { recursive: true, force: true })
})

const lock = (seed: string, where = folder): ReturnType<typeof lockFolder> =>
  lockFolder(where, { clock, random: new SeededRandom(seed) })

/** Listens on a socket in the folder as an owner would, then is killed: what a crash leaves behind. */
async function leaveDeadOwner(name: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path.join(folder, name))}, () => process.stdout.write('up'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => {
    child.stdout.once('data', resolve)
  })
  child.kill('SIGKILL')
  await new Promise((resolve) => {
    child.once('close', resolve)
  })
}

test('lockFolder refuses a second owner and lets the next in after release', async () => {
  const first = await lock('1')
  await expect(lock('2')).rejects.toThrow(/is in use by another process: stop that process or choose another folder/)
  await first.release()
  const second = await lock('3')
  await second.release()
  expect(fs.readdirSync(folder)).toEqual([])
})

test('lockFolder takes over from a killed owner at once and removes its socket', async () => {
  await leaveDeadOwner('owner.7.sock')
  expect(fs.readdirSync(folder)).toEqual(['owner.7.sock'])
  const taken = await lock('1')
  expect(fs.readdirSync(folder)).toEqual(['owner.8.sock'])
  await expect(lock('2')).rejects.toMatchObject({ reason: 'Locked' })
  await taken.release()
})

test('of many concurrent attempts at most one gets the folder', async () => {
  for (let round = 0; round < 40; round++) {
    if (round % 4 === 0) await leaveDeadOwner(`owner.${100 + round}.sock`)
    const tries = await Promise.allSettled(Array.from({ length: 6 }, (_, number) => lock(`${round}/${number}`)))
    const owners = tries.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    for (const result of tries)
      if (result.status === 'rejected') expect(isStoreError(result.reason, 'Locked')).toBe(true)
    expect(owners.length, `round ${round}`).toBe(1)
    for (const owner of owners) await owner.release()
  }
})

test('lockFolder works in a folder whose path exceeds the limit of socket paths', async () => {
  const deep = path.join(folder, 'a'.repeat(90), 'b'.repeat(90))
  fs.mkdirSync(deep, { recursive: true })
  const taken = await lock('1', deep)
  await expect(lock('2', deep)).rejects.toMatchObject({ reason: 'Locked' })
  await taken.release()
})

test('lockFolder is not disturbed by an owner that leaves between two looks at the folder', async () => {
  vi.spyOn(fs.promises, 'readdir').mockResolvedValue(['owner.3.sock'] as never)
  const taken = await lock('1')
  expect(fs.readdirSync(folder)).toEqual(['owner.4.sock'])
  await taken.release()
})

test('an owner with a blocked event loop keeps the lock', async () => {
  const script = `
    const server = require('node:net').createServer().listen(${JSON.stringify(path.join(folder, 'owner.1.sock'))}, () => {
      process.stdout.write('up')
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => {
    child.stdout.once('data', resolve)
  })
  await expect(lock('1')).rejects.toMatchObject({ reason: 'Locked' })
  child.kill('SIGKILL')
  await new Promise((resolve) => {
    child.once('close', resolve)
  })
})

test('openFolder reports a file system without hard links as unusable, not as locked', async () => {
  const refusal = Object.assign(new Error('EOPNOTSUPP: operation not supported'), { code: 'EOPNOTSUPP' })
  vi.spyOn(fs.promises, 'link').mockRejectedValue(refusal)
  await expect(openFolder(folder, { clock, random: new SeededRandom('1') })).rejects.toMatchObject({
    reason: 'Unusable',
    message: `${folder} cannot be used for a store: EOPNOTSUPP: operation not supported`,
    cause: refusal,
  })
  expect(fs.readdirSync(folder)).toEqual([])
})

test.skipIf(process.getuid === undefined)('a folder that other users can write is refused', async () => {
  fs.chmodSync(folder, 0o777)
  await expect(openFolder(folder, { clock, random: new SeededRandom('1') })).rejects.toMatchObject({
    reason: 'Unusable',
    message: `other users can write to ${folder} (mode 0777): run chmod go-w ${folder}, or choose a folder inside it`,
  })
  fs.chmodSync(folder, 0o755)
  const { release } = await openFolder(folder, { clock, random: new SeededRandom('1') })
  await release()
})

test('an owner whose socket was removed can still release the folder', async () => {
  const owner = await lock('1')
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name))
  await owner.release()
  const next = await lock('2')
  await next.release()
})

test.skipIf(process.platform !== 'linux')('a released lock leaves no descriptor of the folder open', async () => {
  const descriptors = (): string[] =>
    fs.readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`) === folder
      } catch {
        return false
      }
    })
  const owner = await lock('1')
  expect(descriptors()).toHaveLength(1)
  await owner.release()
  expect(descriptors()).toEqual([])
})
