import { describe, expect, test } from 'vitest'
import type { TraceEntry } from '../history.ts'
import { buildStory } from './timeline.ts'

type Happening = readonly [actor: string, what: string]

function story(events: readonly Happening[], { about = 'App default/a', isDisturbed = true } = {}): string[] {
  const entries = events.map(([actor, what], step): TraceEntry => ({ step, atMs: 0, actor, what }))
  const world = { trace: { entries }, origins: new Map([['answer patch apps default/a', '/x/reconcile.ts:41']]) }
  const deviations = isDisturbed ? [{ at: { type: 'effect', index: 0 }, deed: { type: 'crash' } } as const] : []
  return buildStory({ about, deviations }, world as never).map(({ text, origin }) =>
    origin === undefined ? text : `${text} ${origin}`,
  )
}

describe('tellStory', () => {
  test('says what came before, what went wrong, what came next, and where in the code', () => {
    expect(
      story([
        ['user', 'creates App a'],
        ['A', 'request patch apps default/a'],
        ['A', 'dies'],
        ['A2', 'starts'],
        ['A2', 'answer list apps: 200'],
        ['A2', 'answer patch apps default/a: 200'],
        ['A2', 'reply cloud.make(a): done'],
      ]),
    ).toEqual([
      'the user creates App a',
      '-- A dies',
      'A2 starts',
      'A2: patch apps default/a: 200 /x/reconcile.ts:41',
      'A2: cloud.make(a): done',
    ])
  })

  test('the same line again and again is one line', () => {
    const again = Array.from({ length: 5 }, (): Happening => ['A', 'answer patch apps default/a: 422'])
    expect(story([['user', 'creates App a'], ...again])).toEqual([
      'the user creates App a',
      'A: patch apps default/a: 422 (5 times) /x/reconcile.ts:41',
    ])
  })

  test('is six lines at most: how it went wrong, and how it ended', () => {
    const writes = Array.from({ length: 9 }, (_, index): Happening => ['A', `answer patch apps default/a${index}: 200`])
    const told = story([...writes.slice(0, 3), ['A', 'dies'], ...writes.slice(3)])
    expect(told).toHaveLength(6)
    expect(told).toContain('-- A dies')
    expect(told.at(-1)).toBe('A: patch apps default/a8: 200')
  })

  test('undisturbed, the end is what matters', () => {
    const writes = Array.from({ length: 9 }, (_, index): Happening => ['A', `answer patch apps default/a${index}: 200`])
    expect(story(writes, { isDisturbed: false }).map((line) => line.at(-6))).toEqual(['3', '4', '5', '6', '7', '8'])
  })
})
