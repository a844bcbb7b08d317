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

function partsOf(capabilities: Capabilities = { labels: 'atomicOnCreate' }): ExternalEnvironment {
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

function thingOf(id: string, uid: string, color = 'red'): Observation<unknown> {
  return { id, observed: { color }, labels: makeOwnershipLabels(objectOf(uid), partsOf().identity) }
}

function census(
  observations: readonly Observation<unknown>[],
  uids: readonly string[],
  parts: ExternalEnvironment = partsOf(),
): Inventory {
  return takeInventory(observations, {
    environment: parts,
    objects: uids.map(objectOf),
    records: new Map(uids.map((uid) => [uid, { id: `t-${uid}`, observedGeneration: 1 }])),
    nowMs: 1_767_225_600_000,
  })
}

test('takeCensus sorts things by whose they are', () => {
  const found = census(
    [
      thingOf('t-a', 'a'),
      thingOf('t-b', 'b', 'blue'),
      thingOf('t-x', 'x'),
      { id: 'foreign', observed: {} },
      { ...thingOf('forged', 'y'), labels: { ...(thingOf('forged', 'y').labels as object), seal: 'no' } },
    ],
    ['a', 'b', 'c'],
  )
  expect(found).toMatchObject({ expected: 3, fine: ['a'], suspicious: ['forged'] })
  expect(found.changed.map(({ metadata: { uid } }) => uid)).toEqual(['b'])
  expect(found.missing.map(({ metadata: { uid } }) => uid)).toEqual(['c'])
  expect(found.orphans.map(({ observation: { id } }) => id)).toEqual(['t-x'])
  expect(found.foreign.map(({ id }) => id)).toEqual(['foreign'])
})

test('takeCensus knows twins, and names of ours where there are no marks', () => {
  expect(census([thingOf('t-a', 'a'), thingOf('copy', 'a')], ['a']).duplicates).toEqual(
    new Map([['a', ['copy', 't-a']]]),
  )
  const parts = partsOf({ ids: 'deterministic' })
  const named = census(
    [
      { id: resourceNameFor(parts.identity, 'a'), observed: { color: 'red' } },
      { id: resourceNameFor(parts.identity, 'gone'), observed: {} },
      { id: 'other', observed: {} },
    ],
    ['a'],
    parts,
  )
  expect(named.fine).toEqual(['a'])
  expect(named.orphans.map(({ observation: { id } }) => id)).toEqual([resourceNameFor(parts.identity, 'gone')])
  expect(named.foreign.map(({ id }) => id)).toEqual(['other'])
})

test('takeCensus never calls a thing of a living object an orphan or foreign, nor one that an object remembers', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  fc.assert(
    fc.property(
      fc.uniqueArray(uid),
      fc.array(fc.tuple(uid, fc.constantFrom('t', 'u'), fc.boolean())),
      (alive, made) => {
        const observations = made.map(([each, prefix, isMarked]) =>
          isMarked ? thingOf(`${prefix}-${each}`, each) : { id: `${prefix}-${each}`, observed: {} },
        )
        const found = census(
          [...new Map(observations.map((observation) => [observation.id, observation])).values()],
          alive,
        )
        for (const { labels, observation } of found.orphans)
          expect(
            alive.some((each) => each === labels?.uid) || alive.some((each) => observation.id === `t-${each}`),
          ).toBe(false)
        for (const { id } of found.foreign) expect(alive.some((each) => id === `t-${each}`)).toBe(false)
        expect(found.missing.length + found.changed.length + found.fine.length).toBeLessThanOrEqual(found.expected)
      },
    ),
  )
})
