import { EventEmitter } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { deferred, SystemClock } from '#base'
import { bearer, type CredentialSource } from '#client'
import type { Campaign, CampaignEvent } from './candidate.ts'
import { checkTimes } from './lease.ts'
import {
  preferThread,
  renewalThread,
  RenewalThreadError,
  type RenewalOrder,
  type RenewalReport,
  type RenewalThreadOptions,
} from './renewal-thread.ts'
import { startFromSource, startLeaseHost, type LeaseHost } from './threads.fixture.ts'
import { gateWrites, LeaseDeadline } from './write-gate.ts'

const clock = new SystemClock()
const hosts: LeaseHost[] = []
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()))
})

interface Leading {
  readonly deadline: LeaseDeadline
  readonly host: LeaseHost
  readonly stop: () => Promise<unknown>
  readonly end: ReturnType<Campaign>
  readonly events: CampaignEvent[]
}

async function lead(options: Partial<RenewalThreadOptions> = {}, token?: string): Promise<Leading> {
  const host = await startLeaseHost({ ...(token !== undefined && { token }) })
  hosts.push(host)
  const deadline = new LeaseDeadline({ clock })
  const stand = renewalThread({
    config: host.config,
    lease: { namespace: 'default', name: 'it' },
    identity: 'me',
    times: checkTimes({ leaseMs: 2000, renewMs: 1500, retryMs: 200 }),
    release: true,
    userAgent: 'test',
    deadline,
    clock,
    startWorker: startFromSource,
    ...options,
  })
  const stopping = new AbortController()
  const leading = deferred<void>()
  const events: CampaignEvent[] = []
  const end = stand({
    signal: stopping.signal,
    onEvent(event) {
      events.push(event)
      if (event.type === 'leading') leading.resolve()
    },
  })
  await Promise.race([leading.promise, end])
  return {
    deadline,
    host,
    end,
    events,
    stop() {
      stopping.abort()
      return end
    },
  }
}

/** Blocks the event loop until the lease was written so many times more, or the time is over. Gives how long it took. */
function block({ mode }: LeaseHost, { forMs, writes = Infinity }: { forMs: number; writes?: number }): number {
  const [start, first] = [clock.monotonic(), mode[1] ?? 0]
  while (clock.monotonic() - start < forMs && Atomics.load(mode, 1) - first < writes)
    Atomics.wait(mode, 1, Atomics.load(mode, 1), 50)
  return clock.monotonic() - start
}

describe('renewalThread', () => {
  test('leads, renews and gives the lease back', async () => {
    const { deadline, host, stop, events } = await lead()
    expect([deadline.isOpen, await host.holder()]).toEqual([true, 'me'])
    expect(events).toEqual([{ type: 'leader', identity: 'me' }, { type: 'leading' }])
    expect(await stop()).toEqual({ reason: 'stopped' })
    expect([deadline.isOpen, await host.holder()]).toEqual([false, ''])
  })

  test('case 112: keeps the lease while the main thread is blocked for longer than the lease lasts', async () => {
    const { deadline, host, stop } = await lead()
    block(host, { forMs: 2100 })
    // No turn of the event loop in between: what the thread wrote into the memory is all there is.
    expect(deadline.isOpen).toBe(true)
    expect(host.mode[1]).toBeGreaterThan(3)
    await stop()
  })

  test('case 112: no write leaves after a block in which the lease could not be renewed', async () => {
    const { deadline, host, end } = await lead()
    let sent = 0
    const gated = gateWrites(
      () => {
        sent++
        return Promise.resolve({ status: 200, headers: {} })
      },
      deadline,
      { clock },
    )
    const write = (): Promise<unknown> =>
      gated({
        method: 'POST',
        target: '/api/v1/namespaces/default/pods',
        headers: {},
        signal: new AbortController().signal,
      })
    await write()
    Atomics.store(host.mode, 0, 1)
    block(host, { forMs: 2100 })
    const refused = write()
    await expect(refused).rejects.toThrow('lease not verified')
    expect(sent).toBe(1)
    expect(await end).toEqual({ reason: 'lost', message: 'the lease was not renewed in time' })
    expect(deadline.isOpen).toBe(false)
  })

  test('is handed new credentials by the main thread when the server refuses the old ones', async () => {
    let token = 'first'
    let known = bearer(token)
    const credentials: CredentialSource = {
      get: () => Promise.resolve(known),
      refuse() {
        known = bearer(token)
        return true
      },
    }
    const { host, deadline, stop } = await lead({ credentials }, 'first')
    token = 'second'
    host.setToken('second')
    const before = host.mode[1] ?? 0
    while ((host.mode[1] ?? 0) < before + 2)
      await new Promise((resolve) => {
        clock.soon(() => {
          resolve(undefined)
        })
      })
    expect(deadline.isOpen).toBe(true)
    await stop()
    expect(await host.holder()).toBe('')
  })

  test('says so when the thread cannot be started, and loses the lease when it dies', async () => {
    const failing = lead({ startWorker: () => new Worker('throw new Error("no such file")', { eval: true }) })
    await expect(failing).rejects.toThrow(RenewalThreadError)
    await expect(failing).rejects.toThrow('cannot start the lease renewal thread: no such file')
    let worker: Worker | undefined
    const { end, deadline } = await lead({ startWorker: (entry, data) => (worker = startFromSource(entry, data)) })
    expect(deadline.isOpen).toBe(true)
    await worker?.terminate()
    expect(await end).toMatchObject({ reason: 'lost' })
    expect(deadline.isOpen).toBe(false)
  })
})

test('renewalThread ends a thread that stays after the end of its campaign', async () => {
  const code = `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', () => parentPort.postMessage({ type: 'end', end: { reason: 'stopped' } }))
    parentPort.postMessage({ type: 'ready' })`
  let worker: Worker | undefined
  const { end } = await lead({ startWorker: () => (worker = new Worker(code, { eval: true })) })
  expect(await end).toEqual({ reason: 'stopped' })
  expect(worker?.threadId).toBe(-1)
})

describe('the messages of a renewal thread', () => {
  /** A thread that says what the test tells it to. */
  class SilentWorker extends EventEmitter {
    readonly orders: RenewalOrder[] = []
    terminated = 0

    postMessage(order: RenewalOrder): void {
      this.orders.push(order)
    }

    terminate(): Promise<number> {
      this.terminated++
      return Promise.resolve(0)
    }

    say(report: RenewalReport): void {
      this.emit('message', report)
    }
  }

  const begin = (): { worker: SilentWorker; deadline: LeaseDeadline; end: ReturnType<Campaign> } => {
    const worker = new SilentWorker()
    const deadline = new LeaseDeadline({ clock })
    const stand = renewalThread({
      config: { origin: 'a test', server: 'http://127.0.0.1:1', namespace: 'default' },
      lease: { namespace: 'default', name: 'it' },
      identity: 'me',
      times: checkTimes(),
      release: true,
      userAgent: 'test',
      deadline,
      clock,
      startWorker: () => worker as unknown as Worker,
    })
    return { worker, deadline, end: stand({ signal: new AbortController().signal, onEvent: () => undefined }) }
  }
  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      clock.soon(resolve)
    })

  test.each([
    { event: 'error', detail: new Error('out of memory'), message: 'out of memory' },
    { event: 'exit', detail: 3, message: 'the lease renewal thread exited with code 3' },
  ])('after the $event of a thread that has started, the lease is lost', async ({ event, detail, message }) => {
    const { worker, deadline, end } = begin()
    await turn()
    worker.say({ type: 'ready' })
    deadline.open({ monotonicMs: clock.monotonic() + 60_000, wallMs: clock.now() + 60_000 })
    worker.emit(event, detail)
    expect(await end).toEqual({ reason: 'lost', message })
    expect([deadline.isOpen, worker.terminated, worker.eventNames()]).toEqual([false, 1, []])
  })

  test.each([
    { event: 'error', detail: new Error('no such file'), message: 'no such file' },
    { event: 'exit', detail: 1, message: 'the lease renewal thread exited with code 1' },
  ])('after the $event of a thread that has not started, there is none', async ({ event, detail, message }) => {
    const { worker, end } = begin()
    await turn()
    worker.emit(event, detail)
    await expect(end).rejects.toThrow(`cannot start the lease renewal thread: ${message}`)
    expect(worker.terminated).toBe(1)
  })

  test('the thread gets the clock when it starts and after each renewal', async () => {
    const { worker, end } = begin()
    await turn()
    worker.say({ type: 'ready' })
    worker.say({ type: 'renewed' })
    worker.say({ type: 'end', end: { reason: 'stopped' } })
    expect(await end).toEqual({ reason: 'stopped' })
    const order = { type: 'clock', monotonicMs: expect.any(Number) }
    expect(worker.orders).toEqual([order, order])
  })
})

describe('preferThread', () => {
  const options = { signal: new AbortController().signal, onEvent: () => undefined }
  const here: Campaign = () => Promise.resolve({ reason: 'stopped' })

  test('stands in this thread once it is known that there is no other, and keeps to it', async () => {
    let tries = 0
    const stand = preferThread(() => {
      tries++
      return Promise.reject(new RenewalThreadError('no file'))
    }, here)
    expect([await stand(options), await stand(options), tries]).toEqual([
      { reason: 'stopped' },
      { reason: 'stopped' },
      1,
    ])
  })

  test('does not hide other failures', async () => {
    await expect(preferThread(() => Promise.reject(new Error('other')), here)(options)).rejects.toThrow('other')
  })
})
