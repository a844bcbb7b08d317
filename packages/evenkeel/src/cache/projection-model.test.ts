/**
 * Random holders of random forms on one cache: each must see what a cache of its own would have shown it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { declareKind, type JsonObject, type KubeObject } from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import { metadataOnly } from '#client'
import { ObjectCache } from './cache.ts'
import { FakeApi } from './fake-api.fixture.ts'
import type { Widget as WidgetObject } from './fake-server.fixture.ts'
import { pick, projectedPaths, projectionId, projectPaths, type CacheKind } from './projection.ts'

const Widget = declareKind<WidgetObject>({ group: 'test.dev', version: 'v1', kind: 'Widget' })
const forms: readonly CacheKind[] = [
  Widget,
  metadataOnly(Widget),
  pick(Widget, ['spec.size']),
  pick(Widget, ['spec.tags']),
  pick(Widget, ['spec']),
]

type Step =
  | { readonly do: 'hold' | 'release'; readonly form: number }
  | { readonly do: 'put' | 'remove'; readonly name: string; readonly size: number }
  | { readonly do: 'wait' }

const form = fc.nat({ max: forms.length - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('hold' as const, 'release' as const), form }),
  fc.record({
    do: fc.constantFrom('put' as const, 'remove' as const),
    name: fc.constantFrom('a', 'b', 'c'),
    size: fc.nat({ max: 9 }),
  }),
  fc.constant({ do: 'wait' as const }),
)

interface Held {
  readonly kind: CacheKind
  readonly release: () => Promise<void>
  /** What its handler believes, from events alone. */
  readonly heard: Map<string, KubeObject>
}

function hold(cache: ObjectCache, kind: CacheKind): Held {
  const heard = new Map<string, KubeObject>()
  const holding = cache.getInformer(kind)
  holding.addHandler(({ type, object, key }) => {
    if (type === 'delete') heard.delete(key.name)
    else heard.set(key.name, object)
  })
  return { kind, heard, release: () => holding.release() }
}

function shownTo(kind: CacheKind, api: FakeApi): unknown[] {
  const paths = projectedPaths(kind)
  return [...api.server.objects.values()]
    .map((object) => (paths ? projectPaths(object as unknown as JsonObject, paths) : object))
    .sort(byName)
}

function byName(a: unknown, b: unknown): number {
  return (a as KubeObject).metadata.name === (b as KubeObject).metadata.name
    ? 0
    : String((a as KubeObject).metadata.name) < String((b as KubeObject).metadata.name)
      ? -1
      : 1
}

test('View: holders of any forms, in any order, see what they would see alone, and no form is watched twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const [api, clock, stop] = [new FakeApi(), new SimulatedClock(), new AbortController()]
      const cache = new ObjectCache({ client: api.client(clock), clock, random: new SeededRandom('views') })
      const running = cache.run(stop.signal)
      const holders: Held[] = []
      for (const one of [...steps, { do: 'wait' as const }]) {
        if (one.do === 'hold') holders.push(hold(cache, forms[one.form] ?? Widget))
        else if (one.do === 'release') await holders.splice(one.form, 1)[0]?.release()
        else if (one.do === 'put') api.server.put(one.name, { size: one.size, tags: [one.name] })
        else if (one.do === 'remove') api.server.remove(one.name)
        else await clock.advance(1000)
      }
      for (const { kind, heard } of holders) {
        const expected = shownTo(kind, api)
        expect(cache.list(kind).sort(byName)).toEqual(expected)
        expect([...heard.values()].sort(byName)).toEqual(expected)
      }
      const watched = cache.states.map((state) => state.form)
      expect(new Set(watched).size).toBe(watched.length)
      expect(cache.states.reduce((sum, state) => sum + state.holders, 0)).toBe(holders.length)
      expect(watched.length).toBeLessThanOrEqual(new Set(holders.map(({ kind }) => projectionId(kind))).size)
      stop.abort()
      await running
      expect(clock.pending).toBe(0)
    }),
    { numRuns: 100 },
  )
})
