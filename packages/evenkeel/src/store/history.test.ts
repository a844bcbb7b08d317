import fc from 'fast-check'
import { expect, test } from 'vitest'
import { History } from './history.ts'
import { Version } from './version.ts'

const version = (revision: number, older?: Version): Version => {
  const made = new Version('/a', revision, { created: 1, lease: undefined })
  made.older = older
  return made
}

const filled = (...revisions: number[]): History => {
  const history = new History()
  for (const revision of revisions) history.push(version(revision))
  return history
}

const revisionsOf = (versions: readonly Version[]): number[] => versions.map(({ revision }) => revision)

test('History.after returns whole commits after a revision, up to the limit and then to the end of the commit', () => {
  const history = filled(2, 3, 3, 3, 5, 5, 9)
  expect(revisionsOf(history.after(0, 100))).toEqual([2, 3, 3, 3, 5, 5, 9])
  expect(revisionsOf(history.after(2, 1))).toEqual([3, 3, 3])
  expect(revisionsOf(history.after(0, 2))).toEqual([2, 3, 3, 3])
  expect(revisionsOf(history.after(0, 4))).toEqual([2, 3, 3, 3])
  expect(revisionsOf(history.after(0, 5))).toEqual([2, 3, 3, 3, 5, 5])
  expect(revisionsOf(history.after(3, 100))).toEqual([5, 5, 9])
  expect(revisionsOf(history.after(4, 100))).toEqual([5, 5, 9])
  expect(history.after(9, 100)).toEqual([])
})

test('History behaves like a list', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }),
      fc.nat({ max: 70 }),
      fc.nat({ max: 70 }),
      (gaps, upTo, after) => {
        let revision = 1
        const revisions = gaps.map((gap) => (revision += gap))
        const history = filled(...revisions)
        while (history.shiftUpTo(upTo)) {
          /* all of them */
        }
        const left = revisions.filter((one) => one > upTo)
        expect(history.length).toBe(left.length)
        expect(revisionsOf(history.after(Math.max(after, upTo), 1_000))).toEqual(left.filter((one) => one > after))
        for (const count of [0, 1, left.length - 1, left.length]) {
          if (count >= 0) expect(history.revisionBehind(count)).toBe(left.at(-1 - count))
        }
      },
    ),
  )
})

test('History removes the oldest change, one at a time, over many rounds', () => {
  const history = filled(...Array.from({ length: 10_000 }, (_, index) => index))
  for (let revision = 0; revision < 9_990; revision++) {
    expect(history.shiftUpTo(9_989)?.revision).toBe(revision)
    if (revision % 500 === 0) expect(history.after(revision + 3, 1)[0]?.revision).toBe(revision + 4)
  }
  expect([history.shiftUpTo(9_989), history.length]).toEqual([undefined, 10])
})

test('History counts what it keeps alive, and nothing when it is empty', () => {
  const history = new History()
  const large = version(1)
  large.length = 1_000
  history.push(version(2, large))
  const [first, second] = [history.bytes, version(3, version(2))]
  expect(first).toBeGreaterThanOrEqual(1_000)
  history.push(second)
  expect(history.bytes - first).toBeLessThan(1_000)
  while (history.shiftUpTo(10)) {
    /* all of them */
  }
  expect(history.bytes).toBe(0)
})

test('History.revisionThatFrees returns the revision to compact at', () => {
  const history = filled(2, 3, 4, 5)
  const each = history.bytes / 4
  expect(history.revisionThatFrees(1)).toBe(2)
  expect(history.revisionThatFrees(each)).toBe(2)
  expect(history.revisionThatFrees(each + 1)).toBe(3)
  expect(history.revisionThatFrees(1e9)).toBe(5)
  history.shiftUpTo(2)
  expect(history.revisionThatFrees(1)).toBe(3)
  expect(new History().revisionThatFrees(1)).toBe(0)
})
