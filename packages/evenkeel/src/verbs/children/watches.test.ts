import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import type { CacheEvent } from '#cache'
import type { PluginRun, Source } from '#controller'
import { Site } from './children.fixture.ts'
import { ChildWatches } from './watches.ts'

/** Watches of a run whose sources can be sent events: the names of the parents that an event enqueues. */
function watching(): {
  watches: ChildWatches
  run: PluginRun
  running: Set<string>
  parentsOf: (object: KubeObject) => readonly string[]
} {
  const running = new Set<string>()
  const handlers = new Map<string, (event: CacheEvent) => unknown>()
  const enqueued: string[] = []
  const clock = new SimulatedClock()
  const run = {
    kind: Site,
    addSource: (source: Source) => {
      running.add(source.name)
      const informer = {
        addIndex: () => undefined,
        addHandler: (handler: (event: CacheEvent) => unknown) => handlers.set(source.name, handler),
      }
      source.start({
        cache: { getInformer: () => informer },
        clock,
        random: new SeededRandom('1'),
        log: createLogger({ clock, sink: () => undefined }),
        enqueue: ({ name }: { name: string }) => enqueued.push(name),
        wantsChanges: () => false,
        onMapError: () => undefined,
        onStaleOwner: () => undefined,
      } as never)
      return {
        remove: () => {
          running.delete(source.name)
          return Promise.resolve()
        },
      }
    },
  } as unknown as PluginRun
  const parentsOf = (object: KubeObject): readonly string[] => {
    const { name = '', namespace } = object.metadata
    const eventKey = { cluster: '', group: '', kind: object.kind, name, namespace }
    handlers.get(`children ${object.kind}`)?.({ type: 'delete', object, key: eventKey } as never)
    return enqueued.splice(0)
  }
  return { watches: new ChildWatches(), run, running, parentsOf }
}

const parent = (name: string): { name: string; namespace: string } => ({ name, namespace: 'a' })
const taken: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: parent('taken') }

test('a watch of a kind stops with the last parent that needs it', async () => {
  const { watches, run, running } = watching()
  const secret = { apiVersion: 'v1', kind: 'Secret' }
  watches.need(run, taken, parent('one'))
  watches.need(run, secret, parent('one'))
  watches.need(run, secret, parent('two'))
  expect([...running]).toEqual(['children ConfigMap', 'children Secret'])
  await watches.setKinds(parent('one'), [])
  expect([...running]).toEqual(['children Secret'])
  await watches.setKinds(parent('two'), [secret])
  expect([...running]).toEqual(['children Secret'])
  await watches.setKinds(parent('two'), [])
  expect(running.size).toBe(0)
})

test('all parents that wait for an object run when it goes, without those that no longer wait', async () => {
  const { watches, run, parentsOf } = watching()
  for (const name of ['one', 'two']) watches.await(run, taken, parent(name))
  expect(parentsOf(taken)).toEqual(['one', 'two'])
  await watches.setKinds(parent('one'), [taken])
  expect(parentsOf(taken)).toEqual(['two'])
  await watches.setKinds(parent('two'), [taken])
  expect(parentsOf(taken)).toEqual([])
})
