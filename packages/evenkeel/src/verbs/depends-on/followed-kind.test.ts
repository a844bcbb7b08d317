import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { KindFinder } from './followed-kind.ts'

const choice = { group: 'x.dev', kind: 'Thing' }
const served = {
  apiVersion: 'x.dev/v1',
  group: 'x.dev',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
  verbs: ['list', 'watch'],
}

function finder(): {
  clock: SimulatedClock
  loads: boolean[]
  find: (options?: { fresh?: boolean }) => Promise<string | undefined>
  resources: object[]
} {
  const clock = new SimulatedClock()
  const kinds = new KindFinder({ clock })
  const [loads, resources] = [[] as boolean[], [] as object[]]
  const client = {
    resources: ({ reload = false } = {}) => {
      loads.push(reload)
      return Promise.resolve(resources)
    },
  } as never
  return {
    clock,
    loads,
    resources,
    find: async (options = {}) => (await kinds.find(choice, { client, ...options }))?.apiVersion,
  }
}

test('KindFinder asks the known discovery first and reloads it at most every 5 s', async () => {
  const { clock, loads, resources, find } = finder()
  expect(await find()).toBeUndefined()
  expect(loads.splice(0)).toEqual([false, true])
  await clock.advance(4999)
  expect(await find()).toBeUndefined()
  expect(loads.splice(0)).toEqual([false])
  await clock.advance(1)
  resources.push(served)
  expect(await find()).toBe('x.dev/v1')
  expect(loads).toEqual([false])
})

test('KindFinder with fresh ignores the known discovery, also at most every 5 s', async () => {
  const { clock, loads, resources, find } = finder()
  resources.push(served)
  expect(await find({ fresh: true })).toBe('x.dev/v1')
  expect(await find({ fresh: true })).toBeUndefined()
  await clock.advance(5000)
  expect(await find({ fresh: true })).toBe('x.dev/v1')
  expect(loads).toEqual([true, true])
})

test.each([
  ['another group', { group: 'y.dev' }],
  ['another kind', { kind: 'Other' }],
  ['no list', { verbs: ['get', 'watch'] }],
  ['no watch', { verbs: ['list'] }],
])('KindFinder does not find a resource with %s', async (_, change) => {
  const { resources, find } = finder()
  resources.push({ ...served, ...change })
  expect(await find()).toBeUndefined()
})
