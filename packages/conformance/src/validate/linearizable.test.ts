import { expect, test } from 'vitest'
import { linearizabilityFaults } from './linearizable.ts'
import type { Operation } from './linearizable.ts'

const entry = (revision: number, value = 'x', created = 2) => ({ key: '/x', value, revision, created })
let tick = 0
const at = (called = tick++, returned = tick++) => ({ client: 0, called, returned, key: '/x' })
const made = (revision: number, expect_: number, when = at()): Operation => ({
  ...when,
  type: 'made',
  revision,
  expect: expect_,
  value: 'x',
})
const read = (revision: number, seen: ReturnType<typeof entry> | undefined, when = at()): Operation => ({
  ...when,
  type: 'read',
  revision,
  entry: seen,
})
const lost = (expect_: number, current: ReturnType<typeof entry> | undefined, when = at()): Operation => ({
  ...when,
  type: 'lost',
  expect: expect_,
  current,
})
const faults = (...operations: Operation[]): number => linearizabilityFaults(operations, 1).length

test('a sequential history and one with overlapping operations have no fault', () => {
  expect(faults(made(2, 0), read(2, entry(2)), made(3, 2), lost(2, entry(3)), read(3, entry(3)))).toBe(0)
  expect(
    faults(
      made(2, 0, at(0, 9)),
      read(1, undefined, at(1, 2)),
      read(2, entry(2), at(3, 4)),
      lost(0, entry(2), at(5, 6)),
    ),
  ).toBe(0)
})

test('finds a duplicate revision', () => expect(faults(made(2, 0, at(0, 5)), made(2, 2, at(1, 6)))).toBeGreaterThan(0))
test('finds a commit that contradicts its expectation', () => expect(faults(made(2, 0), made(3, 0))).toBeGreaterThan(0))
test('finds a read of a value that did not exist', () =>
  expect(faults(made(2, 0), read(2, entry(2, 'y')))).toBeGreaterThan(0))
test('finds a stale read', () => expect(faults(made(2, 0), read(1, undefined))).toBeGreaterThan(0))
test('finds a read that is older than a previous one', () =>
  expect(faults(made(2, 0, at(0, 9)), read(2, entry(2), at(1, 2)), read(1, undefined, at(3, 4)))).toBeGreaterThan(0))
test('finds a read from the future', () =>
  expect(faults(read(2, entry(2), at(0, 1)), made(2, 0, at(2, 3)))).toBeGreaterThan(0))
test('finds commits in the wrong order', () =>
  expect(faults(made(3, 2, at(0, 1)), made(2, 0, at(2, 3)))).toBeGreaterThan(0))
test('finds a lost race without a winner', () => {
  expect(faults(made(2, 0), lost(2, entry(2)))).toBeGreaterThan(0)
  expect(faults(made(2, 0), lost(0, undefined))).toBeGreaterThan(0)
  expect(faults(made(2, 0), made(3, 2), lost(0, entry(2)))).toBeGreaterThan(0)
})
