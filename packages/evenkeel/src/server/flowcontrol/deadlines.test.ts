import { describe, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import type { Deferred } from '#base'
import type { WireRequest } from '#wire'
import { Deadlines, TimedRequest } from './deadlines.ts'

function request(signal = new AbortController().signal): TimedRequest {
  return new TimedRequest({ method: 'GET', target: '/', headers: {}, signal })
}

function fromSocket(): TimedRequest {
  const given: WireRequest = {
    method: 'GET',
    target: '/',
    headers: {},
    signal: new AbortController().signal,
    peer: { address: '127.0.0.1', encrypted: true },
  }
  return new TimedRequest(given)
}

const stopping = new AbortController()

function make(clock: SimulatedClock, signal = stopping.signal): Deadlines {
  return new Deadlines({ clock, usual: [60_000], stopping: signal })
}

interface Running {
  readonly work: Deferred<string>
  readonly request: TimedRequest
  outcome: string
}

function run(deadlines: Deadlines, limitMs: number, timed = request()): Running {
  const work = deferred<string>()
  const running: Running = { work, request: timed, outcome: '' }
  deadlines.within(limitMs, timed, { work: () => work.promise, refusal: () => new Error('too late') }).then(
    (value) => {
      running.outcome = value
    },
    (error: unknown) => {
      running.outcome = (error as Error).message
    },
  )
  return running
}

describe('Deadlines', () => {
  test('ends each request at its own time, in whatever order they came and went', async () => {
    const clock = new SimulatedClock()
    const deadlines = make(clock)
    const first = run(deadlines, 100)
    await clock.advance(60)
    const [second, short] = [run(deadlines, 100), run(deadlines, 10)]
    first.work.resolve('done')
    await clock.advance(10)
    expect([first.outcome, second.outcome, short.outcome]).toEqual(['done', '', 'too late'])
    await clock.advance(89)
    expect(second.outcome).toBe('')
    await clock.advance(1)
    expect(second.outcome).toBe('too late')
    expect(deadlines.expired).toBe(2)
    second.work.reject(new Error('nobody cares any more'))
    await clock.advance(0)
  })

  test('keeps no timer when there is nothing to wait for', async () => {
    const clock = new SimulatedClock()
    const deadlines = make(clock)
    const all = [run(deadlines, 100), run(deadlines, 100), run(deadlines, 7)]
    expect(clock.pending).toBe(2)
    for (const { work } of all) work.resolve('done')
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })

  test('keeps the timer of a usual time for who comes next from a socket, until the server stops', async () => {
    const clock = new SimulatedClock()
    const end = new AbortController()
    const deadlines = make(clock, end.signal)
    run(deadlines, 60_000).work.resolve('done')
    await clock.advance(0)
    expect(clock.pending).toBe(0)
    const first = run(deadlines, 60_000, fromSocket())
    first.work.resolve('done')
    await clock.advance(50_000)
    expect(clock.pending).toBe(1)
    const [second, third] = [run(deadlines, 60_000, fromSocket()), run(deadlines, 60_000, fromSocket())]
    second.work.resolve('done')
    await clock.advance(59_999)
    expect([second.outcome, third.outcome, clock.pending]).toEqual(['done', '', 1])
    await clock.advance(1)
    expect([third.outcome, clock.pending]).toEqual(['too late', 0])
    run(deadlines, 60_000, fromSocket()).work.resolve('done')
    const last = run(deadlines, 60_000, fromSocket())
    await clock.advance(0)
    end.abort()
    expect(clock.pending).toBe(1)
    last.work.resolve('done')
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })

  test('tells who listens that the time is over, and that the client is gone', async () => {
    const clock = new SimulatedClock()
    const deadlines = make(clock)
    const late = run(deadlines, 10)
    const client = new AbortController()
    const left = run(deadlines, 10, request(client.signal))
    const [heard, heardToo] = [late.request.signal, left.request.signal]
    client.abort(new Error('gone'))
    expect([heard.aborted, heardToo.aborted]).toEqual([false, true])
    await clock.advance(10)
    expect(heard.aborted).toBe(true)
    expect(String(heard.reason)).toContain('DeadlineError')
    // Whoever looks only now is told as well.
    const unheard = run(deadlines, 10)
    await clock.advance(10)
    expect(unheard.request.signal.aborted).toBe(true)
  })

  test('is gone without a trace when the request was answered: its signal is that of the client again', async () => {
    const clock = new SimulatedClock()
    const client = new AbortController()
    const running = run(make(clock), 10, request(client.signal))
    expect(running.request.signal).not.toBe(client.signal)
    running.work.resolve('done')
    await clock.advance(100)
    expect(running.request.signal).toBe(client.signal)
    expect(running.outcome).toBe('done')
  })
})
