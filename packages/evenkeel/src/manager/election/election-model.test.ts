import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomFraction, randomInt, SeededRandom, SimulatedClock, type Random } from '#base'
import { Candidate } from './candidate.ts'
import { LeaderElection } from './leader-election.ts'
import { LeaseServer, MachineClock, type Trip } from './lease-server.fixture.ts'
import { checkTimes } from './lease.ts'
import { LeaseDeadline } from './write-gate.ts'

/** What the world may do to candidates: everything but deleting the lease, which nobody could survive. */
interface World {
  readonly seed: number
  readonly candidates: number
  /** How likely each call is slow or goes wrong. */
  readonly trouble: number
  /** What happens to whom, and how long until the next one. */
  readonly mishaps: readonly {
    readonly who: number
    readonly what: 'block' | 'sleep' | 'restart' | 'jump' | 'cut'
    readonly forMs: number
    readonly thenMs: number
  }[]
}

const worlds: fc.Arbitrary<World> = fc.record({
  seed: fc.nat(),
  candidates: fc.integer({ min: 2, max: 3 }),
  trouble: fc.double({ min: 0, max: 0.6, noNaN: true }),
  mishaps: fc.array(
    fc.record({
      who: fc.nat({ max: 2 }),
      what: fc.constantFrom('block', 'sleep', 'restart', 'jump', 'cut'),
      forMs: fc.integer({ min: 1, max: 40_000 }),
      thenMs: fc.integer({ min: 0, max: 20_000 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
})

interface Replica {
  readonly clock: MachineClock
  readonly deadline: LeaseDeadline
  readonly stop: () => void
  /** Until when its calls are lost. */
  readonly cut: { untilMs: number }
}

/** How often each replica led, after checking all the way that never two could write. */
async function live(
  { seed, candidates, trouble, mishaps }: World,
  { holdMs }: { holdMs?: number } = {},
): Promise<{ terms: number; together: number }> {
  const world = new SimulatedClock()
  const random = new SeededRandom(seed)
  const server = new LeaseServer(world)
  server.trip = () => tripOf(random, trouble)
  const seen = { terms: 0, together: 0 }
  const start = (clock: MachineClock, identity: string): Replica => {
    const deadline = new LeaseDeadline({ clock })
    const times = { ...checkTimes(), ...(holdMs !== undefined && { holdMs }) }
    const cut = { untilMs: 0 }
    const { run: stand } = new Candidate({
      lock: server.lock({ isCutOff: () => world.monotonic() < cut.untilMs }),
      identity,
      times,
      deadline,
      clock,
      random,
      release: randomInt(random, 2) === 0,
    })
    const lead = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        seen.terms++
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
    const stopping = new AbortController()
    void new LeaderElection({ campaign: stand, lead, deadline, clock, name: 'it' }).run(stopping.signal)
    return {
      clock,
      deadline,
      cut,
      stop: () => {
        stopping.abort()
      },
    }
  }
  const replicas = Array.from({ length: candidates }, (_, index) =>
    start(new MachineClock(world, { skewMs: (randomInt(random, 3) - 1) * 3_600_000 }), `r${index}`),
  )
  const look = (): void => {
    if (replicas.filter(({ deadline }) => deadline.isOpen).length > 1) seen.together++
  }
  server.onCommit = look
  let restarts = 0
  for (const { who, what, forMs, thenMs } of mishaps) {
    const replica = replicas[who % candidates]
    if (!replica) continue
    if (what === 'restart') {
      replica.stop()
      replicas.push(start(replica.clock, `again${restarts++}`))
      // Back by more than anybody sleeps here: a clock that is set back by just as long as the machine slept hides it.
    } else if (what === 'jump') world.jumpWall(forMs % 2 === 0 ? forMs : -3_600_000 - forMs)
    else if (what === 'cut') replica.cut.untilMs = world.monotonic() + forMs
    else replica.clock[what](forMs)
    await watchFor(world, thenMs, look)
  }
  server.trip = () => ({})
  await watchFor(world, 90_000, look)
  expect(replicas.filter(({ deadline }) => deadline.isOpen)).toHaveLength(1)
  for (const { stop } of replicas) stop()
  return seen
}

function tripOf(random: Random, trouble: number): Trip {
  if (randomFraction(random) >= trouble) return { thereMs: randomInt(random, 20), backMs: randomInt(random, 20) }
  const fault = ([undefined, undefined, 'request-lost', 'answer-lost', 'broken'] as const)[randomInt(random, 5)]
  return { thereMs: randomInt(random, 6000), backMs: randomInt(random, 6000), fault }
}

async function watchFor(world: SimulatedClock, forMs: number, look: () => void): Promise<void> {
  for (let leftMs = forMs; leftMs > 0; leftMs -= 500) {
    await world.advance(Math.min(leftMs, 500))
    look()
  }
}

test('LeaderElection never has two replicas with an open gate, and has one in the end', async () => {
  let terms = 0
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const seen = await live(world)
      terms += seen.terms
      expect(seen.together).toBe(0)
    }),
    { numRuns: 40 },
  )
  expect(terms).toBeGreaterThan(60)
})

test('the model would notice a gate that stays open too long', async () => {
  const takeover: World = {
    seed: 1,
    candidates: 2,
    trouble: 0,
    mishaps: [
      { who: 0, what: 'block', forMs: 40_000, thenMs: 20_000 },
      { who: 1, what: 'block', forMs: 40_000, thenMs: 20_000 },
    ],
  }
  expect((await live(takeover)).together).toBe(0)
  expect((await live(takeover, { holdMs: 40_000 })).together).toBeGreaterThan(0)
})
