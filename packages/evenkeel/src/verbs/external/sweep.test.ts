import { expect, test } from 'vitest'
import { makeOwnershipLabels } from './ownership-labels.ts'
import { ShapeSystem } from './session.fixture.ts'
import { sweep } from './sweep.ts'

type Listed = NonNullable<ShapeSystem['environment']['driver']['list']>

/** A sweep of one object: which objects it enqueues. */
async function swept(system: ShapeSystem, client: object = {}): Promise<readonly string[]> {
  const enqueued: string[] = []
  await sweep({
    environment: system.environment,
    base: { ...system.base, client: { ...system.base.client, ...client } } as never,
    run: { cache: { list: () => [system.object] } } as never,
    enqueue: ({ name }) => {
      enqueued.push(name)
    },
    records: () => Promise.resolve(new Map()),
    needsOf: () => ({}),
    onMissed: () => undefined,
  })
  return enqueued
}

test('a sweep that cannot list enqueues the objects that were not seen for more than two intervals', async () => {
  const list: Listed = () => {
    throw new Error('connection reset')
  }
  const system = new ShapeSystem({ driver: { list } })
  system.environment.observations.of('u1').lastSeenMs = system.clock.monotonic()
  await system.clock.advance(120_000)
  expect(await swept(system)).toEqual([])
  await system.clock.advance(1)
  expect(await swept(system)).toEqual(['foo'])
  expect(await swept(new ShapeSystem({ driver: { list } }))).toEqual(['foo'])
})

test('a sweep asks the server about a thousand orphans, and reports the first hundred', async () => {
  const list: Listed = async function* () {
    const { object, environment } = system
    yield await Promise.resolve(
      Array.from({ length: 1001 }, (_, index) => ({
        id: `s-${String(index).padStart(4, '0')}`,
        observed: {},
        labels: makeOwnershipLabels(
          { ...object, metadata: { name: `n${index}`, uid: `u-${index}` } },
          environment.identity,
        ),
      })),
    )
  }
  const system = new ShapeSystem({ driver: { list } })
  const [asked, reports]: [string[], { report: { orphans: readonly string[] } }[]] = [[], []]
  await swept(system, {
    find: ({ kind }: { kind: string }, { name }: { name: string }) => {
      if (kind === 'Shape') asked.push(name)
      return Promise.resolve(undefined)
    },
    apply: (_: unknown, object: (typeof reports)[number]) => Promise.resolve(reports.push(object)),
  })
  expect([asked.length, reports[0]?.report.orphans.length]).toEqual([1000, 100])
})
