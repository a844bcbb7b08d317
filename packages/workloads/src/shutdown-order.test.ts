/** The order in which workloads are stopped. */
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import { array, assert, asyncProperty, nat, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ShutdownOrder, stopInOrder, workloadKey, type StoppableNode } from './shutdown-order.ts'

const graph = (edges: Readonly<Record<string, readonly string[]>>): readonly StoppableNode[] =>
  Object.entries(edges).map(([key, providers]) => ({ key, providers }))

/** Stops that end when the test says so. */
class Stops {
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()

  stop = ({ key }: StoppableNode): Promise<void> => {
    this.begun.push(key)
    return new Promise((resolve) => {
      this.#ends.set(key, resolve)
    })
  }

  /** Ends a stop; returns what has begun by then. */
  async end(...keys: readonly string[]): Promise<readonly string[]> {
    for (const key of keys) this.#ends.get(key)?.()
    await nextTurn(new SystemClock())
    return this.begun
  }
}

describe('W40: stopInOrder', () => {
  test('stops consumers before providers, in parallel where they are independent', async () => {
    const stops = new Stops()
    const done = stopInOrder(graph({ web: ['api'], api: ['db'], worker: ['db'], db: [] }), stops.stop)
    expect(await stops.end()).toEqual(['web', 'worker'])
    expect(await stops.end('web')).toEqual(['web', 'worker', 'api'])
    expect(await stops.end('api')).toEqual(['web', 'worker', 'api'])
    expect(await stops.end('worker')).toEqual(['web', 'worker', 'api', 'db'])
    await stops.end('db')
    await done
  })

  test('one that hangs delays only its providers', async () => {
    const stops = new Stops()
    const done = stopInOrder(graph({ web: ['db'], worker: ['queue'], db: [], queue: [] }), stops.stop)
    expect(await stops.end('worker')).toEqual(['web', 'worker', 'queue'])
    expect(await stops.end('queue')).toEqual(['web', 'worker', 'queue'])
    await stops.end('web')
    await stops.end('db')
    await done
  })

  test('in a hurry everything is stopped at once', async () => {
    const stops = new Stops()
    const hurry = new AbortController()
    const done = stopInOrder(graph({ web: ['api'], api: ['db'], db: [] }), stops.stop, { hurry: hurry.signal })
    expect(await stops.end()).toEqual(['web'])
    hurry.abort()
    expect(await stops.end()).toEqual(['web', 'api', 'db'])
    await stops.end('web', 'api', 'db')
    await done
  })

  test('those that depend on each other are stopped together, after their consumers and before their providers', async () => {
    const stops = new Stops()
    const done = stopInOrder(graph({ web: ['a'], a: ['b'], b: ['a', 'db'], db: [] }), stops.stop)
    expect(await stops.end()).toEqual(['web'])
    expect(await stops.end('web')).toEqual(['web', 'a', 'b'])
    expect(await stops.end('a', 'b')).toEqual(['web', 'a', 'b', 'db'])
    await stops.end('db')
    await done
  })

  test('the error of a stop is that of the whole, after the others have ended', async () => {
    const stops = new Stops()
    const done = stopInOrder(graph({ a: [], b: [] }), ({ key }) =>
      key === 'a' ? Promise.reject(new Error('no')) : stops.stop({ key, providers: [] }),
    )
    const failed = expect(done).rejects.toThrow('no')
    await stops.end('b')
    await failed
  })

  test('without nodes there is nothing to wait for', async () => {
    await stopInOrder([], () => Promise.reject(new Error('never')))
  })
})

type StopNodes = (nodes: readonly StoppableNode[], stop: (node: StoppableNode) => Promise<void>) => Promise<void>

/** The keys from which a node is reached by providers, in any number of steps. */
function consumersOf(key: string, nodes: readonly StoppableNode[]): ReadonlySet<string> {
  const found = new Set<string>()
  const next = [key]
  for (let at = next.pop(); at !== undefined; at = next.pop())
    for (const node of nodes)
      if (node.providers.includes(at) && !found.has(node.key)) {
        found.add(node.key)
        next.push(node.key)
      }
  return found
}

/** Tries graphs of up to eight nodes, with circles: what is wrong with the order, if anything. */
async function findMistake(stopNodes: StopNodes): Promise<unknown> {
  const edges = array(tuple(nat({ max: 7 }), nat({ max: 7 })), { maxLength: 14 })
  try {
    await assert(
      asyncProperty(edges, array(nat({ max: 5 }), { minLength: 8, maxLength: 8 }), async (given, delays) => {
        const nodes = delays.map((_, index) => ({
          key: String(index),
          providers: given.flatMap(([from, to]) => (from === index && to !== index ? [String(to)] : [])),
        }))
        const [begun, ended] = [new Set<string>(), new Set<string>()]
        await stopNodes(nodes, async ({ key }) => {
          expect(begun.has(key)).toBe(false)
          begun.add(key)
          const consumers = consumersOf(key, nodes)
          const mayWaitForEachOther = [...consumers].some((one) => consumersOf(one, nodes).has(key))
          if (!mayWaitForEachOther)
            expect([...consumers].filter((one) => !ended.has(one) && !consumersOf(one, nodes).has(one))).toEqual([])
          for (let turn = 0; turn < (delays[Number(key)] ?? 0); turn++) await Promise.resolve()
          ended.add(key)
        })
        expect(ended.size).toBe(nodes.length)
      }),
      { numRuns: 200 },
    )
    return undefined
  } catch (error) {
    return error
  }
}

describe('W42: the order of a stop, on random graphs', () => {
  test('has no mistake', async () => {
    expect(await findMistake(stopInOrder)).toBeUndefined()
  })

  const mistakes: readonly (readonly [name: string, stopNodes: StopNodes])[] = [
    ['all are stopped at once', async (nodes, stop) => void (await Promise.all(nodes.map(stop)))],
    [
      'one after the other, in the order of the files',
      async (nodes, stop) => {
        for (const node of nodes) await stop(node)
      },
    ],
    [
      'providers first',
      (nodes, stop) =>
        stopInOrder(
          nodes.map(({ key }) => ({
            key,
            providers: nodes.flatMap((node) => (node.providers.includes(key) ? [node.key] : [])),
          })),
          stop,
        ),
    ],
    [
      'what depends on each other is forgotten',
      (nodes, stop) =>
        stopInOrder(
          nodes.filter(({ key }) => !consumersOf(key, nodes).has(key)),
          stop,
        ),
    ],
    [
      'only the first dependency counts',
      (nodes, stop) =>
        stopInOrder(
          nodes.map(({ key, providers }) => ({ key, providers: providers.slice(0, 1) })),
          stop,
        ),
    ],
  ]
  test.each(mistakes)('a planted mistake is found: %s', async (_, stopNodes) => {
    expect(await findMistake(stopNodes)).toBeDefined()
  })
})

describe('ShutdownOrder', () => {
  const key = (kind: string, name: string): string => workloadKey(kind, { name })

  test('finds providers behind a Service and behind a ProcessSet', () => {
    const order = new ShutdownOrder()
    order.declare({ uid: '1', key: key('Process', 'web') }, { providers: [key('Service', 'api')] })
    order.declare({ uid: '2', key: key('Service', 'api') }, { providers: [key('ProcessSet', 'api')] })
    order.declare({ uid: '3', key: key('Process', 'api-0') }, { providers: [], parts: [key('ProcessSet', 'api')] })
    order.declare({ uid: '4', key: key('Process', 'api-1') }, { providers: [], parts: [key('ProcessSet', 'api')] })
    const running = new Set(['web', 'api-0', 'api-1', 'other'].map((name) => key('Process', name)))
    expect(order.providersOf(key('Process', 'web'), running)).toEqual([
      key('Process', 'api-1'),
      key('Process', 'api-0'),
    ])
  })

  test('forgets what is deleted, and knows how each wants to be stopped', () => {
    const order = new ShutdownOrder()
    order.declare({ uid: '1', key: key('Process', 'web') }, { providers: ['db'], signal: 'SIGINT', graceMs: 5 })
    expect(order.planOf(key('Process', 'web'))).toEqual({ signal: 'SIGINT', graceMs: 5 })
    expect(order.keyOf('1')).toBe('Process/default/web')
    order.forget('1')
    expect(order.planOf(key('Process', 'web'))).toEqual({})
    expect(order.providersOf(key('Process', 'web'), new Set(['db']))).toEqual([])
    expect(order.keyOf('1')).toBeUndefined()
  })
})
