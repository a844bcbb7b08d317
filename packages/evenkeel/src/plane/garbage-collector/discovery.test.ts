import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLogger, SimulatedClock } from '#base'
import type { Client, DiscoveredResource } from '#client'
import { Discovery, selectFollowed } from './monitors.ts'

function resource(
  kind: string,
  {
    group = 'test.dev',
    version = 'v1',
    verbs = ['list', 'watch', 'delete'],
  }: { group?: string; version?: string; verbs?: string[] } = {},
): DiscoveredResource {
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    group,
    version,
    kind,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    namespaced: true,
    verbs,
    shortNames: [],
    categories: [],
    subresources: [],
  }
}

let clock: SimulatedClock
let served: DiscoveredResource[] | Error
let asked: number[]
let reported: string[]
let discovery: Discovery
let stopping: AbortController
let running: Promise<void>

beforeEach(async () => {
  clock = new SimulatedClock()
  served = [resource('A')]
  asked = []
  reported = []
  const client = {
    resources: () => {
      asked.push(clock.monotonic())
      return served instanceof Error ? Promise.reject(served) : Promise.resolve(served)
    },
  } as unknown as Client
  const onResources = (resources: readonly DiscoveredResource[]): Promise<void> => {
    reported.push(resources.map(({ kind }) => kind).join(' '))
    return Promise.resolve()
  }
  discovery = new Discovery({ client, clock, log: silentLogger, periodMs: 30_000, onResources })
  stopping = new AbortController()
  running = discovery.run(stopping.signal)
  await clock.advance(0)
})

afterEach(async () => {
  stopping.abort()
  await running
  expect(clock.pending).toBe(0)
})

test('Discovery asks once in a period, and tells of what changed, and once more when it stayed so', async () => {
  await clock.advance(90_000)
  expect(asked).toEqual([0, 30_000, 60_000, 90_000])
  expect(reported).toEqual(['A', 'A'])
  served = [resource('B')]
  await clock.advance(90_000)
  expect(reported).toEqual(['A', 'A', 'B', 'B'])
  expect([discovery.has(resource('A')), discovery.has(resource('B'))]).toEqual([false, true])
})

test('Discovery asks soon after a change, and again a little later, however many changes there are', async () => {
  for (let at = 0; at < 100; at++) discovery.hurry()
  await clock.advance(20)
  discovery.hurry()
  await clock.advance(29_980)
  expect(asked).toEqual([0, 50, 1050, 6050])
  expect(reported).toEqual(['A'])
  await clock.advance(6050)
  expect(reported).toEqual(['A', 'A'])
})

test('Discovery tries again soon after a failure, then once in a period, and forgets nothing', async () => {
  served = new Error('down')
  await clock.advance(100_000)
  expect(asked).toEqual([0, 30_000, 31_000, 36_000, 66_000, 96_000])
  served = []
  await clock.advance(30_000)
  expect(discovery.has(resource('A'))).toBe(true)
  served = [resource('A'), resource('B')]
  await clock.advance(30_000)
  expect(reported).toEqual(['A', 'A B'])
})

test('selectFollowed takes each resource once, in the first version, if it can be listed, watched and deleted', () => {
  const all = [
    resource('A', { version: 'v2' }),
    resource('A'),
    resource('B', { verbs: ['get', 'list'] }),
    resource('Event', { group: '' }),
    resource('Event', { group: 'events.k8s.io' }),
    resource('Event'),
  ]
  expect(selectFollowed(all).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    'test.dev/v2 A',
    'test.dev/v1 Event',
  ])
})
