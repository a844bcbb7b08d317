import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deferred, SimulatedClock } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLogFile, readTimedLog, type FollowOptions } from './file-log.ts'
import { caughtUp } from './log-lines.ts'

/** A clock that knows when a reader waits for it. */
class WaitedClock extends SimulatedClock {
  #asked = deferred<undefined>()

  override after(...args: Parameters<SimulatedClock['after']>): ReturnType<SimulatedClock['after']> {
    const cancel = super.after(...args)
    this.#asked.resolve(undefined)
    return cancel
  }

  /** Lets time pass once the reader waits. */
  async pass(ms: number): Promise<void> {
    await this.#asked.promise
    this.#asked = deferred<undefined>()
    await this.advance(ms)
  }
}

let folder = ''
let path = ''
let clock: WaitedClock
let isOver = false
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
  path = join(folder, 'log')
  clock = new WaitedClock()
  isOver = false
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function open(options: Partial<FollowOptions> = {}): AsyncIterator<string | typeof caughtUp, void> {
  const signal = new AbortController().signal
  const pieces = readLogFile(path, { clock, signal, follow: true, isOver: () => isOver, ...options })
  return (async function* () {
    for await (const piece of pieces) yield piece === caughtUp ? piece : Buffer.from(piece).toString()
  })()
}

/** How much time has to pass until the reader ends. */
async function untilEnd(reading: Promise<IteratorResult<unknown>>): Promise<number> {
  const end = reading.then(({ done }) => (done === true ? 'ended' : 'went on'))
  for (let passed = 0; ; passed += 100) {
    const first = await Promise.race([end, clock.pass(100)])
    if (first !== undefined) return first === 'ended' ? passed : -1
  }
}

test('the present content is read once, without following', async () => {
  await writeFile(path, 'one\n')
  const reader = open({ follow: false })
  expect(await reader.next()).toMatchObject({ value: 'one\n' })
  expect(await reader.next()).toMatchObject({ value: caughtUp })
  expect(await reader.next()).toMatchObject({ done: true })
})

test('a file that is not there yet is waited for only when it is followed, and not when nothing will come', async () => {
  expect(await open({ follow: false }).next()).toMatchObject({ done: true })
  const first = open().next()
  await clock.pass(100)
  await clock.pass(100)
  await writeFile(path, 'one\n')
  await clock.pass(100)
  expect(await first).toMatchObject({ value: 'one\n' })
  await rm(path)
  isOver = true
  expect(await open().next()).toMatchObject({ done: true })
})

test('a log that is over ends when nothing has come for a moment, counted from the last bytes', async () => {
  await writeFile(path, 'one\n')
  const reader = open()
  expect(await reader.next()).toMatchObject({ value: 'one\n' })
  expect(await reader.next()).toMatchObject({ value: caughtUp })
  const next = reader.next()
  for (let count = 0; count < 50; count++) await clock.pass(100)
  await appendFile(path, 'last\n')
  await clock.pass(100)
  expect(await next).toMatchObject({ value: 'last\n' })
  isOver = true
  expect(await untilEnd(reader.next())).toBe(1500)
})

test('a reader that leaves ends the waiting', async () => {
  await writeFile(path, '')
  const stop = new AbortController()
  const reader = open({ signal: stop.signal })
  expect(await reader.next()).toMatchObject({ value: caughtUp })
  const next = reader.next()
  await clock.pass(0)
  stop.abort(new Error('the client has left'))
  await expect(next).rejects.toThrow('the client has left')
})

/** A log that is open, with these pieces; `undefined` is the end of what is stored. */
function timedLog(pieces: (string | undefined)[]) {
  const finals: boolean[] = []
  return {
    finals,
    isClosed: false,
    next({ isFinal }: { readonly isFinal: boolean }) {
      finals.push(isFinal)
      const piece = pieces.shift()
      return Promise.resolve(piece === undefined ? undefined : Buffer.from(piece))
    },
    close() {
      this.isClosed = true
      return Promise.resolve()
    },
  }
}

test('the log of a program that runs here is final when its program has ended before the read', async () => {
  const log = timedLog(['a\n', undefined])
  const looks = [false, true]
  const options = { clock, signal: new AbortController().signal, follow: true, isOver: () => looks.shift() ?? true }
  const shown: unknown[] = []
  for await (const piece of readTimedLog(log, options))
    shown.push(piece === caughtUp ? 'caught up' : Buffer.from(piece).toString())
  expect(shown).toEqual(['a\n', 'caught up'])
  expect(log).toMatchObject({ finals: [false, true], isClosed: true })
})
