/**
 * Random lives of objects against a controller that fails at random: whatever happens, the last change of every key is
 * followed by a completed reconcile that saw it, and no key is worked on twice at once.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serviceUnavailable, staleVersion } from '#api'
import { sleep } from '#base'
import { TerminalError } from './errors.ts'
import { Gadget, Widget, World } from './world.fixture.ts'

const names = ['one', 'two', 'three'] as const

type Step =
  | { readonly do: 'spec' | 'label' | 'child' | 'remove'; readonly name: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'hold' | 'release' | 'cut' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('spec' as const, 'label' as const, 'child' as const, 'remove' as const),
      name: fc.constantFrom(...names),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 7, 100, 3000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'release' as const, 'cut' as const) }) },
)

/** How a run ends, drawn in order; when they are used up, all is well. */
const endings = ['ok', 'ok', 'throw', 'text', 'slow', 'conflict', 'after', 'park', 'status', 'refused'] as const

interface Model {
  readonly world: World
  readonly active: Set<string>
  readonly violations: string[]
  /** The version that the last completed run of a name saw; `gone` when it saw none. */
  readonly seen: Map<string, string>
}

async function life(steps: readonly Step[], outcomes: readonly (typeof endings)[number][]): Promise<Model> {
  const world = new World()
  const model: Model = { world, active: new Set(), violations: [], seen: new Map() }
  const left = [...outcomes]
  let isHealed = false
  world.api.before = ({ verb, subresource }) =>
    !isHealed && subresource === 'status' && verb === 'patch' && left[0] === 'refused'
      ? serviceUnavailable('no')
      : undefined
  await world.start({
    for: Widget,
    owns: [Gadget],
    concurrency: 2,
    resyncMs: 0,
    backoff: { maxMs: 1000 },
    cleanup: () => undefined,
    reconcile: async ({ metadata: { name, resourceVersion }, spec }, { status, clock, signal }) => {
      if (model.active.has(name)) model.violations.push(`two at once: ${name}`)
      model.active.add(name)
      const ending = left.shift() ?? 'ok'
      try {
        if (ending === 'slow') await sleep(clock, 50, { signal })
        else await Promise.resolve()
        if (ending === 'throw') throw new Error('no')
        if (ending === 'text') await Promise.reject('no' as unknown as Error)
        if (ending === 'conflict') throw staleVersion({ group: 'test.dev', kind: 'widgets', name })
        if (ending === 'status' || ending === 'refused') status.set({ seen: spec.size ?? 0 })
        model.seen.set(name, resourceVersion)
      } finally {
        model.active.delete(name)
      }
      return ending === 'after' ? { afterMs: 20 } : ending === 'park' ? { park: 'a change' } : undefined
    },
  })
  for (const [index, one] of steps.entries()) await take(world, one, index)
  isHealed = true
  world.api.release()
  await world.clock.advance(200_000)
  return model
}

async function take({ api, clock, cache }: World, one: Step, index: number): Promise<void> {
  switch (one.do) {
    case 'spec':
      api.put(Widget, one.name, { spec: { size: index } })
      return
    case 'label':
      if (api.find(Widget, one.name)) api.put(Widget, one.name, { metadata: { labels: { step: String(index) } } })
      return
    case 'child': {
      const owner = api.find(Widget, one.name)
      if (owner)
        api.put(Gadget, one.name, {
          metadata: {
            ownerReferences: [
              {
                apiVersion: owner.apiVersion,
                kind: owner.kind,
                name: one.name,
                uid: owner.metadata.uid,
                controller: true,
              },
            ],
          },
          spec: { size: index },
        })
      return
    }
    case 'remove':
      api.remove(Widget, one.name)
      return
    case 'wait':
      await clock.advance(one.ms)
      return
    case 'hold':
      api.hold()
      return
    case 'release':
      api.release()
      return
    case 'cut':
      api.cut()
      cache.wake(Widget)
      return
  }
}

test('Controller: the last change of every key is followed by a completed reconcile that saw it; never two at once per key', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(fc.constantFrom(...endings), { maxLength: 20 }),
      async (steps, outcomes) => {
        const { world, violations, seen } = await life(steps, outcomes)
        expect(violations).toEqual([])
        for (const name of names) {
          const object = world.api.find(Widget, name)
          // Status is written after the run has looked; what it wrote is looked at once more.
          if (object) expect([name, seen.get(name)]).toEqual([name, object.metadata.resourceVersion])
          expect([name, object?.metadata.deletionTimestamp]).toEqual([name, undefined])
        }
        await world.stop()
        expect(world.clock.pending).toBe(0)
      },
    ),
    { numRuns: 100 },
  )
})

test('Controller: a terminal error is the one thing that is not followed up, until something changes', async () => {
  const world = new World()
  let runs = 0
  await world.start({
    for: Widget,
    resyncMs: 0,
    reconcile: () => {
      runs++
      throw new TerminalError('never')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(10_000_000)
  expect(runs).toBe(1)
  await world.stop()
})
