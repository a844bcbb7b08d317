import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineKind, type KubeObject } from '#api'
import { DriverCalls } from './calls.ts'
import type { Capabilities, Driver, Observation } from './driver.ts'
import { takeInventory, type Inventory } from './inventory.ts'
import { makeOwnershipLabels, resourceNameFor } from './ownership-labels.ts'
import { settingsOf } from './policy.ts'
import { ObservationCache, type ExternalEnvironment } from './session.ts'

const Shape = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Shape',
  spec: { type: 'object', properties: { color: { type: 'string' } } },
  status: { type: 'object', properties: {} },
  reports: ['external'],
})

function environmentOf(capabilities: Capabilities = { labels: 'atomicOnCreate' }): ExternalEnvironment {
  const driver = { name: 'shapes', capabilities, desired: ({ spec }: { spec: unknown }) => spec } as unknown as Driver
  return {
    driver,
    kind: Shape,
    strategy: 'S2',
    settings: settingsOf({ instance: 'here', secret: 's' }),
    calls: new DriverCalls(driver),
    observations: new ObservationCache(),
    identity: { instance: 'here', kind: Shape, secret: 's' },
    hasStatus: true,
  }
}

function objectOf(uid: string): KubeObject {
  return {
    apiVersion: Shape.apiVersion,
    kind: 'Shape',
    metadata: { name: `n-${uid}`, namespace: 'default', uid },
    spec: { color: 'red' },
    status: { external: { lastObservedTime: '2026-01-01T00:00:00Z' } },
  } as KubeObject
}

function resourceOf(id: string, uid: string, color = 'red'): Observation<unknown> {
  return { id, observed: { color }, labels: makeOwnershipLabels(objectOf(uid), environmentOf().identity) }
}

function inventoryOf(
  observations: readonly Observation<unknown>[],
  uids: readonly string[],
  environment: ExternalEnvironment = environmentOf(),
): Inventory {
  return takeInventory(observations, {
    environment,
    objects: uids.map(objectOf),
    records: new Map(uids.map((uid) => [uid, { id: `t-${uid}`, observedGeneration: 1 }])),
    nowMs: 1_767_225_600_000,
  })
}

test('takeInventory sorts resources by owner', () => {
  const found = inventoryOf(
    [
      resourceOf('t-a', 'a'),
      resourceOf('t-b', 'b', 'blue'),
      resourceOf('t-x', 'x'),
      { id: 'foreign', observed: {} },
      { ...resourceOf('forged', 'y'), labels: { ...(resourceOf('forged', 'y').labels as object), seal: 'no' } },
    ],
    ['a', 'b', 'c'],
  )
  expect(found).toMatchObject({ expected: 3, inSync: ['a'], suspicious: ['forged'] })
  expect(found.changed.map(({ metadata: { uid } }) => uid)).toEqual(['b'])
  expect(found.missing.map(({ metadata: { uid } }) => uid)).toEqual(['c'])
  expect(found.orphans.map(({ observation: { id } }) => id)).toEqual(['t-x'])
  expect(found.foreign.map(({ id }) => id)).toEqual(['foreign'])
})

test('takeInventory finds duplicates, and derived names where there are no labels', () => {
  expect(inventoryOf([resourceOf('t-a', 'a'), resourceOf('copy', 'a')], ['a']).duplicates).toEqual(
    new Map([['a', ['copy', 't-a']]]),
  )
  const parts = environmentOf({ ids: 'deterministic' })
  const named = inventoryOf(
    [
      { id: resourceNameFor(parts.identity, 'a'), observed: { color: 'red' } },
      { id: resourceNameFor(parts.identity, 'gone'), observed: {} },
      { id: 'other', observed: {} },
    ],
    ['a'],
    parts,
  )
  expect(named.inSync).toEqual(['a'])
  expect(named.orphans.map(({ observation: { id } }) => id)).toEqual([resourceNameFor(parts.identity, 'gone')])
  expect(named.foreign.map(({ id }) => id)).toEqual(['other'])
})

test('takeInventory never reports a resource of an existing object, or one in a record, as orphan or foreign', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  fc.assert(
    fc.property(
      fc.uniqueArray(uid),
      fc.array(fc.tuple(uid, fc.constantFrom('t', 'u'), fc.boolean())),
      (alive, made) => {
        const observations = made.map(([each, prefix, isLabelled]) =>
          isLabelled ? resourceOf(`${prefix}-${each}`, each) : { id: `${prefix}-${each}`, observed: {} },
        )
        const found = inventoryOf(
          [...new Map(observations.map((observation) => [observation.id, observation])).values()],
          alive,
        )
        for (const { labels, observation } of found.orphans)
          expect(
            alive.some((each) => each === labels?.uid) || alive.some((each) => observation.id === `t-${each}`),
          ).toBe(false)
        for (const { id } of found.foreign) expect(alive.some((each) => id === `t-${each}`)).toBe(false)
        expect(found.missing.length + found.changed.length + found.inSync.length).toBeLessThanOrEqual(found.expected)
      },
    ),
  )
})

test('takeInventory finds an object stale one poll interval before its status is too old', () => {
  const environment = environmentOf()
  const { maxAgeMs, sweepMs } = environment.settings
  const staleAfter = (ms: number): number =>
    takeInventory([resourceOf('t-a', 'a')], {
      environment,
      objects: [objectOf('a')],
      records: new Map([['a', { id: 't-a', observedGeneration: 1 }]]),
      nowMs: 1_767_225_600_000 + ms,
    }).stale.length
  expect([staleAfter(maxAgeMs - sweepMs - 1), staleAfter(maxAgeMs - sweepMs)]).toEqual([0, 1])
})
