import { expect, test } from 'vitest'
import { readCases, readExcuses } from './data.ts'
import { scoreCel } from './score.ts'

test('scoreCel passes exactly the cases that Kubernetes passes, and the listed exceptions', () => {
  const results = scoreCel()
  expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(results.length).toBe(2344)
  expect(results.filter(({ reason }) => reason === undefined).length).toBe(1456)
})

test('scoreCel reports why a case failed, and why Kubernetes fails it', () => {
  expect(scoreCel({ filter: 'duration_converters/get_milliseconds' })[0]).toEqual(
    expect.objectContaining({
      outcome: 'excused',
      problem: '123321, wanted 321',
      reason: 'milliseconds',
      why: expect.stringContaining('cel-go') as string,
    }),
  )
  expect(scoreCel({ filter: 'field_access_dot' })).toEqual([
    expect.objectContaining({ outcome: 'beyond', reason: 'backticks' }),
  ])
})

test('readCases gives every case a unique name, and readExcuses names only existing cases', () => {
  const ids = new Set(readCases().map(({ id }) => id))
  expect(ids.size).toBe(2344)
  expect([...readExcuses().keys()].filter((id) => !ids.has(id))).toEqual([])
})
