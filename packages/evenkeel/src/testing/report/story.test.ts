import { describe, expect, test } from 'vitest'
import type { TraceEntry } from '../history.ts'
import { buildStory } from './timeline.ts'

type Event = readonly [actor: string, what: string]

function story(events: readonly Event[], { about = 'App default/a', isDisturbed = true } = {}): string[] {
  const entries = events.map(([actor, what], step): TraceEntry => ({ step, atMs: 0, actor, what }))
  const world = { trace: { entries }, origins: new Map([['answer patch apps default/a', '/x/reconcile.ts:41']]) }
  const deviations = isDisturbed ? [{ at: { type: 'effect', index: 0 }, action: { type: 'crash' } } as const] : []
  return buildStory({ about, deviations }, world as never).map(({ text, origin }) =>
    origin === undefined ? text : `${text} ${origin}`,
  )
}

describe('buildStory', () => {
  test('has the lines before and after a fault, and their place in the code', () => {
    expect(
      story([
        ['user', 'creates App a'],
        ['A', 'request patch apps default/a'],
        ['A', 'crashes'],
        ['A2', 'starts'],
        ['A2', 'answer list apps: 200'],
        ['A2', 'answer patch apps default/a: 200'],
        ['A2', 'reply cloud.make(a): done'],
      ]),
    ).toEqual([
      'the user creates App a',
      '-- A crashes',
      'A2 starts',
      'A2: patch apps default/a: 200 /x/reconcile.ts:41',
      'A2: cloud.make(a): done',
    ])
  })

  test('joins equal lines in a row', () => {
    const again = Array.from({ length: 5 }, (): Event => ['A', 'answer patch apps default/a: 422'])
    expect(story([['user', 'creates App a'], ...again])).toEqual([
      'the user creates App a',
      'A: patch apps default/a: 422 (5 times) /x/reconcile.ts:41',
    ])
  })

  test('has at most six lines: the fault and the end', () => {
    const writes = Array.from({ length: 9 }, (_, index): Event => ['A', `answer patch apps default/a${index}: 200`])
    const reported = story([...writes.slice(0, 3), ['A', 'crashes'], ...writes.slice(3)])
    expect(reported).toHaveLength(6)
    expect(reported).toContain('-- A crashes')
    expect(reported.at(-1)).toBe('A: patch apps default/a8: 200')
  })

  test('ends with the last lines when there is no fault', () => {
    const writes = Array.from({ length: 9 }, (_, index): Event => ['A', `answer patch apps default/a${index}: 200`])
    expect(story(writes, { isDisturbed: false }).map((line) => line.at(-6))).toEqual(['3', '4', '5', '6', '7', '8'])
  })
})
