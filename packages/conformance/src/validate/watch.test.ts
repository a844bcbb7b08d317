import { describe, expect, test } from 'vitest'
import { StoreModel } from '../model/store-model.ts'
import type { PlainChange } from '../model/store-model.ts'
import { sessionValidators, watchFaults } from './watch.ts'
import type { Session, ReceivedBatch } from './watch.ts'

const model = new StoreModel(1)
const value = Buffer.from('x')
model.commit([{ key: '/a', value }], 2)
model.commit(
  [
    { key: '/a', value },
    { key: '/b', value },
  ],
  3,
)
model.commit([{ key: '/a' }], 4)
model.commit([{ key: '/c', value }], 5)
model.commit([{ key: '/a', value }], 6)
const truth = model.changes

const batch = (
  revision: number,
  changes: readonly PlainChange[] = truth.filter((change) => change.revision === revision),
): ReceivedBatch => ({ revision, changes, headThen: 6, compactedThen: 0 })
const session = (list: readonly ReceivedBatch[], more: Partial<Session> = {}): Session => ({
  prefix: '/',
  after: 1,
  isResumed: false,
  batches: [...list],
  ...more,
})
const right = [2, 3, 4, 5, 6].map((revision) => batch(revision))
const [first, second, third] = truth as [PlainChange, PlainChange, PlainChange]

test('a session that received everything in order has no fault', () => {
  expect(watchFaults([session(right)], truth)).toEqual([])
  expect(watchFaults([session([batch(6, truth)])], truth)).toEqual([])
  expect(
    watchFaults([session(right.slice(0, 2)), session(right.slice(2), { after: 3, isResumed: true })], truth),
  ).toEqual([])
  expect(
    watchFaults(
      [
        session(
          [
            batch(
              6,
              truth.filter(({ key }) => key === '/b'),
            ),
          ],
          { prefix: '/b' },
        ),
      ],
      truth,
    ),
  ).toEqual([])
})

describe('every validator finds its fault', () => {
  const faulty: Record<string, Session> = {
    ordered: session([batch(3), batch(2)]),
    unique: session([batch(2), batch(3, [second, third, second])]),
    atomic: session([batch(2), batch(3, [second]), batch(3, [third])]),
    reliable: session([
      batch(2),
      batch(
        4,
        truth.filter(({ revision }) => revision === 4),
      ),
    ]),
    bookmarkable: session([batch(2), batch(4, []), batch(4, [second, third])]),
    filtered: session([batch(2), batch(3)], { prefix: '/a' }),
    previous: session([batch(2), batch(3, [{ ...second, previous: { ...first.entry!, value: 'other' } }, third])]),
    created: session([batch(2), batch(3, [{ ...second, entry: { ...second.entry!, created: 3 } }, third])]),
  }
  test.each(Object.keys(sessionValidators))('%s', (name) => {
    expect(sessionValidators[name]?.(faulty[name] as Session, truth)).not.toEqual([])
    expect(watchFaults([faulty[name] as Session], truth).some((fault) => fault.startsWith(`${name}:`))).toBe(true)
  })

  test('resumable', () => {
    const gap = [session(right.slice(0, 1)), session(right.slice(2), { after: 3, isResumed: true })]
    expect(watchFaults(gap, truth).some((fault) => fault.startsWith('resumable:'))).toBe(true)
    const repeated = [session(right.slice(0, 2)), session(right.slice(1), { after: 3, isResumed: true })]
    expect(watchFaults(repeated, truth).some((fault) => fault.startsWith('resumable:'))).toBe(true)
  })

  test('progress ahead of the store', () => {
    expect(sessionValidators['bookmarkable']?.(session([{ ...batch(2), headThen: 1 }]), truth)).not.toEqual([])
  })

  test('an invented change, and a wrong deletion', () => {
    expect(
      sessionValidators['reliable']?.(session([batch(2, [first, { key: '/z', revision: 2 }])]), truth),
    ).toHaveLength(1)
    expect(sessionValidators['created']?.(session([batch(2, [{ key: '/a', revision: 2 }])]), truth)).toHaveLength(1)
  })

  test('a missing previous entry is excused only by compaction', () => {
    const { previous: _, ...bare } = second
    const faultsAt = (compactedThen: number) =>
      sessionValidators['previous']?.(session([batch(2), { ...batch(3, [bare, third]), compactedThen }]), truth)
    expect(faultsAt(2)).toHaveLength(1)
    expect(faultsAt(3)).toEqual([])
  })
})
