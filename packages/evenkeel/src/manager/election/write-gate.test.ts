import { describe, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { Client, type ClientOptions } from '#client'
import { checkWriteGate, gateWrites, isLeaseNotVerified, LeaseDeadline, LeaseNotVerifiedError } from './write-gate.ts'

type Transport = ClientOptions['transport']
const signal = new AbortController().signal
const request = (method: string, target = '/api/v1/namespaces/a/pods'): Parameters<Transport>[0] => ({
  method,
  target,
  headers: {},
  signal,
})

function openFor(forMs: number): { clock: SimulatedClock; deadline: LeaseDeadline } {
  const clock = new SimulatedClock()
  const deadline = new LeaseDeadline({ clock })
  deadline.open({ monotonicMs: clock.monotonic() + forMs, wallMs: clock.now() + forMs })
  return { clock, deadline }
}

describe('LeaseDeadline', () => {
  test('has passed until it is set, and again when time or a close ends it', async () => {
    const clock = new SimulatedClock()
    const deadline = new LeaseDeadline({ clock })
    expect(deadline.isOpen).toBe(false)
    deadline.open({ monotonicMs: 10, wallMs: clock.now() + 10 })
    expect([deadline.isOpen, deadline.leftMs]).toEqual([true, 10])
    await clock.advance(10)
    expect(deadline.isOpen).toBe(false)
    deadline.open({ monotonicMs: 100, wallMs: clock.now() + 100 })
    deadline.close()
    expect(deadline.isOpen).toBe(false)
  })

  test('case 113: closes when the two clocks disagree, whichever is ahead, until it is opened again', () => {
    const { clock, deadline } = openFor(10_000)
    clock.jumpWall(501)
    expect(deadline.isOpen).toBe(false)
    clock.jumpWall(-1002)
    expect(deadline.isOpen).toBe(false)
    clock.jumpWall(1)
    expect(deadline.isOpen).toBe(true)
    clock.jumpWall(-600_000)
    deadline.open({ monotonicMs: 10_000, wallMs: clock.now() + 10_000 })
    expect(deadline.isOpen).toBe(true)
  })

  test('is the same in every thread that has its memory', () => {
    const { clock, deadline } = openFor(1000)
    expect(new LeaseDeadline({ clock, memory: deadline.memory }).isOpen).toBe(true)
    expect(() => new LeaseDeadline({ clock, memory: new SharedArrayBuffer(8) })).toThrow(RangeError)
  })
})

describe('gateTransport', () => {
  test('asks once more when a write leaves', async () => {
    const { clock, deadline } = openFor(1000)
    const gated = gateWrites(
      ({ beforeSend }) => {
        // A process that stood still: no timer has fired yet.
        deadline.close()
        beforeSend?.()
        return Promise.resolve({ status: 200, headers: {} })
      },
      deadline,
      { clock },
    )
    await expect(gated(request('PUT'))).rejects.toThrow(LeaseNotVerifiedError)
    expect(clock.pending).toBe(0)
  })

  test('lets reads and access questions pass at any time, and refuses every write past the deadline', async () => {
    const { clock, deadline } = openFor(1000)
    const sent: string[] = []
    const gated = gateWrites(
      (one) => {
        sent.push(one.method)
        return Promise.resolve({ status: 200, headers: {} })
      },
      deadline,
      { clock },
    )
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) await gated(request(method))
    await clock.advance(1000)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      await expect(gated(request(method))).rejects.toSatisfy(isLeaseNotVerified)
    await gated(request('GET'))
    await gated(request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'))
    expect(sent).toEqual(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'POST'])
    expect(clock.pending).toBe(0)
  })

  test('takes back a write that still waits when the deadline passes, unless it was moved', async () => {
    const { clock, deadline } = openFor(1000)
    const answer = deferred<{ status: number; headers: Record<string, string> }>()
    const gated = gateWrites(
      (one) =>
        new Promise((resolve, reject) => {
          one.signal.addEventListener('abort', () => {
            reject(one.signal.reason as Error)
          })
          void answer.promise.then(resolve)
        }),
      deadline,
      { clock },
    )
    const kept = gated(request('POST'))
    await clock.advance(500)
    deadline.open({ monotonicMs: 1500, wallMs: clock.now() + 1000 })
    const outcome = expect(kept).rejects.toThrow(
      'lease not verified: POST /api/v1/namespaces/a/pods was aborted and may or may not have happened',
    )
    await clock.advance(999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    await outcome
    expect(clock.pending).toBe(0)
  })

  test('hands on the signal of the caller until the last piece of an answer was read', async () => {
    const { clock, deadline } = openFor(1000)
    const caller = new AbortController()
    let seen: AbortSignal | undefined
    const gated = gateWrites(
      (one) => {
        seen = one.signal
        return Promise.resolve({ status: 200, headers: {}, body: pieces() })
      },
      deadline,
      { clock },
    )
    const { body } = await gated({ ...request('DELETE'), signal: caller.signal })
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      expect(piece).toHaveLength(1)
      caller.abort(new Error('enough'))
    }
    expect(seen?.reason).toMatchObject({ message: 'enough' })
    expect(clock.pending).toBe(0)
  })

  test('a client with it says which write was refused, and is not told to try again', async () => {
    const { clock, deadline } = openFor(0)
    const client = new Client({
      transport: gateWrites(() => Promise.resolve({ status: 200, headers: {} }), deadline, { clock }),
      clock,
    })
    const write = client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } })
    await expect(write).rejects.toThrow()
    expect(() => {
      checkWriteGate(request('PUT'), deadline)
    }).toThrow(LeaseNotVerifiedError)
    expect(() => {
      checkWriteGate(request('GET'), deadline)
    }).not.toThrow()
  })
})

async function* pieces(): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  yield Uint8Array.of(1)
}

test('LeaseDeadline is open to the last millisecond', async () => {
  const clock = new SimulatedClock()
  const deadline = new LeaseDeadline({ clock })
  deadline.open({ monotonicMs: 12_000, wallMs: clock.now() + 12_000 })
  await clock.advance(11_999)
  expect([deadline.isOpen, deadline.leftMs]).toEqual([true, 1])
  await clock.advance(1)
  expect([deadline.isOpen, deadline.leftMs]).toEqual([false, 0])
})

test('isLeaseNotVerified knows the error by its brand, whatever else was thrown', () => {
  const request = { method: 'POST', target: '/api/v1/namespaces/a/pods?x=1' }
  const refused = new LeaseNotVerifiedError(request)
  expect([refused, new Error('no'), {}, null, undefined, 'no'].map(isLeaseNotVerified)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ])
  expect(refused.message).toBe(
    'lease not verified: POST /api/v1/namespaces/a/pods was not sent, because another replica may be the leader',
  )
  expect(new LeaseNotVerifiedError(request, { mayHaveHappened: true }).message).toContain(
    'may or may not have happened',
  )
})

test('gateWrites asks the beforeSend of the request as well', async () => {
  const clock = new SimulatedClock()
  const deadline = new LeaseDeadline({ clock })
  deadline.open({ monotonicMs: 12_000, wallMs: clock.now() + 12_000 })
  let asked = 0
  const gated = gateWrites(
    ({ beforeSend }) => {
      beforeSend?.()
      return Promise.resolve({ status: 200, headers: {} })
    },
    deadline,
    { clock },
  )
  const answer = await gated({
    method: 'POST',
    target: '/api/v1/namespaces/a/pods',
    headers: {},
    signal: new AbortController().signal,
    beforeSend: () => {
      asked++
    },
  })
  expect([answer.status, asked]).toEqual([200, 1])
})
