import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '#store'
import { runsOf, type ListRun } from './compressed-list.ts'

const entry = (
  created: number,
  { revision = created, bytes = 10 }: { revision?: number; bytes?: number } = {},
): Entry => ({ key: `k${created}`, value: new Uint8Array(bytes), revision, created })
const many = (count: number): Entry[] => Array.from({ length: count }, (_, index) => entry(index + 2))
const keysOf = ({ entries, start, end }: ListRun): string[] => entries.slice(start, end).map(({ key }) => key)
const namesOf = (runs: readonly ListRun[]): string[] => runs.map((run) => `${run.fingerprint}:${keysOf(run).join()}`)

test('runsOf cuts a list into neighbours without leaving any out, about 64 in a run', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 ** 45 }), { maxLength: 500 }), (commits) => {
      const runs = runsOf(
        commits.map((created) => entry(created)),
        7,
      )
      expect(runs.flatMap(keysOf)).toEqual(commits.map((created) => `k${created}`))
    }),
  )
  const count = runsOf(many(10_000), 7).length
  expect(count).toBeGreaterThan(100)
  expect(count).toBeLessThan(250)
})

test('runsOf leaves the runs alone in which nothing changed', () => {
  const entries = many(2000)
  const before = new Set(namesOf(runsOf(entries, 7)))
  const changed = entries.with(500, entry(502, { revision: 3000 }))
  const differing = (list: readonly Entry[]): number =>
    namesOf(runsOf(list, 7)).filter((name) => !before.has(name)).length
  expect(differing(changed)).toBe(1)
  expect(differing(entries.toSpliced(700, 1))).toBe(1)
  expect(differing([...entries, entry(5000)])).toBeLessThanOrEqual(1)
  expect(differing(entries.slice(123))).toBeLessThanOrEqual(1)
})

test('runsOf tells lists apart by what is left out of their items', () => {
  const entries = many(10)
  expect(runsOf(entries, 7)[0]?.fingerprint).not.toBe(runsOf(entries, 8)[0]?.fingerprint)
})

test('runsOf cuts runs of large objects', () => {
  const large = many(40).map(({ created }) => entry(created, { bytes: 100_000 }))
  expect(Math.max(...runsOf(large, 7).map(({ start, end }) => end - start))).toBe(3)
})
