/** What an execution of a Task does next. */
import { describe, expect, test } from 'vitest'
import { formatIndexes, nextStep, parseIndexes, type TaskProcess } from './execution.ts'

const processOf = (index: number, state: TaskProcess['state']): TaskProcess => ({
  name: `t-1-${index}`,
  index,
  state,
  reason: state === 'failed' ? 'ExitCode' : '',
  message: state === 'failed' ? 'its program exited with code 2' : '',
})

describe('an execution', () => {
  test('starts as many indexes as it may, beginning with the lowest', () => {
    const state = { completions: 5, concurrency: 2, succeeded: new Set([0]), processes: [processOf(0, 'succeeded')] }
    expect(nextStep(state)).toEqual({ do: 'run', start: [1, 2], end: [] })
    expect(nextStep({ ...state, processes: [processOf(0, 'succeeded'), processOf(1, 'active')] })).toMatchObject({
      start: [2],
    })
  })

  test('does not start an index again that has succeeded, also when its Process is gone', () => {
    const step = nextStep({ completions: 2, concurrency: 2, succeeded: new Set([0]), processes: [] })
    expect(step).toEqual({ do: 'run', start: [1], end: [] })
  })

  test('has failed as soon as one program has', () => {
    const processes = [processOf(0, 'active'), processOf(1, 'failed')]
    expect(nextStep({ completions: 3, concurrency: 3, succeeded: new Set(), processes })).toEqual({
      do: 'finish',
      outcome: 'Failed',
      reason: 'ExitCode',
      message: 'Process t-1-1: its program exited with code 2',
    })
  })

  test('is complete when all have succeeded, although the deadline is over', () => {
    const state = { completions: 2, concurrency: 2, succeeded: new Set([0, 1]), processes: [], overdueSeconds: 5 }
    expect(nextStep(state)).toMatchObject({ do: 'finish', outcome: 'Completed' })
    expect(nextStep({ ...state, succeeded: new Set([0]) })).toMatchObject({ reason: 'DeadlineExceeded' })
  })

  test('ends programs beyond a number of completions that was lowered', () => {
    const surplus = processOf(3, 'active')
    const step = nextStep({
      completions: 2,
      concurrency: 4,
      succeeded: new Set(),
      processes: [processOf(0, 'active'), processOf(1, 'active'), surplus],
    })
    expect(step).toEqual({ do: 'run', start: [], end: [surplus] })
  })
})

test('indexes are written as in a Job and read back', () => {
  expect(formatIndexes(new Set([4, 0, 2, 1]))).toBe('0-2,4')
  for (const indexes of [[], [0], [3, 5], [0, 1, 2, 9, 10]])
    expect([...parseIndexes(formatIndexes(new Set(indexes)))]).toEqual(indexes)
})
