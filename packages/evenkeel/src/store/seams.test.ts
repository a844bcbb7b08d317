import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { openMemoryStore } from './memory.ts'

type Anything = (...parameters: unknown[]) => unknown

/** The globals as plain data: nobody here may call them, not even by accident. */
const globals = globalThis as unknown as Record<string, Anything & Record<string, Anything>>

/** Whose call it is: the first file of ours on the stack, behind this one. */
function callerOf(stack: string): string {
  return /\/src\/((?!store\/seams\.test)[\w/-]+)\.ts/.exec(stack)?.[1] ?? 'nobody of ours'
}

const calls: string[] = []

/** Notes who calls, and lets base do what its simulated clock needs. Everybody else gets an error, at once. */
function guard(name: string, target: Record<string, Anything>): void {
  const real = target[name]
  vi.spyOn(target, name).mockImplementation((...parameters) => {
    const caller = callerOf(new Error('here').stack ?? '')
    if (caller.startsWith('base/') && name === 'setImmediate') return real?.apply(target, parameters)
    calls.push(`${name} from ${caller}`)
    throw new Error(`${name} is for base only, called from ${caller}`)
  })
}

beforeEach(() => {
  calls.length = 0
  for (const [home, name] of [
    ['Date', 'now'],
    ['Math', 'random'],
    ['performance', 'now'],
  ] as const)
    guard(name, globals[home] as Record<string, Anything>)
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) guard(name, globals)
})
afterEach(() => {
  vi.restoreAllMocks()
})

test('the guard allows only base', () => {
  for (const [home, name] of [
    ['Date', 'now'],
    ['Math', 'random'],
    ['performance', 'now'],
    ['globalThis', 'setTimeout'],
    ['globalThis', 'setImmediate'],
  ] as const) {
    expect(() => globals[home]?.[name]?.(() => undefined, 1)).toThrow(`${name} is for base only`)
  }
  expect(calls).toHaveLength(5)
})

test('a memory store with a simulated clock and a seeded random touches no real clock and no real chance', async () => {
  const clock = new SimulatedClock()
  const store = openMemoryStore({ clock, random: new SeededRandom(1), historyChangesMax: 50 })
  const watch = store.watch('/', { after: 1 })
  const lease = await store.grant(1_000)
  let expected = 0
  for (let round = 0; round < 200; round++) {
    const result = await store.commit({
      key: '/a',
      value: new Uint8Array(round),
      expect: expected,
      stampAt: 0,
      lease: lease.id,
    })
    expected = result.ok ? result.revision : 0
    if (round % 20 === 0) await store.renew(lease.id)
  }
  await store.range('/')
  await store.hash('')
  const compacting = store.compact(expected)
  await clock.advance(0)
  expect(await compacting).toEqual({ ok: true })
  await clock.advance(10_000)
  expect((await store.get('/a')).ok).toBe(true)
  expect(await store.renew(lease.id)).toBe(false)
  let last = 0
  for await (const { revision, changes } of watch) {
    last = revision
    if (changes.some(({ entry }) => entry === undefined)) break
  }
  expect(last).toBe(expected + 1)
  await store.close()
  expect([clock.pending, calls]).toEqual([0, []])
})

test('the same seed and the same steps give the same store, name by name', async () => {
  const play = async (): Promise<unknown[]> => {
    const store = openMemoryStore({ clock: new SimulatedClock(), random: new SeededRandom('again') })
    const leases = [await store.grant(5_000), await store.grant(6_000)]
    await store.commit({ key: '/a', value: new Uint8Array(3), expect: 0, lease: leases[1]?.id ?? '' })
    const hash = await store.hash('')
    await store.close()
    return [leases, hash]
  }
  expect(await play()).toEqual(await play())
})
