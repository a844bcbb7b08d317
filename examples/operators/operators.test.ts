/**
 * The programs in this process: each test runs them on its own plane.
 */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { findCondition, isOwnedBy, type RunOptions } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import { Manager } from 'evenkeel/controller'
import { startTestPlane } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { SeededRandom } from 'evenkeel/unstable/base'

const asked = vi.hoisted(() => [] as unknown[])
vi.mock('evenkeel', async (original) => ({
  ...(await original<object>()),
  run: (options: unknown) => {
    asked.push(options)
  },
}))
await import('./minimal.ts')
await import('./time-driven.ts')
await import('./hybrid.ts')
await import('./one-shot.ts')
await import('./leader-elected.ts')
const [minimal, timeDriven, hybrid, oneShot, leaderElected] = asked as [
  RunOptions,
  RunOptions,
  RunOptions,
  RunOptions,
  RunOptions,
]

afterEach(() => {
  vi.unstubAllGlobals()
})

const start = ({ controllers }: RunOptions): Promise<TestPlane> => startTestPlane({ controllers, simulated: true })
const place = { name: 'a', namespace: 'default' }
const object = (
  kind: string,
  spec: object,
  name = 'a',
): { apiVersion: string; kind: string; metadata: { name: string; namespace: string }; spec: object } => ({
  apiVersion: 'demo.example.com/v1',
  kind,
  metadata: { ...place, name },
  spec,
})

type Read = Awaited<ReturnType<Client['get']>> & {
  readonly status?: {
    readonly words?: number
    readonly number?: number
    readonly bytes?: number
    readonly conditions?: Parameters<typeof findCondition>[0]
  }
}
const read = async ({ client }: TestPlane, kind: string, name = 'a'): Promise<Read> =>
  (await client.get({ apiVersion: 'demo.example.com/v1', kind }, { ...place, name })) as Read

test('minimal: the status reflects the spec, and again after a change', async () => {
  await using plane = await start(minimal)
  const note = await plane.client.create(object('Note', { text: 'three short words' }))
  await plane.until(async () => (await read(plane, 'Note')).status?.words === 3)
  await plane.client.patch(note, { spec: { text: 'two words' } })
  await plane.until(async () => (await read(plane, 'Note')).status?.words === 2)
})

describe('time-driven', () => {
  const drawn = async ({ client }: TestPlane): Promise<string | undefined> =>
    (await client.find(Secret, place))?.data?.['password']

  test('a password is generated every minute, and not in between', async () => {
    await using plane = await start(timeDriven)
    const parent = await plane.client.create(object('Password', { everySeconds: 60 }))
    await plane.until(async () => (await drawn(plane)) !== undefined)
    const first = await drawn(plane)
    expect(isOwnedBy(await plane.client.get(Secret, place), parent)).toBe(true)
    await plane.advance(55_000)
    expect(await drawn(plane)).toBe(first)
    await plane.advance(10_000)
    const second = await drawn(plane)
    expect(second).not.toBe(first)
    await plane.advance(60_000)
    expect(await drawn(plane)).not.toBe(second)
  })

  test('a deleted password is generated immediately: events do not wait for the timer', async () => {
    await using plane = await start(timeDriven)
    await plane.client.create(object('Password', {}))
    await plane.until(async () => (await drawn(plane)) !== undefined)
    const first = await drawn(plane)
    await plane.client.delete(await plane.client.get(Secret, place))
    await plane.until(async () => ![undefined, first].includes(await drawn(plane)))
  })
})

describe('hybrid', () => {
  test('an external change is copied with the next poll, and a changed copy is restored immediately', async () => {
    let page = 'one'
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(page)))
    await using plane = await start(hybrid)
    const copy = async (): Promise<string | undefined> => (await plane.client.find(ConfigMap, place))?.data?.['text']
    await plane.client.create(object('Mirror', { url: 'http://page.example.com' }))
    await plane.until(async () => (await copy()) === 'one')
    page = 'two'
    await plane.advance(20_000)
    expect(await copy()).toBe('one')
    await plane.advance(11_000)
    expect(await copy()).toBe('two')
    await plane.client.patch(await plane.client.get(ConfigMap, place), { data: { text: 'spoilt' } })
    await plane.until(async () => (await copy()) === 'two', { timeoutMs: 1_000 })
  })

  test('an unavailable page is retried, and the copy stays', async () => {
    let isDown = true
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('here', { status: isDown ? 503 : 200 })))
    await using plane = await start(hybrid)
    await plane.client.create(object('Mirror', { url: 'http://page.example.com' }))
    await plane.advance(5_000)
    expect(await plane.client.find(ConfigMap, place)).toBeUndefined()
    isDown = false
    await plane.advance(10_000)
    expect((await plane.client.get(ConfigMap, place)).data).toEqual({ text: 'here' })
    isDown = true
    await plane.advance(120_000)
    expect((await plane.client.get(ConfigMap, place)).data).toEqual({ text: 'here' })
  })
})

describe('one-shot', () => {
  const isComplete = async (plane: TestPlane, name = 'a'): Promise<boolean> =>
    findCondition((await read(plane, 'Migration', name)).status?.conditions, 'Complete')?.status === 'True'

  test('waits for its database, migrates it once, and never again', async () => {
    await using plane = await start(oneShot)
    await plane.client.create(object('Migration', { database: 'shop' }))
    await plane.until(async () => (await read(plane, 'Migration')).status?.conditions !== undefined)
    expect(await isComplete(plane)).toBe(false)
    await plane.client.create(ConfigMap, { metadata: { name: 'shop' }, data: { price: '5', name: 'tea' } })
    await plane.until(() => isComplete(plane))
    const done = await plane.client.get(ConfigMap, { name: 'shop' })
    expect(done.data).toEqual({ price: '500', name: 'tea', currency: 'CHF', unit: 'Rappen', version: '2' })
    // After a second object, a lost status and ten minutes, the amount is unchanged.
    await plane.client.create(object('Migration', { database: 'shop' }, 'b'))
    await plane.client.patchStatus(await read(plane, 'Migration'), { conditions: null })
    await plane.until(async () => (await isComplete(plane)) && isComplete(plane, 'b'))
    await plane.advance(600_000)
    expect((await plane.client.get(ConfigMap, { name: 'shop' })).data).toEqual(done.data)
  })

  test('continues from the current version', async () => {
    await using plane = await start(oneShot)
    await plane.client.create(ConfigMap, {
      metadata: { name: 'shop' },
      data: { price: '5', currency: 'EUR', version: '1' },
    })
    await plane.client.create(object('Migration', { database: 'shop' }))
    await plane.until(() => isComplete(plane))
    expect((await plane.client.get(ConfigMap, { name: 'shop' })).data).toEqual({
      price: '500',
      currency: 'EUR',
      unit: 'Rappen',
      version: '2',
    })
  })
})

describe('leader-elected', () => {
  /** Replicas of the program on one plane; each reports how it ended. */
  function replicas(
    { plane, clock }: TestPlane,
    count: number,
  ): { states: string[]; stops: AbortController[]; ended: Promise<unknown> } {
    const states: string[] = []
    const stops = Array.from({ length: count }, () => new AbortController())
    const { controllers, name = '' } = leaderElected
    const runs = stops.map((stop, index) =>
      new Manager({
        name,
        controllers,
        transport: plane.transport,
        clock,
        random: new SeededRandom(String(index)),
        leaderElection: {
          ...leaderElected.leaderElection,
          namespace: 'default',
          identity: `copy-${index}`,
          onState: ({ state }) => {
            states.push(`${index} ${state}`)
          },
        },
      }).run(stop.signal),
    )
    return { states, stops, ended: Promise.all(runs) }
  }

  test('three replicas assign unique numbers, also after the leader ends', async () => {
    await using plane = await startTestPlane({
      kinds: leaderElected.controllers.map(({ for: kind }) => kind),
      simulated: true,
    })
    const { states, stops, ended } = replicas(plane, 3)
    const isNumbered = (name: string) => async (): Promise<boolean> =>
      (await read(plane, 'Ticket', name)).status?.number !== undefined
    const names = Array.from({ length: 20 }, (_, index) => `t${index}`)
    for (const name of names.slice(0, 10)) await plane.client.create(object('Ticket', { who: name }, name))
    for (const name of names.slice(0, 10)) await plane.until(isNumbered(name))
    const [leader] = states.filter((state) => state.endsWith('leading'))
    stops[Number(leader?.[0])]?.abort()
    for (const name of names.slice(10)) await plane.client.create(object('Ticket', { who: name }, name))
    for (const name of names) await plane.until(isNumbered(name), { timeoutMs: 60_000 })
    const numbers = await Promise.all(
      names.map(async (name) => (await read(plane, 'Ticket', name)).status?.number ?? 0),
    )
    expect(numbers.sort((a, b) => a - b)).toEqual(names.map((_, index) => index + 1))
    expect(states.filter((state) => state.endsWith('leading'))).toHaveLength(2)
    for (const stop of stops) stop.abort()
    await plane.advance(60_000)
    await ended
  })
})
