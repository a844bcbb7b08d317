import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareResourceVersions, expired, internalError, tooManyRequests } from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import { ConnectionError } from '#client'
import type { CacheEvent } from './event.ts'
import { FakeServer, type Widget } from './fake-server.fixture.ts'
import { Informer } from './informer.ts'

/** What may happen to a server, to the way there, and to us. */
type Step =
  | { readonly do: 'put' | 'remove' | 'own put' | 'own remove'; readonly name: string }
  | { readonly do: 'cut' | 'reset' | 'expire' | 'compact' | 'bookmark' | 'lose' | 'handler' }
  | { readonly do: 'fail'; readonly how: number }
  | { readonly do: 'pass'; readonly ms: number }

const name = fc.constantFrom('a', 'b', 'c', 'd')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('put' as const, 'remove' as const, 'own put' as const, 'own remove' as const),
      name,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cut' as const,
        'reset' as const,
        'expire' as const,
        'compact' as const,
        'bookmark' as const,
        'lose' as const,
        'handler' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), how: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 0, 0, 500, 5000, 90_000) }),
  },
)

/** What one handler knows of the world, by what it was told. */
class Witness {
  readonly known = new Map<string, string>()
  readonly waits: boolean
  readonly #clock: SimulatedClock

  constructor(clock: SimulatedClock, waits: boolean) {
    this.#clock = clock
    this.waits = waits
  }

  readonly handle = (event: CacheEvent<Widget>): undefined | Promise<void> => {
    this.#hear(event)
    return this.waits
      ? new Promise((resolve) => {
          this.#clock.after(300, resolve)
        })
      : undefined
  }

  #hear({ type, key, old, resourceVersion }: CacheEvent<Widget>): void {
    const before = this.known.get(key.name)
    if (type === 'delete') {
      expect(before).toBeDefined()
      this.known.delete(key.name)
      return
    }
    expect(type).toBe(before === undefined ? 'add' : 'update')
    if (before !== undefined) {
      expect(old?.metadata.resourceVersion).toBe(before)
      expect(compareResourceVersions(resourceVersion, before)).toBeGreaterThan(0)
    }
    this.known.set(key.name, resourceVersion)
  }
}

class World {
  readonly server = new FakeServer()
  readonly clock = new SimulatedClock()
  readonly witnesses: Witness[] = []
  readonly informer: Informer<Widget>
  /** The version of our last write to each object: no read may go behind it. */
  readonly #floors = new Map<string, string>()
  readonly #errors: readonly Error[] = [
    internalError(new Error('disk')),
    tooManyRequests('slow down'),
    expired('gone'),
    new ConnectionError('nobody there', { problem: 'refused' }),
  ]

  constructor(streaming: boolean) {
    const { clock, server } = this
    server.pageSize = 2
    this.informer = new Informer<Widget>({
      source: server,
      group: 'test.dev',
      kind: 'Widget',
      clock,
      random: new SeededRandom('model'),
      streaming,
      pageSize: 2,
    })
    this.addWitness()
  }

  addWitness(): void {
    const witness = new Witness(this.clock, this.witnesses.length % 2 === 1)
    this.witnesses.push(witness)
    this.informer.addHandler(witness.handle)
  }

  async play(step: Step): Promise<void> {
    const { server, clock, informer } = this
    switch (step.do) {
      case 'put':
        server.put(step.name)
        return
      case 'remove':
        server.remove(step.name)
        return
      case 'own put':
        informer.noteWrite(server.put(step.name))
        this.#raiseFloor(step.name)
        return
      case 'own remove':
        this.#removeOwn(step.name)
        return
      case 'cut':
        server.cut()
        return
      case 'reset':
        server.cut(new ConnectionError('cut off', { problem: 'reset' }))
        return
      case 'expire':
        server.cut(expired('too old'))
        return
      case 'compact':
        server.compact()
        return
      case 'bookmark':
        server.bookmark()
        return
      case 'lose':
        server.lose()
        return
      case 'handler':
        this.addWitness()
        return
      case 'fail':
        server.failures.push(this.#errors[step.how] as Error)
        return
      case 'pass':
        await clock.advance(step.ms)
    }
  }

  /** Whoever deletes an object knows which: a cache that shows another one of that name is left as it is. */
  #removeOwn(name: string): void {
    const { server, informer } = this
    const { uid, resourceVersion } = server.objects.get(`a/${name}`)?.metadata ?? {}
    if (uid === undefined || resourceVersion === undefined) return
    const shown = informer.find({ namespace: 'a', name })
    server.remove(name)
    informer.noteDelete({ namespace: 'a', name, uid, resourceVersion })
    if (shown === undefined || shown.metadata.uid === uid) this.#raiseFloor(name)
  }

  /** Our own writes are seen at once, whatever the watch has told. */
  #raiseFloor(name: string): void {
    expect(this.shown().get(name)).toBe(this.server.objects.get(`a/${name}`)?.metadata.resourceVersion)
    this.#floors.set(name, String(this.server.version))
  }

  /** Nothing that is shown is older than what we wrote. */
  checkFloors(): void {
    for (const [name, version] of this.shown()) {
      const floor = this.#floors.get(name)
      if (floor !== undefined) expect(compareResourceVersions(version, floor)).toBeGreaterThanOrEqual(0)
    }
  }

  shown(): Map<string, string> {
    return new Map(this.informer.list().map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']))
  }

  truth(): Map<string, string> {
    return new Map(
      [...this.server.objects.values()].map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']),
    )
  }
}

test.each([true, false])(
  'Informer ends equal to the server after any history, and every handler with it (streaming %s)',
  async (streaming) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 100, size: 'max' }), async (steps) => {
        const world = new World(streaming)
        const stop = new AbortController()
        const done = world.informer.run(stop.signal)
        for (const one of steps) {
          await world.play(one)
          world.checkFloors()
        }
        // The server heals: nothing fails any more, and what was said in vain is said again when the watch is begun again.
        world.server.failures.length = 0
        for (let minute = 0; minute < 4; minute++) {
          await world.clock.advance(60_000)
          world.server.bookmark()
        }
        await world.clock.advance(60_000)
        expect(world.shown()).toEqual(world.truth())
        expect(world.informer.pendingWriteCount).toBe(0)
        for (const { known } of world.witnesses) expect(known).toEqual(world.truth())
        stop.abort()
        await done
      }),
      { numRuns: 150 },
    )
  },
)
