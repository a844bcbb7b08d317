import { describe, expect, test } from 'vitest'
import { deferred, Metrics, SeededRandom, SimulatedClock, type Deferred } from '#base'
import { Candidate } from './candidate.ts'
import { LeaderElection, LeaseLostError, type ElectionState } from './leader-election.ts'
import { LeaseServer } from './lease-server.fixture.ts'
import { checkTimes } from './lease.ts'
import { gateWrites, LeaseDeadline } from './write-gate.ts'

interface Term {
  readonly signal: AbortSignal
  readonly done: Deferred<void>
}

function elect(): {
  clock: SimulatedClock
  server: LeaseServer
  election: LeaderElection
  terms: Term[]
  states: ElectionState[]
  metrics: Metrics
  deadline: LeaseDeadline
  run: Promise<void>
  stop: () => void
} {
  const clock = new SimulatedClock()
  const server = new LeaseServer(clock)
  const deadline = new LeaseDeadline({ clock })
  const metrics = new Metrics()
  const { run: stand } = new Candidate({
    lock: server.lock(),
    identity: 'me',
    times: checkTimes(),
    deadline,
    clock,
    random: new SeededRandom(1),
    release: true,
  })
  const terms: Term[] = []
  const states: ElectionState[] = []
  const lead = (signal: AbortSignal): Promise<void> => {
    const done = deferred<void>()
    terms.push({ signal, done })
    return done.promise
  }
  const election = new LeaderElection({
    campaign: stand,
    lead,
    deadline,
    clock,
    metrics,
    name: 'it',
    onState: (state) => {
      states.push(state)
    },
  })
  const stopping = new AbortController()
  const run = election.run(stopping.signal)
  return {
    clock,
    server,
    election,
    terms,
    states,
    metrics,
    deadline,
    run,
    stop: () => {
      stopping.abort()
    },
  }
}

const post = {
  method: 'POST',
  target: '/api/v1/namespaces/default/configmaps',
  headers: {},
  signal: new AbortController().signal,
}

describe('LeaderElection', () => {
  test('case 114: a lost lease aborts the work and refuses its late writes, and later it leads again', async () => {
    const { clock, server, election, terms, states, deadline, metrics, run, stop } = elect()
    await clock.advance(0)
    expect([election.isLeading, election.leader]).toEqual([true, 'me'])
    expect(metrics.render()).toContain('leader_election_master_status{name="it"} 1')
    server.put({ ...server.lease?.spec, holderIdentity: 'thief' })
    await clock.advance(2000)
    const [first] = terms
    expect(first?.signal.reason).toBeInstanceOf(LeaseLostError)
    expect([election.isLeading, election.leader]).toEqual([false, 'thief'])
    expect(metrics.render()).toContain('leader_election_master_status{name="it"} 0')
    const sent: string[] = []
    const gated = gateWrites(
      (request) => {
        sent.push(request.method)
        return Promise.resolve({ status: 200, headers: {} })
      },
      deadline,
      { clock },
    )
    await expect(gated(post)).rejects.toThrow(
      'lease not verified: POST /api/v1/namespaces/default/configmaps was not sent',
    )
    await gated({ ...post, method: 'GET' })
    expect(sent).toEqual(['GET'])
    server.put({ ...server.lease?.spec, holderIdentity: '' })
    await clock.advance(10_000)
    expect(terms).toHaveLength(1)
    first?.done.resolve()
    await clock.advance(5000)
    expect(terms).toHaveLength(2)
    expect([election.isLeading, terms[1]?.signal.aborted]).toEqual([true, false])
    await gated(post)
    expect(states.map(({ state }) => state)).toEqual([
      'standing',
      'standing',
      'leading',
      'lost',
      'standing',
      'standing',
      'leading',
    ])
    terms[1]?.done.resolve()
    stop()
    await run
    expect(clock.pending).toBe(0)
  })

  test('case 115: stopping ends the work first, renews meanwhile, and gives the lease back last', async () => {
    const { clock, server, terms, states, run, stop, deadline } = elect()
    await clock.advance(0)
    stop()
    await clock.advance(30_000)
    expect(terms[0]?.signal.aborted).toBe(true)
    expect([server.lease?.spec?.holderIdentity, deadline.isOpen]).toEqual(['me', true])
    terms[0]?.done.resolve()
    await run
    expect([server.lease?.spec?.holderIdentity, deadline.isOpen]).toEqual(['', false])
    expect(states.at(-1)).toEqual({ state: 'stopped' })
    expect(clock.pending).toBe(0)
  })

  test('work that throws gives the lease back and ends the election with its error', async () => {
    const { clock, server, terms, run } = elect()
    await clock.advance(0)
    terms[0]?.done.reject(new Error('broken'))
    await expect(run).rejects.toThrow('broken')
    expect(server.lease?.spec?.holderIdentity).toBe('')
  })

  test('work that is done early keeps the lease', async () => {
    const { clock, server, terms, run, stop } = elect()
    await clock.advance(0)
    terms[0]?.done.resolve()
    await clock.advance(60_000)
    expect(server.lease?.spec?.holderIdentity).toBe('me')
    stop()
    await run
    expect(server.lease?.spec?.holderIdentity).toBe('')
  })

  test('is unhealthy if the work of the leader has not stopped long after the lease expired', async () => {
    const clock = new SimulatedClock()
    const deadline = new LeaseDeadline({ clock })
    const stopping = new AbortController()
    const election = new LeaderElection({
      clock,
      deadline,
      name: 'it',
      lead: () => Promise.resolve(),
      campaign: ({ signal, onEvent }) =>
        new Promise((resolve) => {
          deadline.open({ monotonicMs: 1000, wallMs: clock.now() + 1000 })
          onEvent({ type: 'leading' })
          signal.addEventListener('abort', () => {
            resolve({ reason: 'stopped' })
          })
        }),
    })
    const run = election.run(stopping.signal)
    await clock.advance(21_000)
    expect(election.failure()).toBeUndefined()
    await clock.advance(1)
    expect(election.failure()).toContain('the lease it has expired')
    stopping.abort()
    await run
    expect(election.failure()).toBeUndefined()
  })

  test('a listener that throws changes nothing, and a stand that fails ends the run', async () => {
    const clock = new SimulatedClock()
    const deadline = new LeaseDeadline({ clock })
    const election = new LeaderElection({
      clock,
      deadline,
      name: 'it',
      lead: () => Promise.resolve(),
      campaign: () => Promise.reject(new Error('no thread')),
      onState: () => {
        throw new Error('listener')
      },
    })
    await expect(election.run(new AbortController().signal)).rejects.toThrow('no thread')
  })
})
