import { describe, expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import type { HistoryEvent, TraceEntry } from '../history.ts'
import { buildStory } from './story.ts'

type Event = readonly [actor: string, what: string, change?: readonly [before: object | undefined, after?: object]]

function app(fields: object, metadata: object = {}): UnstructuredObject {
  const identity = { name: 'a', namespace: 'default', uid: 'u', ...metadata }
  return { apiVersion: 'v1', kind: 'App', metadata: identity, ...fields } as UnstructuredObject
}

function story(events: readonly Event[], about = 'App default/a'): string[] {
  const entries = events.map(([actor, what], step): TraceEntry => ({ step, atMs: 0, actor, what }))
  const changes = events.flatMap(([, , change], step) =>
    change ? [{ step, resource: 'apps', before: change[0], after: change[1] } as unknown as HistoryEvent] : [],
  )
  const origins = new Map([['answer patch apps default/a', '/x/reconcile.ts:41']])
  return buildStory({ about }, { trace: { entries }, history: { events: changes }, origins }).map(({ text, origin }) =>
    origin === undefined ? text : `${text} ${origin}`,
  )
}

const write = (value: number): Event => [
  'A',
  'request patch apps default/a',
  [app({ spec: { size: value } }), app({ spec: { size: value + 1 } })],
]

describe('buildStory', () => {
  test('says what was carried out before a crash, although it was never answered', () => {
    expect(
      story([
        ['user', 'creates App a'],
        ['A', 'request patch apps default/a', [undefined, app({})]],
        ['A', 'crashes'],
        ['A2', 'starts'],
        ['A2', 'answer list apps: 200'],
        ['A2', 'call cloud.make(a)'],
        ['A2', 'reply cloud.make(a): done'],
      ]),
    ).toEqual([
      'the user creates App a',
      'A creates App default/a /x/reconcile.ts:41',
      '-- A crashes before it gets the response',
      'A2 starts',
      'A2 calls cloud.make(a)',
    ])
  })

  test('a crash after the response is only a crash', () => {
    expect(story([write(1), ['A', 'answer patch apps default/a: 200'], ['A', 'crashes']])).toEqual([
      'A changes App default/a (spec.size: 1 → 2) /x/reconcile.ts:41',
      '-- A crashes',
    ])
  })

  test('says that a response was lost, after the effect', () => {
    expect(story([write(1), ['A', 'answer patch apps default/a: no response']])).toEqual([
      'A changes App default/a (spec.size: 1 → 2); the response is lost /x/reconcile.ts:41',
    ])
    expect(
      story([
        ['A', 'call cloud.make(a)'],
        ['A', 'reply cloud.make(a): no response'],
        ['A', 'call cloud.make(a)'],
        ['A', 'reply cloud.make(a): refuse'],
      ]),
    ).toEqual(['A calls cloud.make(a); the response is lost', 'A calls cloud.make(a): refused'])
  })

  test('leaves out what changes nothing, and joins equal lines', () => {
    const refused: Event[] = [
      ['A', 'request patch apps default/a'],
      ['A', 'answer patch apps default/a: 422'],
    ]
    const unchanged: Event[] = [
      ['A', 'request patch apps default/b'],
      ['A', 'answer patch apps default/b: 200'],
    ]
    expect(story([['user', 'creates App a'], ...unchanged, ...refused, ...refused, ...refused])).toEqual([
      'the user creates App a',
      'A: patch apps default/a: 422 (3 times) /x/reconcile.ts:41',
    ])
  })

  test('a deletion that waits for finalizers is a deletion', () => {
    const deleted = app({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })
    expect(story([['A', 'request delete apps default/a', [app({}), deleted]]])).toEqual([
      'A deletes App default/a, which its finalizers keep',
    ])
  })

  test('of a long story the fault, the last step of the user before it and the end remain', () => {
    const writes = Array.from({ length: 20 }, (_, index) => write(index))
    const reported = story(
      [
        ['user', 'creates App a'],
        ...writes.slice(0, 5),
        ['user', 'deletes App a'],
        ...writes,
        ['A', 'crashes'],
        write(7),
      ],
      'ConfigMap default/x',
    )
    expect(reported).toHaveLength(8)
    expect(reported).toContain('the user deletes App a')
    expect(reported.slice(-2)).toEqual([
      '-- A crashes before it gets the response',
      'A changes App default/a (spec.size: 7 → 8) /x/reconcile.ts:41',
    ])
  })

  test('does not show the values of a Secret', () => {
    const secret = (password: string): object => ({ ...app({ data: { password } }), kind: 'Secret' })
    expect(story([['A', 'request patch secrets default/a', [secret('aHVudGVyMg=='), secret('b3RoZXI=')]]])).toEqual([
      'A changes Secret default/a (data.password: another value)',
    ])
  })
})
