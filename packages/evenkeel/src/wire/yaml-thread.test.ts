import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { badRequest, toStatus } from '#api'
import { SimulatedClock } from '#base'
import { parseYaml } from './yaml-reader.ts'
import { YamlThread, type YamlJob } from './yaml-thread.ts'

const limits = { depthMax: 300, aliasedMax: 1000 }

/** A thread in this thread. */
class FakeWorker extends EventEmitter {
  readonly jobs: YamlJob[] = []
  isKept = false

  postMessage(job: YamlJob): void {
    this.jobs.push(job)
  }

  ref(): void {
    this.isKept = true
  }

  unref(): void {
    this.isKept = false
  }

  terminate(): Promise<number> {
    this.emit('exit', 1)
    return Promise.resolve(1)
  }
}

function make(): { thread: YamlThread; workers: FakeWorker[]; clock: SimulatedClock } {
  const clock = new SimulatedClock()
  const workers: FakeWorker[] = []
  const start = (): Worker => {
    const worker = new FakeWorker()
    workers.push(worker)
    return worker as object as Worker
  }
  return { thread: new YamlThread({ start, clock }), workers, clock }
}

describe('YamlThread', () => {
  test('gives each caller its own answer, and keeps the process alive only while somebody waits', async () => {
    const { thread, workers } = make()
    const [one, two] = [thread.parse('a: 1', limits), thread.parse('b: 2', limits)]
    const [worker] = workers
    expect(workers).toHaveLength(1)
    expect(worker?.isKept).toBe(true)
    worker?.emit('message', 'ready')
    for (const { id, text } of worker?.jobs.toReversed() ?? []) {
      const { value, duplicates } = await parseYaml(text, limits)
      worker?.emit('message', { id, json: JSON.stringify(value), duplicates })
    }
    expect(await one).toEqual({ value: { a: 1 }, duplicates: [] })
    expect(await two).toEqual({ value: { b: 2 }, duplicates: [] })
    expect(worker?.isKept).toBe(false)
  })

  test('passes the error of the parser on', async () => {
    const { thread, workers } = make()
    const parsing = thread.parse('a: [', limits)
    workers[0]?.emit('message', 'ready')
    workers[0]?.emit('message', { id: workers[0].jobs[0]?.id, status: toStatus(badRequest('bad text')) })
    await expect(parsing).rejects.toMatchObject({ reason: 'BadRequest', message: 'bad text' })
  })

  test('a thread that dies refuses its texts, and the next text gets another thread', async () => {
    const { thread, workers } = make()
    const parsing = thread.parse('a: 1', limits)
    workers[0]?.emit('message', 'ready')
    const behind = thread.parse('c: 3', limits)
    workers[0]?.emit('error', new Error('out of memory'))
    workers[0]?.emit('exit', 1)
    await expect(parsing).rejects.toMatchObject({ reason: 'RequestEntityTooLarge' })
    await expect(behind).rejects.toMatchObject({ reason: 'TooManyRequests' })
    void thread.parse('b: 2', limits)
    expect(workers).toHaveLength(2)
  })

  test('a text that takes too long ends the thread', async () => {
    const { thread, workers, clock } = make()
    const parsing = thread.parse('a: 1', limits)
    workers[0]?.emit('message', 'ready')
    await clock.advance(14_999)
    void clock.advance(1)
    await expect(parsing).rejects.toMatchObject({ reason: 'RequestEntityTooLarge' })
    expect(clock.pending).toBe(0)
  })

  test('without a thread the caller parses the text itself', async () => {
    const { thread, workers } = make()
    const parsing = thread.parse('a: 1', limits)
    // As for a file that is missing: the thread runs, and cannot load it.
    workers[0]?.emit('online')
    workers[0]?.emit('error', new Error('no such file'))
    expect(await parsing).toBeUndefined()
    expect(await thread.parse('b: 2', limits)).toBeUndefined()
    expect(workers).toHaveLength(1)
    const none = new YamlThread({
      start: () => {
        throw new Error('no threads')
      },
    })
    expect(await none.parse('a: 1', limits)).toBeUndefined()
  })
})
