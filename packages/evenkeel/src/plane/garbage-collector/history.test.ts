/**
 * Random histories on a real server, with answers that get lost and collectors that are replaced: whatever happened, in
 * the end the world is as the rules of ownership say.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNotFound } from '#api'
import type { Stored, UnstructuredObject } from '#api'
import { Garden, Leaf, Soil } from './world.fixture.ts'

type Live = Stored<UnstructuredObject>
type Policy = 'Background' | 'Foreground' | 'Orphan'

type Step =
  | {
      readonly act: 'plant'
      readonly kind: 'Soil' | 'Leaf' | 'ConfigMap'
      readonly owners: readonly number[]
      readonly blocking: boolean
      readonly held: boolean
    }
  | { readonly act: 'remove'; readonly at: number; readonly policy: Policy }
  | { readonly act: 'free'; readonly at: number }
  | { readonly act: 'pass'; readonly ms: number }
  | { readonly act: 'replace' }
  /** This request of the collector, and the next ones, go wrong: before the server sees them, or after. */
  | { readonly act: 'fail'; readonly requests: number; readonly isLate: boolean }

const index = fc.nat(30)
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('plant' as const),
      kind: fc.constantFrom('Soil', 'Leaf', 'ConfigMap'),
      owners: fc.array(index, { maxLength: 3 }),
      blocking: fc.boolean(),
      held: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('remove' as const),
      at: index,
      policy: fc.constantFrom<Policy>('Background', 'Foreground', 'Orphan'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('free' as const), at: index }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(0, 1, 20, 1500) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('fail' as const),
      requests: fc.integer({ min: 1, max: 6 }),
      isLate: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: 'replace' as const }) },
)

interface Planted {
  readonly object: Live
  readonly owners: readonly Planted[]
  /** Whether one of them was on its way out before it came: then it is nobody's but garbage, or was just in time. */
  readonly isLate: boolean
  /** By the user, and how, if it was not already going. */
  removed?: Policy
}

const kinds = { Leaf, Soil, ConfigMap: { apiVersion: 'v1', kind: 'ConfigMap' } }
const hold = 'test.dev/hold'

class History {
  readonly garden: Garden
  readonly planted: Planted[] = []
  #failing = { requests: 0, isLate: false }

  constructor(garden: Garden) {
    this.garden = garden
    garden.between = async (request, next) => {
      if (request.target.includes('watch=') || this.#failing.requests === 0) return next(request)
      this.#failing.requests--
      if (this.#failing.isLate) await next(request)
      throw new Error('the connection was lost')
    }
  }

  async run(step: Step): Promise<void> {
    if (step.act === 'plant') await this.#plant(step)
    else if (step.act === 'remove') await this.#remove(step)
    else if (step.act === 'free') await this.#free(this.planted[step.at % this.planted.length])
    else if (step.act === 'pass') await this.garden.clock.advance(step.ms)
    else if (step.act === 'fail') this.#failing = step
    else {
      this.#failing.requests = 0
      await this.garden.stopCollecting()
      await this.garden.collect(`collector ${this.planted.length}`)
    }
  }

  async end(): Promise<void> {
    for (const one of this.planted) await this.#free(one)
    // Failures wait longer each time, lost watches up to a minute.
    for (let second = 0; second < 90; second++) await this.garden.clock.advance(1000)
  }

  async #plant({ kind, owners, blocking, held }: Extract<Step, { act: 'plant' }>): Promise<void> {
    const chosen = [...new Set(owners.map((at) => this.planted[at % Math.max(this.planted.length, 1)]))].filter(
      (one) => one !== undefined,
    )
    const fitting = chosen.filter(({ object }) => kind !== 'Soil' || object.kind === 'Soil')
    const object = await this.garden.plant(`x${this.planted.length}`, {
      kind: kinds[kind],
      owners: fitting.map((one) => one.object),
      blocking,
      finalizers: held ? [hold] : [],
    })
    this.planted.push({ object, owners: fitting, isLate: fitting.some(({ removed }) => removed) })
  }

  async #remove({ at, policy }: Extract<Step, { act: 'remove' }>): Promise<void> {
    const one = this.planted[at % Math.max(this.planted.length, 1)]
    const now = one && (await this.garden.find(one.object))
    if (!one || now?.metadata.uid !== one.object.metadata.uid || now.metadata.deletionTimestamp !== undefined) return
    // The collector may be faster.
    await this.garden.remove(now, policy).then(
      () => {
        one.removed = policy
      },
      (error: unknown) => {
        if (!isNotFound(error)) throw error
      },
    )
  }

  async #free(one: Planted | undefined): Promise<void> {
    const now = one && (await this.garden.find(one.object))
    if (now?.metadata.finalizers?.includes(hold))
      await this.garden.client
        .patch(now, {
          metadata: {
            finalizers: now.metadata.finalizers.filter((name) => name !== hold),
            resourceVersion: now.metadata.resourceVersion,
          },
        })
        .catch(() => this.#free(one))
  }

  async check(): Promise<void> {
    const now = new Map<Planted, Live | undefined>()
    for (const one of this.planted)
      now.set(one, (await this.garden.isGone(one.object)) ? undefined : await this.garden.find(one.object))
    const uids = new Set([...now.values()].map((live) => live?.metadata.uid))
    for (const [
      {
        object: {
          metadata: { name },
        },
        owners,
        isLate,
        removed,
      },
      live,
    ] of now) {
      if (live) {
        expect(removed, `${name} was deleted and nothing holds it`).toBeUndefined()
        expect(live.metadata.deletionTimestamp, `${name} is stuck`).toBeUndefined()
        for (const owner of live.metadata.ownerReferences ?? [])
          expect(uids.has(owner.uid), `${name} belongs to ${owner.name}, which is gone`).toBe(true)
      } else if (!removed) {
        expect(
          owners.filter((owner) => now.get(owner)).map(({ object }) => object.metadata.name),
          `${name} went although some of its owners are there`,
        ).toEqual([])
        expect(
          !isLate && owners.length > 0 && owners.every(wasOrphaning),
          `${name} went although all of its owners let it go`,
        ).toBe(false)
      }
    }
  }
}

/** Went by the user's own wish and nobody else's, without its dependents. */
function wasOrphaning({ owners, removed }: Planted): boolean {
  return removed === 'Orphan' && owners.length === 0
}

test('garbageCollector: after any history what has lost its owners is gone, what has one is there, what was orphaned is there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: 5, maxLength: 40 }), async (steps) => {
      const history = new History(await Garden.start())
      try {
        for (const step of steps) if (history.planted.length > 0 || step.act !== 'free') await history.run(step)
        await history.end()
        await history.check()
      } finally {
        await history.garden.stop()
      }
    }),
    { numRuns: 12 },
  )
})
