import { expect, test } from 'vitest'
import type { Deviation } from '../deviation.ts'
import type { Failure } from '../failures.ts'
import { groupByCause, headlineOf } from './causes.ts'

const crash = (index: number): Deviation => ({
  at: { type: 'effect', index, when: 'after' },
  action: { type: 'crash' },
})

function failure(rule: string, about: string, rest: Partial<Failure> = {}): Failure {
  return {
    rule,
    about,
    severity: 'error',
    message: `${about} differs`,
    step: 0,
    deviations: [],
    when: [],
    seen: 1,
    foundAt: 1,
    ...rest,
  }
}

test('groupByCause joins failures of one schedule, and those with the same difference', () => {
  const diff = ['status.phase: expected "Ready", found "Failed"']
  const first = failure('failure', 'App a', { deviations: [crash(3)], diff })
  const sameSchedule = failure('truth', 'ConfigMap a', { deviations: [crash(3)] })
  const sameDifference = failure('conflict', 'App a', { deviations: [crash(9)], diff })
  const other = failure('cleanup', 'App a', { deviations: [crash(1)], diff: ['spec: expected 1, found 2'] })
  expect(groupByCause([first, other, sameDifference, sameSchedule])).toEqual([
    { main: first, others: [sameDifference, sameSchedule] },
    { main: other, others: [] },
  ])
})

test('groupByCause keeps undisturbed failures apart: the program may be wrong in several ways', () => {
  expect(groupByCause([failure('truth', 'App a'), failure('leak', 'App a')])).toHaveLength(2)
})

test('headlineOf names the field that differs', () => {
  const one = failure('failure', 'App a', { diff: ['status.phase: expected "Ready", found "Failed"'] })
  expect(headlineOf(one)).toEqual({ text: 'App a differs: status.phase is "Failed" instead of "Ready"', isWhole: true })
  const two = failure('failure', 'App a', { diff: ['a: expected 1, found 2', 'b: expected 3, found 4'] })
  expect(headlineOf(two)).toEqual({ text: 'App a differs: a, b', isWhole: false })
  expect(headlineOf(failure('failure', 'App a'))).toEqual({ text: 'App a differs', isWhole: false })
})
