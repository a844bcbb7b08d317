import { EventEmitter } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { flushPromises, LightAbortController, silentLogger, SimulatedClock } from '#base'
import type { Resource } from '@evenkeel/builtins'
import { openMemoryStore } from '#store'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import type { LargeWrite, WriteWorker } from './large-write-thread.ts'
import { LargeWrites } from './large-writes.ts'

interface Sent {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

/** A thread that does what the test says. */
class FakeWorker extends EventEmitter implements WriteWorker {
  readonly sent: Sent[] = []
  isTerminated = false
  isKept = true

  postMessage(message: unknown): void {
    this.sent.push(message as Sent)
  }

  ref(): void {
    this.isKept = true
  }

  unref(): void {
    this.isKept = false
  }

  terminate(): Promise<void> {
    this.isTerminated = true
    this.emit('exit', 1)
    return Promise.resolve()
  }

  beReady(): void {
    this.emit('message', { id: 0, name: 'ready', args: [] })
  }

  fail(error: Error): void {
    this.emit('error', error)
    this.emit('exit', 1)
  }

  get writes(): Sent[] {
    return this.sent.filter(({ name }) => name === 'write')
  }

  answer({ id }: Sent, status = 201): void {
    const response = { status, headers: {}, body: Buffer.from('done') }
    this.emit('message', { id, value: { response, annotations: [['seen', 'yes']] } })
  }
}

function make(): { large: LargeWrites; workers: FakeWorker[]; clock: SimulatedClock; stop: () => void } {
  const clock = new SimulatedClock()
  const stopping = new AbortController()
  const workers: FakeWorker[] = []
  const services = {
    store: openMemoryStore({ clock }),
    admission: { isLocal: ({ target }: { target: ResourceRef }) => target.resource.plural === 'hooked' },
    webhookMetrics: { count: () => undefined },
    authorizer: {},
    clock,
    log: silentLogger,
    stopping: stopping.signal,
  }
  const large = new LargeWrites(services as never, {
    webhooks: {},
    replica: { formats: ['json'] },
    bytesMax: 1000,
    startWorker: () => {
      const worker = new FakeWorker()
      workers.push(worker)
      return worker
    },
  })
  return {
    large,
    workers,
    clock,
    stop: () => {
      stopping.abort()
    },
  }
}

function contextOf({
  signal = new AbortController().signal,
  ...given
}: Partial<RequestContext> & { signal?: AbortSignal; type?: string } = {}): RequestContext {
  return {
    verb: 'create',
    user: { name: 'ada', groups: [] },
    request: {
      method: 'POST',
      target: '/api/v1/namespaces/default/configmaps',
      headers: { 'content-type': given.type ?? 'application/json' },
      peer: { address: '127.0.0.1', encrypted: true },
      signal,
    },
    ...given,
  } as RequestContext
}

const targetOf = (plural: string): ResourceRef => ({
  resource: { group: '', plural } as Resource,
  namespace: 'default',
  name: 'a',
})
/** The code of threads is loaded on demand. */
const workerOf = (workers: readonly FakeWorker[], at = 0): Promise<FakeWorker> => vi.waitUntil(() => workers[at])
const body = (bytes: number): Uint8Array => new Uint8Array(bytes)

describe('row 21: LargeWrites', () => {
  test('covers writes from sockets that need no code of this process', () => {
    const { large } = make()
    const plain = targetOf('configmaps')
    expect(large.covers(contextOf(), plain)).toBe(true)
    expect(large.covers(contextOf({ verb: 'patch' }), plain)).toBe(true)
    expect(large.covers(contextOf({ verb: 'delete' }), plain)).toBe(false)
    const { peer: _, ...inProcess } = contextOf().request
    expect(large.covers(contextOf({ request: inProcess }), plain)).toBe(false)
    expect(large.covers(contextOf(), targetOf('hooked'))).toBe(false)
    const subresource = (role: string): ResourceRef => ({ ...plain, subresource: { name: role, role } as never })
    expect(large.covers(contextOf(), subresource('part'))).toBe(true)
    expect(large.covers(contextOf(), subresource('token'))).toBe(false)
  })

  test('counts YAML sixteen times', () => {
    const { large } = make()
    expect(large.isLarge(contextOf(), body(1000))).toBe(false)
    expect(large.isLarge(contextOf(), body(1001))).toBe(true)
    expect(large.isLarge(contextOf({ type: 'application/yaml' }), body(62))).toBe(false)
    expect(large.isLarge(contextOf({ type: 'application/yaml' }), body(63))).toBe(true)
  })

  test('counts what multiplies as large: aliases of YAML, copies of a JSON patch', () => {
    const { large } = make()
    const isLarge = (type: string, text: string): boolean => large.isLarge(contextOf({ type }), Buffer.from(text))
    expect(isLarge('application/yaml', 'a: &x 1\nb: *x')).toBe(true)
    expect(isLarge('application/json', '{"a":"*"}')).toBe(false)
    expect(isLarge('application/json-patch+json', '[{"op":"copy","from":"/a","path":"/b"}]')).toBe(true)
    expect(isLarge('application/json-patch+json', '[{"op":"add","path":"/b","value":1}]')).toBe(false)
  })

  test('declines a write while the thread starts, and hands over the next one', async () => {
    const { large, workers } = make()
    expect(await large.handle(contextOf(), body(1500), { isOwn: true })).toBeUndefined()
    const worker = await workerOf(workers)
    worker.beReady()
    const annotations: string[] = []
    const answer = large.handle(
      contextOf({ annotate: (key, value) => annotations.push(`${key}=${value}`) }),
      body(1500),
      { isOwn: true },
    )
    await flushPromises()
    expect(worker.writes.map(({ args }) => (args[0] as LargeWrite).target)).toEqual([
      '/api/v1/namespaces/default/configmaps',
    ])
    expect(worker.isKept).toBe(true)
    worker.answer(worker.writes[0] as Sent)
    expect((await answer)?.status).toBe(201)
    expect(worker.isKept).toBe(false)
    expect(annotations).toEqual(['seen=yes'])
    expect(workers).toHaveLength(1)
    expect(large.metrics()).toContain('evenkeel_large_writes_total{place="thread"} 1')
    expect(large.metrics()).toContain('evenkeel_large_writes_total{place="here"} 1')
  })

  test('lets all writes but the first wait for the thread: together they would hold up the server', async () => {
    const { large, workers } = make()
    expect(await large.handle(contextOf(), body(1500), { isOwn: true })).toBeUndefined()
    const second = large.handle(contextOf(), body(1500), { isOwn: true })
    const worker = await workerOf(workers)
    worker.beReady()
    await flushPromises()
    worker.answer(worker.writes[0] as Sent)
    expect((await second)?.status).toBe(201)
  })

  test('lets the largest writes wait for the thread', async () => {
    const { large, workers } = make()
    const answer = large.handle(contextOf(), body(3000), { isOwn: true })
    const worker = await workerOf(workers)
    expect(worker.writes).toEqual([])
    worker.beReady()
    await flushPromises()
    worker.answer(worker.writes[0] as Sent, 200)
    expect((await answer)?.status).toBe(200)
  })

  test('gives up on threads when the first one never gets ready', async () => {
    for (const fail of [
      (worker: FakeWorker) => worker.emit('error', new Error('no such file')),
      (worker: FakeWorker) => worker.emit('exit', 1),
    ]) {
      const { large, workers } = make()
      const answer = large.handle(contextOf(), body(3000), { isOwn: true })
      fail(await workerOf(workers))
      expect(await answer).toBeUndefined()
      expect(large.covers(contextOf(), targetOf('configmaps'))).toBe(false)
      expect(await large.handle(contextOf(), body(3000), { isOwn: true })).toBeUndefined()
      expect(workers).toHaveLength(1)
    }
  })

  test('gives up on a thread that does not start in time, and tries again after a while', async () => {
    const { large, workers, clock } = make()
    const answer = large.handle(contextOf(), body(3000), { isOwn: true })
    const worker = await workerOf(workers)
    await clock.advance(15_000)
    expect(await answer).toBeUndefined()
    expect(worker.isTerminated).toBe(true)
    const plain = targetOf('configmaps')
    expect(large.covers(contextOf(), plain)).toBe(false)
    await clock.advance(10_000)
    expect(large.covers(contextOf(), plain)).toBe(true)
    const later = large.handle(contextOf(), body(3000), { isOwn: true })
    const second = await workerOf(workers, 1)
    second.beReady()
    await flushPromises()
    second.answer(second.writes[0] as Sent)
    expect((await later)?.status).toBe(201)
  })

  async function started(): Promise<ReturnType<typeof make> & { worker: FakeWorker }> {
    const made = make()
    await made.large.handle(contextOf(), body(1500), { isOwn: true })
    const worker = await workerOf(made.workers)
    worker.beReady()
    return { ...made, worker }
  }

  const outOfMemory = Object.assign(new Error('Worker terminated'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })

  test('refuses a document that exhausts the memory of the thread, and starts another thread', async () => {
    const { large, workers, worker } = await started()
    const answer = large.handle(contextOf(), body(1500), { isOwn: true })
    await flushPromises()
    worker.fail(outOfMemory)
    await expect(answer).rejects.toMatchObject({ code: 413 })
    const next = large.handle(contextOf(), body(1500), { isOwn: true })
    const second = await workerOf(workers, 1)
    expect(second).not.toBe(worker)
    second.beReady()
    await flushPromises()
    second.answer(second.writes[0] as Sent)
    expect((await next)?.status).toBe(201)
  })

  test('hands what waited for an ended thread to the next one', async () => {
    const { large, workers, worker } = await started()
    const first = large.handle(contextOf(), body(300_000), { isOwn: true })
    const second = large.handle(contextOf(), body(300_000), { isOwn: true })
    await flushPromises()
    expect(worker.writes).toHaveLength(1)
    worker.fail(outOfMemory)
    await expect(first).rejects.toMatchObject({ code: 413 })
    const next = await workerOf(workers, 1)
    next.beReady()
    await flushPromises()
    next.answer(next.writes[0] as Sent)
    expect((await second)?.status).toBe(201)
  })

  test('starts the next thread when the memory of the last one is free', async () => {
    const { large, workers, worker } = await started()
    const first = large.handle(contextOf(), body(300_000), { isOwn: true })
    const second = large.handle(contextOf(), body(300_000), { isOwn: true })
    await flushPromises()
    worker.emit('error', outOfMemory)
    await expect(first).rejects.toMatchObject({ code: 413 })
    // The code of threads is loaded already: a start takes a few turns.
    for (let turns = 0; turns < 20; turns++) await flushPromises()
    expect(workers).toHaveLength(1)
    worker.emit('exit', 1)
    const next = await workerOf(workers, 1)
    next.beReady()
    await flushPromises()
    next.answer(next.writes[0] as Sent)
    expect((await second)?.status).toBe(201)
  })

  test('answers every write when the thread ends', async () => {
    const { large, worker } = await started()
    const answers = ['ada', 'bob'].map((name) =>
      large
        .handle(contextOf({ user: { name, groups: [] } }), body(1500), { isOwn: true })
        .catch((error: unknown) => error),
    )
    await flushPromises()
    expect(worker.writes).toHaveLength(2)
    worker.fail(outOfMemory)
    for (const error of await Promise.all(answers)) expect(error).toMatchObject({ code: 500 })
  })

  test('ends the thread after a minute without a write', async () => {
    const { large, workers, worker, clock } = await started()
    const answer = large.handle(contextOf(), body(1500), { isOwn: true })
    await flushPromises()
    await clock.advance(120_000)
    expect(worker.isTerminated).toBe(false)
    worker.answer(worker.writes[0] as Sent)
    await answer
    await clock.advance(59_000)
    expect(worker.isTerminated).toBe(false)
    await clock.advance(1_000)
    expect(worker.isTerminated).toBe(true)
    expect(await large.handle(contextOf(), body(1500), { isOwn: true })).toBeUndefined()
    expect(await workerOf(workers, 1)).not.toBe(worker)
  })

  test('cancels a write whose client has left, and ends a thread that goes on with it', async () => {
    const { large, worker, clock } = await started()
    const client = new LightAbortController()
    const answer = large
      .handle(contextOf({ signal: client.signal }), body(1500), { isOwn: true })
      .catch((error: unknown) => error)
    await flushPromises()
    client.abort(new Error('gone'))
    const { args } = worker.writes[0] as Sent
    expect(worker.sent.at(-1)).toMatchObject({ name: 'cancel', args: [(args[0] as LargeWrite).id] })
    await clock.advance(9_000)
    expect(worker.isTerminated).toBe(false)
    await clock.advance(1_000)
    expect(worker.isTerminated).toBe(true)
    expect(await answer).toMatchObject({ code: 500 })
  })

  test('handles one document of the largest kind at a time, and users take turns', async () => {
    const { large, worker } = await started()
    const huge = body(300_000)
    const write = (name: string): Promise<unknown> =>
      large.handle(contextOf({ user: { name, groups: [] } }), huge, { isOwn: true })
    const answers = [write('ada'), write('ada'), write('bob'), write('cleo')]
    await flushPromises()
    const users = (): string[] => worker.writes.map(({ args }) => (args[0] as LargeWrite).user.name)
    expect(users()).toEqual(['ada'])
    for (let at = 0; at < answers.length; at++) {
      worker.answer(worker.writes[at] as Sent)
      await flushPromises()
    }
    await Promise.all(answers)
    expect(users()).toEqual(['ada', 'bob', 'cleo', 'ada'])
  })

  test('ends with the server', async () => {
    const { worker, stop } = await started()
    stop()
    expect(worker.isTerminated).toBe(true)
  })
})
