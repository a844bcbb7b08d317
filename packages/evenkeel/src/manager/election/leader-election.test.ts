import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { deferred, Metrics, SeededRandom, silentLogger, SimulatedClock, SystemClock, type Deferred } from '#base'
import { Candidate, type Campaign } from './candidate.ts'
import { LeaderElection, LeaseLostError, makeElection, type ElectionState } from './leader-election.ts'
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

describe('LeaderElection with a campaign of its own', () => {
  interface Elected {
    readonly clock: SimulatedClock
    readonly metrics: Metrics
    readonly deadline: LeaseDeadline
    readonly stopping: AbortController
    readonly run: Promise<void>
  }

  function electWith(
    campaign: (options: Parameters<Campaign>[0], elected: Omit<Elected, 'run'>) => ReturnType<Campaign>,
    { lead = () => new Promise(() => undefined) }: { lead?: (signal: AbortSignal) => Promise<void> } = {},
  ): {
    clock: SimulatedClock
    metrics: Metrics
    deadline: LeaseDeadline
    stopping: AbortController
    run: Promise<void>
  } {
    const clock = new SimulatedClock()
    const [metrics, deadline, stopping] = [new Metrics(), new LeaseDeadline({ clock }), new AbortController()]
    const parts = { clock, metrics, deadline, stopping }
    const election = new LeaderElection({
      campaign: (options) => campaign(options, parts),
      lead,
      deadline,
      clock,
      metrics,
      name: 'it',
    })
    return { ...parts, run: election.run(stopping.signal) }
  }

  test('elected and stopped at the same moment: the work does not start, and the campaign ends', async () => {
    let works = 0
    const reasons: unknown[] = []
    const go = deferred<void>()
    const { stopping, run } = electWith(
      async ({ signal, onEvent }) => {
        await go.promise
        onEvent({ type: 'leading' })
        reasons.push(signal.reason)
        return { reason: 'stopped' }
      },
      {
        lead: async () => {
          works++
          await Promise.resolve()
        },
      },
    )
    stopping.abort(new Error('enough'))
    go.resolve()
    await run
    expect([works, reasons]).toEqual([0, [stopping.signal.reason]])
  })

  test('a campaign that fails aborts the work, closes the gate and counts as no longer leading', async () => {
    const failing = deferred<never>()
    let working: AbortSignal | undefined
    const { metrics, deadline, run } = electWith(
      ({ onEvent }, elected) => {
        elected.deadline.open({ monotonicMs: 60_000, wallMs: elected.clock.now() + 60_000 })
        onEvent({ type: 'leading' })
        onEvent({ type: 'slow-path' })
        return failing.promise
      },
      {
        lead: (signal) => {
          working = signal
          return new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              resolve()
            })
          })
        },
      },
    )
    failing.reject(new Error('the thread is gone'))
    await expect(run).rejects.toThrow('the thread is gone')
    expect(working?.reason).toMatchObject({ message: 'the thread is gone' })
    expect(deadline.isOpen).toBe(false)
    expect(metrics.render()).toContain('leader_election_master_status{name="it"} 0\n')
    expect(metrics.render()).toContain('leader_election_slowpath_total{name="it"} 1\n')
  })

  test('waits between campaigns that did not lead, and campaigns again at once after a lost term', async () => {
    const at: number[] = []
    const { clock, stopping, run } = electWith(
      async ({ onEvent }, elected) => {
        at.push(elected.clock.monotonic())
        await Promise.resolve()
        if (at.length !== 2) return { reason: 'stopped' }
        onEvent({ type: 'leading' })
        return { reason: 'lost', message: 'it expired' }
      },
      { lead: () => Promise.resolve() },
    )
    await clock.advance(5000)
    expect(at).toEqual([0, 2000, 2000, 4000])
    expect(getEventListeners(stopping.signal, 'abort').length).toBeLessThanOrEqual(2)
    stopping.abort()
    await run
  })

  test('the failure of the work is not an unhandled rejection while the lease is released', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    const release = deferred<void>()
    const { clock, run } = electWith(
      async ({ onEvent }) => {
        onEvent({ type: 'leading' })
        await release.promise
        return { reason: 'stopped' }
      },
      { lead: () => Promise.reject(new Error('the work failed')) },
    )
    await clock.advance(1000)
    release.resolve()
    await expect(run).rejects.toThrow('the work failed')
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})

describe('makeElection', () => {
  test('renews in a thread with the shared credentials of the connection', async () => {
    const clock = new SystemClock()
    const election = makeElection({
      settings: {},
      name: 'it',
      userAgent: 'test',
      connection: {
        config: { origin: 'a test', server: 'http://127.0.0.1:1', namespace: 'default' },
        namespace: 'default',
        transport: () => Promise.reject(new Error('the main thread renews')),
        credentials: { get: () => Promise.reject(new Error('the plugin failed')), refuse: () => false },
        close: () => Promise.resolve(),
      },
      deadline: new LeaseDeadline({ clock }),
      lead: () => Promise.resolve(),
      clock,
      random: new SeededRandom(1),
      log: silentLogger,
      metrics: new Metrics(),
      giveUp: new AbortController().signal,
    })
    await expect(election.run(new AbortController().signal)).rejects.toThrow('the plugin failed')
  })
})
