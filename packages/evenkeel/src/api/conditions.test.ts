import { describe, expect, test } from 'vitest'
import { deepFreeze } from '@evenkeel/cel/primitives'
import {
  findCondition,
  isConditionFalse,
  isConditionTrue,
  removeCondition,
  setCondition,
  validateConditions,
  type Condition,
} from './conditions.ts'
import { FieldPath, formatFieldError } from './errors/field-error.ts'

const [t0, t1] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']
const ready: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'AllGood',
  message: 'fine',
  lastTransitionTime: t0,
  observedGeneration: 1,
}
const other: Condition = { type: 'Synced', status: 'Unknown', reason: 'Starting', message: '', lastTransitionTime: t0 }
const list = deepFreeze([ready, other])

describe('setCondition', () => {
  test('adds a type at the end, with the time of now', () => {
    const condition = { type: 'New', status: 'False', reason: 'Because' } as const
    expect(setCondition(list, condition, { now: t1 })).toEqual([
      ready,
      other,
      { ...condition, message: '', lastTransitionTime: t1 },
    ])
    expect(setCondition(undefined, condition, { now: 1_767_225_660_000 })).toEqual([
      { ...condition, message: '', lastTransitionTime: t1 },
    ])
  })

  test('keeps a time it is given for a new type', () => {
    expect(setCondition([], ready, { now: t1 })).toEqual([ready])
  })

  test('gives back the same list when nothing is new', () => {
    const { lastTransitionTime: _, ...same } = ready
    expect(setCondition(list, same, { now: t1 })).toBe(list)
    expect(setCondition(list, { ...ready, lastTransitionTime: t1 }, { now: t1 })).toBe(list)
  })

  test('moves the time of transition only with the status', () => {
    const next = setCondition(
      list,
      { type: 'Ready', status: 'False', reason: 'AllGood', message: 'fine', observedGeneration: 1 },
      { now: t1 },
    )
    expect(next).toEqual([{ ...ready, status: 'False', lastTransitionTime: t1 }, other])
    expect(list[0]).toBe(ready)
  })

  test('a status that moves may bring its own time', () => {
    const next = setCondition(
      list,
      { ...ready, status: 'False', lastTransitionTime: '2025-01-01T00:00:00Z' },
      { now: t1 },
    )
    expect(next[0]?.lastTransitionTime).toBe('2025-01-01T00:00:00Z')
  })

  test.each([{ reason: 'Other' }, { message: 'other' }, { observedGeneration: 2 }])(
    'takes over %j and leaves the time alone',
    (change) => {
      const next = setCondition(list, { ...ready, ...change }, { now: t1 })
      expect(next).not.toBe(list)
      expect(next).toEqual([{ ...ready, ...change }, other])
      expect(next[1]).toBe(other)
    },
  )

  test('an observedGeneration that is not said any more goes', () => {
    const { observedGeneration: _, ...unsaid } = ready
    expect('observedGeneration' in (setCondition(list, unsaid, { now: t1 })[0] ?? ready)).toBe(false)
  })
})

test('findCondition, isConditionTrue and isConditionFalse', () => {
  expect(findCondition(list, 'Synced')).toBe(other)
  expect(findCondition(list, 'toString')).toBeUndefined()
  expect(findCondition(undefined, 'Ready')).toBeUndefined()
  expect([
    isConditionTrue(list, 'Ready'),
    isConditionTrue(list, 'Synced'),
    isConditionTrue(undefined, 'Ready'),
  ]).toEqual([true, false, false])
  expect([
    isConditionFalse(list, 'Ready'),
    isConditionFalse([{ ...ready, status: 'False' }], 'Ready'),
    isConditionFalse(list, 'None'),
  ]).toEqual([false, true, false])
})

test('removeCondition', () => {
  expect(removeCondition(list, 'Ready')).toEqual([other])
  expect(removeCondition(list, 'None')).toBe(list)
  expect(removeCondition(undefined, 'None')).toEqual([])
  expect(list).toHaveLength(2)
})

describe('validateConditions', () => {
  const path = FieldPath.of('status', 'conditions')
  const complaints = (...conditions: Partial<Condition>[]): string[] =>
    validateConditions(
      conditions.map((change) => ({ ...ready, ...change })),
      path,
    ).map(formatFieldError)

  test('is content with good ones', () => {
    expect(complaints({}, { type: 'example.com/Odd-type_1.x', status: 'Unknown', reason: 'A,b:C_' })).toEqual([])
  })

  test.each<[string, Partial<Condition>, RegExp]>([
    ['type', { type: 'not good' }, /^status\.conditions\[0\]\.type: Invalid value: "not good": name part must consist/],
    ['no type', { type: '' }, /\.type: Invalid value: "": name part must be non-empty$/],
    [
      'status',
      { status: 'Maybe' as never },
      /^status\.conditions\[0\]\.status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"$/,
    ],
    [
      'generation',
      { observedGeneration: -1 },
      /observedGeneration: Invalid value: -1: must be greater than or equal to zero$/,
    ],
    ['time', { lastTransitionTime: '' }, /lastTransitionTime: Required value$/],
    ['no reason', { reason: '' }, /reason: Required value$/],
    [
      'reason with a space',
      { reason: 'not good' },
      /reason: Invalid value: "not good": a condition reason must start with alphabetic character, .*regex used for validation is '\[A-Za-z\]\(\[A-Za-z0-9_,:\]\*\[A-Za-z0-9_\]\)\?'\)$/,
    ],
    ['reason that ends in a comma', { reason: 'A,' }, /reason: Invalid value/],
    ['long reason', { reason: 'a'.repeat(1025) }, /reason: Too long: may not be more than 1024 bytes$/],
    ['long message', { message: 'a'.repeat(32 * 1024 + 1) }, /message: Too long: may not be more than 32768 bytes$/],
  ])('complains about %s', (_name, change, complaint) => expect(complaints(change)[0]).toMatch(complaint))

  test('complains about a type that comes twice', () => {
    expect(complaints({}, { type: 'Other' }, {})).toEqual(['status.conditions[2].type: Duplicate value: "Ready"'])
  })
})
