import { describe, expect, test } from 'vitest'
import { formatMicroTime } from '#api'
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import { Candidate } from './candidate.ts'
import { LeaseServer, world, type Trip } from './lease-server.fixture.ts'
import { checkTimes, type LeaseSpec } from './lease.ts'
import { LeaseDeadline } from './write-gate.ts'

const aYearAgo = formatMicroTime(1_767_225_600_000 - 365 * 86_400_000)
const heldBy = (holderIdentity: string, more: LeaseSpec = {}): LeaseSpec => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  renewTime: aYearAgo,
  acquireTime: aYearAgo,
  leaseTransitions: 3,
  ...more,
})

describe('Candidate', () => {
  test('creates a missing lease in the form of client-go and leads at once', async () => {
    const { clock, server, stand } = world()
    const { deadline, events } = stand()
    await clock.advance(0)
    expect(server.lease?.spec).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    expect(events).toEqual([{ type: 'leader', identity: 'me' }, { type: 'leading' }])
    expect(deadline.leftMs).toBe(12_000)
  })

  test('stopped before it is elected, it has never led', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other'))
    const { events, stop, end } = stand()
    await clock.advance(5000)
    stop()
    await clock.advance(0)
    expect(end()).toEqual({ reason: 'stopped' })
    expect(events).toEqual([{ type: 'leader', identity: 'other' }])
  })

  test('keeps no timer but that of its next attempt', async () => {
    const { clock, stand } = world()
    const { stop } = stand()
    await clock.advance(0)
    expect(clock.pending).toBe(1)
    await clock.advance(10_000)
    expect(clock.pending).toBe(1)
    stop()
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })

  test('case 104: a newcomer waits a full lease duration, however old the times look', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other'))
    const { isLeading } = stand()
    await clock.advance(14_999)
    expect(isLeading()).toBe(false)
    await clock.advance(5000)
    expect(isLeading()).toBe(true)
    expect(server.lease?.spec?.leaseTransitions).toBe(4)
  })

  test('case 105: the duration in the record counts, not our own', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other', { leaseDurationSeconds: 60 }))
    const { isLeading } = stand()
    await clock.advance(59_999)
    expect(isLeading()).toBe(false)
    await clock.advance(5000)
    expect(isLeading()).toBe(true)
  })

  test('case 106: a lease without a holder is acquired on the first try', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('', { leaseDurationSeconds: 1 }))
    const { isLeading } = stand()
    await clock.advance(0)
    expect(isLeading()).toBe(true)
    expect(server.calls).toEqual(['read', 'replace'])
    expect(server.lease?.spec?.leaseTransitions).toBe(4)
  })

  test.each([3_600_000, -3_600_000])('case 107: a clock that is off by %i ms has no effect', async (skewMs) => {
    const { clock, server, stand } = world()
    const one = stand('one')
    const two = stand('two', { skewMs })
    await clock.advance(60_000)
    expect([one.isLeading(), two.isLeading()]).toEqual([true, false])
    one.clock.block(3_600_000)
    await clock.advance(30_000)
    expect([one.deadline.isOpen, two.isLeading(), two.deadline.isOpen]).toEqual([false, true, true])
    expect(server.lease?.spec?.holderIdentity).toBe('two')
  })

  test('case 108: a renewal that hangs is given up in time for another', async () => {
    const { clock, server, stand } = world()
    const { isLeading, deadline } = stand()
    await clock.advance(0)
    let hung = 0
    server.trip = () => (hung++ === 0 ? { fault: 'request-lost' } : {})
    await clock.advance(7000)
    expect(server.calls.slice(2)).toEqual(['replace', 'replace'])
    expect([isLeading(), deadline.leftMs]).toEqual([true, 12_000])
  })

  test.each([
    [9900, true],
    [10_100, false],
  ])('case 109: after %i ms of errors the leader still leads: %s', async (brokenMs, stillLeads) => {
    const { clock, server, stand } = world()
    const { isLeading, deadline, end } = stand()
    await clock.advance(0)
    server.trip = () => (clock.monotonic() < brokenMs ? { fault: 'broken' } : {})
    await clock.advance(11_999)
    expect(isLeading()).toBe(true)
    await clock.advance(1)
    expect(isLeading()).toBe(stillLeads)
    expect(deadline.isOpen).toBe(stillLeads)
    if (!stillLeads) expect(end()).toEqual({ reason: 'lost', message: 'the lease was not renewed in time' })
  })

  test('case 110: a lease that is deleted under its leader is made again, and the count of transitions goes on', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('', { leaseTransitions: 7 }))
    const { isLeading, events } = stand()
    await clock.advance(0)
    const before = server.lease?.spec
    server.lease = undefined
    await clock.advance(2000)
    expect(isLeading()).toBe(true)
    expect(server.lease).toMatchObject({
      spec: { holderIdentity: 'me', leaseTransitions: 8, acquireTime: before?.acquireTime },
    })
    expect(events.at(-1)).toEqual({ type: 'slow-path' })
  })

  test('a lease that is deleted while another leads is not taken before that one has run out', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other'))
    const { isLeading } = stand()
    await clock.advance(1)
    server.lease = undefined
    await clock.advance(14_000)
    expect(isLeading()).toBe(false)
    await clock.advance(6000)
    expect(isLeading()).toBe(true)
  })

  test('case 111: a conflict on the optimistic path is resolved within the same attempt', async () => {
    const { clock, server, stand } = world()
    const { isLeading, deadline } = stand()
    await clock.advance(0)
    server.calls.length = 0
    server.put({ ...server.lease?.spec, renewTime: aYearAgo })
    await clock.advance(2000)
    expect(server.calls).toEqual(['replace', 'read', 'replace'])
    expect([isLeading(), deadline.leftMs]).toEqual([true, 12_000])
  })

  test('another holder ends it at once, and the gate with it', async () => {
    const { clock, server, stand } = world()
    const { end, deadline } = stand()
    await clock.advance(0)
    server.put(heldBy('thief'))
    await clock.advance(2000)
    expect(end()).toEqual({ reason: 'lost', message: 'thief holds the lease' })
    expect(deadline.isOpen).toBe(false)
  })

  test('case 112: an event loop that was blocked for 20 s wakes up behind a closed gate, and as a loser', async () => {
    const { clock, stand } = world()
    const { deadline, clock: own, end } = stand()
    await clock.advance(4000)
    own.block(20_000)
    await clock.advance(19_999)
    expect(deadline.isOpen).toBe(false)
    expect(end()).toBeUndefined()
    await clock.advance(1)
    expect(deadline.isOpen).toBe(false)
    expect(end()).toMatchObject({ reason: 'lost' })
  })

  test('case 113: a machine that slept finds the gate closed although its monotonic clock stood still, until the lease is verified', async () => {
    const { clock, server, stand } = world()
    const { deadline, clock: own, isLeading } = stand()
    await clock.advance(3000)
    own.sleep(600_000)
    await clock.advance(600_000)
    const calls = server.calls.length
    expect(deadline.isOpen).toBe(false)
    await clock.advance(2000)
    expect(server.calls.length).toBeGreaterThan(calls)
    expect([isLeading(), deadline.isOpen]).toEqual([true, true])
  })

  test('case 113: a machine that slept while another took over never opens its gate again', async () => {
    const { clock, server, stand } = world()
    const { deadline, clock: own, end } = stand()
    await clock.advance(3000)
    const two = stand('two')
    server.onCommit = () => {
      expect(deadline.isOpen && two.deadline.isOpen).toBe(false)
    }
    own.sleep(600_000)
    await clock.advance(600_000)
    await clock.advance(2000)
    expect([deadline.isOpen, two.deadline.isOpen]).toEqual([false, true])
    expect(end()).toMatchObject({ reason: 'lost' })
  })

  test('case 115: one that is stopped gives the lease back, and another leads within one retry', async () => {
    const { clock, server, stand } = world()
    const one = stand('one')
    await clock.advance(0)
    const two = stand('two')
    await clock.advance(10_000)
    one.stop()
    await clock.advance(0)
    expect(one.end()).toEqual({ reason: 'stopped' })
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 })
    await clock.advance(4400)
    expect(two.isLeading()).toBe(true)
    expect(server.lease?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 })
  })

  test('case 115: a conflict while giving back is tried again; nothing is given back that is not ours, or when that was not asked for', async () => {
    const { clock, server, stand } = world()
    const one = stand('one')
    await clock.advance(0)
    let reads = 0
    server.trip = (call) => {
      if (call === 'replace' && reads++ === 0) server.put({ ...server.lease?.spec, renewTime: aYearAgo })
      return {}
    }
    one.stop()
    await clock.advance(20)
    expect(server.lease?.spec?.holderIdentity).toBe('')
    const two = stand('two', { release: false })
    await clock.advance(0)
    two.stop()
    await clock.advance(0)
    expect([two.end(), server.lease?.spec?.holderIdentity, two.deadline.isOpen]).toEqual([
      { reason: 'stopped' },
      'two',
      false,
    ])
  })

  test('giving back ends with the deadline when the server does not answer', async () => {
    const { clock, server, stand } = world()
    const { stop, end } = stand()
    await clock.advance(0)
    server.trip = () => ({ fault: 'request-lost' })
    stop()
    await clock.advance(9999)
    expect(end()).toBeUndefined()
    await clock.advance(1)
    expect(end()).toEqual({ reason: 'stopped' })
    expect(clock.pending).toBe(0)
  })

  test('case 116: renewals within one second are seen as progress', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other', { renewTime: '2026-01-01T00:00:00.000000Z' }))
    const { isLeading } = stand()
    for (let micros = 1; micros <= 10; micros++) {
      await clock.advance(10_000)
      server.put(heldBy('other', { renewTime: `2026-01-01T00:00:00.${String(micros).padStart(6, '0')}Z` }))
    }
    expect(isLeading()).toBe(false)
  })

  test('case 117: of two that race to create, exactly one leads', async () => {
    const { clock, server, stand } = world()
    server.trip = () => ({ thereMs: 5, backMs: 5 })
    const [one, two] = [stand('one'), stand('two')]
    await clock.advance(100)
    expect(server.calls.filter((call) => call === 'create')).toHaveLength(2)
    expect([one.isLeading(), two.isLeading()].filter(Boolean)).toHaveLength(1)
  })

  test('an answer that was lost on the way to leading is made up for by reading', async () => {
    const { clock, server, stand } = world()
    server.trip = (call) => (call === 'create' ? { fault: 'answer-lost' } : {})
    const { isLeading, deadline } = stand()
    await clock.advance(4999)
    expect([isLeading(), deadline.isOpen]).toEqual([false, false])
    await clock.advance(5000)
    expect([isLeading(), server.lease?.spec?.leaseTransitions]).toEqual([true, 0])
  })

  test('the gate counts from when a renewal was sent, not from when its answer came', async () => {
    const { clock, server, stand } = world()
    const { deadline } = stand()
    await clock.advance(0)
    server.trip = () => ({ thereMs: 1000, backMs: 3000 })
    await clock.advance(6000)
    expect(deadline.leftMs).toBe(8000)
  })

  test('leaves no timer behind when it is stopped while it waits', async () => {
    const { clock, server, stand } = world()
    server.put(heldBy('other'))
    const { stop, end } = stand()
    await clock.advance(100)
    stop()
    await clock.advance(0)
    expect([end(), clock.pending, server.lease?.spec?.holderIdentity]).toEqual([{ reason: 'stopped' }, 0, 'other'])
  })
})

test('Candidate logs a request that failed or timed out as a warning, and a lost race only for debugging', async () => {
  const clock = new SimulatedClock()
  const server = new LeaseServer(clock)
  const lines: string[] = []
  const stopping = new AbortController()
  const candidate = new Candidate({
    lock: server.lock(),
    identity: 'me',
    times: checkTimes(),
    deadline: new LeaseDeadline({ clock }),
    clock,
    random: new SeededRandom('me'),
    release: true,
    log: createLogger({
      clock,
      level: 'debug',
      sink: ({ level, message }) => {
        lines.push(`${level}: ${message}`)
      },
    }),
  })
  const faults: (Trip['fault'] | 'race')[] = ['broken', 'request-lost', 'race']
  server.trip = (call) => {
    const fault = faults[0]
    if (fault !== 'race') return { fault: faults.shift() as Trip['fault'] }
    if (call === 'create') {
      faults.shift()
      server.put(heldBy('other'))
    }
    return {}
  }
  const run = candidate.run({ signal: stopping.signal, onEvent: () => undefined })
  await clock.advance(20_000)
  expect(lines).toEqual([
    'warn: lease request failed',
    'warn: lease request timed out',
    'debug: another candidate wrote the lease',
  ])
  stopping.abort()
  expect(await run).toEqual({ reason: 'stopped' })
})
