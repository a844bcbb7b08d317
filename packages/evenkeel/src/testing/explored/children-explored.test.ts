import { expect, test } from 'vitest'
import { explore } from '../explore.ts'
import { formatReport } from '../report/text.ts'
import type { UserStep } from '../scenario.ts'
import { Box, ConfigMap, oneForEach, Site, sites } from './children.fixture.ts'

/** Hundreds of schedules, on a machine that may be busy. */
const timeoutMs = 600_000
const place = { name: 'a', namespace: 'default' }

const create = (names: string[]): UserStep => ({
  name: `creates Site a with ${names.join(' and ')}`,
  run: (user) => user.create(Site, { metadata: place, spec: { names, text: 'hello' } }),
})
const change = (names: string[]): UserStep => ({
  name: `wants ${names.join(' and ')}`,
  run: async (user) => user.patch(await user.get(Site, place), { spec: { names } }),
})
const remove: UserStep = { name: 'deletes it', run: async (user) => user.delete(await user.get(Site, place)) }

test(
  'children: no single fault makes a child leak, double, vanish or be lied about',
  async () => {
    const steps = [
      create(['x', 'y']),
      change(['y']),
      {
        name: 'deletes a child by hand',
        run: async (user) => user.delete(await user.get(ConfigMap, { ...place, name: 'y' })),
      } satisfies UserStep,
      remove,
    ]
    const explored = await explore({
      controllers: () => [sites(oneForEach) as never],
      scenario: { name: 'children', steps },
    })
    expect(explored.failures.length, formatReport(explored)).toBe(0)
    expect(explored.schedules).toBeGreaterThan(50)
  },
  timeoutMs,
)

test(
  'children elsewhere: the list on the parent survives every crash and lost answer',
  async () => {
    const controllers = (): never[] => [
      sites(
        async (site, { children }) => {
          children.none()
          for (const namespace of site.spec.names ?? [])
            await children.apply(ConfigMap, { metadata: { namespace }, data: { of: site.metadata.name } })
        },
        { owns: [{ kind: ConfigMap, elsewhere: true }] },
      ) as never,
    ]
    const objects = ['b', 'c'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
    const explored = await explore({
      controllers,
      scenario: { name: 'children elsewhere', steps: [create(['b', 'c']), change(['c']), remove], objects },
    })
    expect(explored.failures.length, formatReport(explored)).toBe(0)
  },
  timeoutMs,
)

test(
  'once: no single fault makes a second child for an event, loses one or leaves a condition that has passed',
  async () => {
    const controllers = (): never[] => [
      sites(
        async (site, { children }) => {
          for (const key of site.spec.names ?? [])
            await children.once(ConfigMap, { data: { key } }, { key, keep: { Complete: 1 } })
        },
        { owns: [ConfigMap] },
      ) as never,
    ]
    const explored = await explore({
      controllers,
      scenario: { name: 'children once', steps: [create(['x']), change(['y']), change(['z']), remove] },
    })
    expect(explored.failures.length, formatReport(explored)).toBe(0)
    expect(explored.schedules).toBeGreaterThan(50)
  },
  timeoutMs,
)

test(
  'F7b: no single fault leaves ChildrenReady as it was when a child is applied by the first run only',
  async () => {
    const controllers = (): never[] => [
      sites(
        async (_, { children }) => {
          if (children.list().length === 0)
            await children.apply(Box, { metadata: { name: 'box' }, spec: {} }, { prune: false })
        },
        { owns: [Box] },
      ) as never,
    ]
    const becomesReady: UserStep = {
      name: 'the box becomes ready',
      run: async (user) => {
        const conditions = [
          { type: 'Ready', status: 'True', reason: 'Said', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ] as const
        return user.patchStatus(await user.get(Box, { ...place, name: 'box' }), { conditions })
      },
    }
    const explored = await explore({
      controllers,
      scenario: { name: 'applied once', steps: [create([]), becomesReady, remove] },
    })
    expect(explored.failures.length, formatReport(explored)).toBe(0)
  },
  timeoutMs,
)
