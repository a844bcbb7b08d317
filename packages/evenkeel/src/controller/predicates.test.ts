import { describe, expect, test } from 'vitest'
import {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  type Predicate,
} from './predicates.ts'
import { ConfigMap, Widget, World } from './world.fixture.ts'

/** What passes a predicate, in the order of a widget's life. */
async function passed(predicate: Predicate, { resync = false } = {}): Promise<string[]> {
  const world = new World()
  const seen: string[] = []
  await world.start({
    for: Widget,
    predicates: [predicate],
    resyncMs: resync ? 1000 : 0,
    reconcileKey: (_, { causes }) => {
      seen.push(causes.map(({ type }) => type).join())
    },
  })
  const steps: Record<string, () => unknown> = {
    create: () => world.api.put(Widget, 'one', { metadata: { finalizers: ['x/y'] }, spec: { size: 1 } }),
    spec: () => world.api.put(Widget, 'one', { spec: { size: 2 } }),
    status: () => world.api.put(Widget, 'one', { status: { phase: 'A' } }),
    label: () => world.api.put(Widget, 'one', { metadata: { labels: { a: 'b' } } }),
    annotation: () => world.api.put(Widget, 'one', { metadata: { annotations: { a: 'b' } } }),
    ...(resync && { resync: () => world.clock.advance(1200) }),
    deleting: () => world.api.remove(Widget, 'one'),
    gone: () => world.api.put(Widget, 'one', { metadata: { finalizers: null } }),
  }
  const names: string[] = []
  for (const [name, step] of Object.entries(steps)) {
    const before = seen.length
    await step()
    await world.clock.advance(0)
    if (seen.length > before) names.push(name)
  }
  await world.stop()
  return names
}

describe('predicates let pass what comes, goes and begins to go, and', () => {
  test.each<[string, Predicate, string[]]>([
    ['generationChanged a new spec', generationChanged, ['spec']],
    ['labelsChanged other labels', labelsChanged, ['label']],
    ['annotationsChanged other annotations', annotationsChanged, ['annotation']],
    ['resourceVersionChanged every change', resourceVersionChanged, ['spec', 'status', 'label', 'annotation']],
    ['or any of them', or(labelsChanged, annotationsChanged), ['label', 'annotation']],
    ['and what all of them do', and(resourceVersionChanged, generationChanged), ['spec']],
    ['not the opposite', not(generationChanged), ['status', 'label', 'annotation']],
  ])('%s', async (_, predicate, expected) => {
    expect((await passed(predicate)).filter((name) => name !== 'create')).toEqual([...expected, 'deleting', 'gone'])
  })
})

test('52 a resync does not pass generationChanged', async () => {
  expect(await passed(generationChanged, { resync: true })).toEqual(['create', 'spec', 'deleting', 'gone'])
  expect(await passed(() => true, { resync: true })).toContain('resync')
})

test('52 the deletion of a ConfigMap, whose generation is 0, is not missed', async () => {
  const world = new World()
  let runs = 0
  await world.start({
    for: ConfigMap,
    predicates: [generationChanged],
    reconcileKey: () => {
      runs++
    },
  })
  world.api.put(ConfigMap, 'one', { metadata: { finalizers: ['x/y'] }, data: {} })
  await world.clock.advance(0)
  world.api.remove(ConfigMap, 'one')
  await world.clock.advance(0)
  expect(runs).toBe(2)
  world.api.put(ConfigMap, 'two', { data: { a: '1' } })
  await world.clock.advance(0)
  world.api.put(ConfigMap, 'two', { data: { a: '2' } })
  await world.clock.advance(0)
  expect(runs).toBe(4)
  await world.stop()
})

test('not and or drop neither additions nor deletions', async () => {
  expect(await passed(not(generationChanged))).toEqual(['create', 'status', 'label', 'annotation', 'deleting', 'gone'])
  expect(await passed(not(not(generationChanged)))).toContain('spec')
  expect(await passed(or(labelsChanged, not(or(() => true))))).toEqual(['create', 'label', 'deleting', 'gone'])
})
