import { describe, expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { cutRows, reportsOn, rowOf, summarize } from './status.ts'

type Row = Parameters<typeof cutRows>[0][number]

const id = { apiVersion: 'v1', group: '', kind: 'ConfigMap', namespace: 'a', name: 'one' }
const parent: KubeObject = { apiVersion: 'x.dev/v1', kind: 'Site', metadata: { name: 'shop', namespace: 'a' } }
const row = (name: string, state: Row['state'], more: Partial<Row> = {}): Row => ({ ...id, name, state, ...more })

describe('rowOf', () => {
  const context = { earlier: undefined, nowMs: 1_767_225_600_000, reporter: undefined }

  test('has only what is known', () => {
    expect(rowOf({ id, readiness: { state: 'Missing' } }, context)).toEqual({
      ...id,
      state: 'Missing',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
  })

  test('has generations, the UID, the reporter and a message of at most 1024 characters', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', uid: 'u', generation: 3 },
      status: { observedGeneration: 2 },
    }
    const readiness = { state: 'Progressing', reason: 'Slow', message: 'x'.repeat(2000) } as const
    expect(rowOf({ id, object, readiness, appliedFor: 4 }, { ...context, reporter: 'other' })).toEqual({
      ...id,
      controller: 'other',
      uid: 'u',
      appliedForGeneration: 4,
      generation: 3,
      observedGeneration: 2,
      state: 'Progressing',
      reason: 'Slow',
      message: 'x'.repeat(1024),
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
  })

  test('keeps UID, applied generation and the time of the last change of its earlier row', () => {
    const lastTransitionTime = '2025-01-01T00:00:00Z'
    const earlier = row('one', 'Ready', { uid: 'u', appliedForGeneration: 7, lastTransitionTime })
    const kept = { uid: 'u', appliedForGeneration: 7 }
    expect(rowOf({ id, readiness: { state: 'Ready' } }, { ...context, earlier })).toMatchObject({
      ...kept,
      lastTransitionTime,
    })
    expect(rowOf({ id, readiness: { state: 'Missing' } }, { ...context, earlier })).toMatchObject({
      ...kept,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })
  })
})

describe('cutRows', () => {
  const many = (count: number): Row[] =>
    Array.from({ length: count }, (_, index) => row(`c${String(index).padStart(3, '0')}`, 'Ready'))

  test('keeps a hundred rows sorted, without counts', () => {
    const { children, childCounts } = cutRows(many(100).reverse())
    expect([children.length, children[0]?.name, childCounts]).toEqual([100, 'c000', undefined])
  })

  test('of more rows keeps those that are not ready, and counts all', () => {
    const { children, childCounts } = cutRows([...many(100), row('z', 'Failed')])
    expect([children.length, children.at(-1)?.name, children.at(-2)?.name]).toEqual([100, 'z', 'c098'])
    expect(childCounts).toEqual([{ group: '', kind: 'ConfigMap', total: 101, ready: 100 }])
  })
})

describe('summarize', () => {
  const summary = (rows: readonly Row[], waitsFor?: string): object => summarize(rows, { parent, waitsFor })

  test('is true when all are ready and nothing is awaited', () => {
    expect(summary([])).toMatchObject({ status: 'True', reason: 'AllReady', message: '0 children are ready' })
    expect(summary([row('a', 'Ready')])).toMatchObject({ message: '1 child is ready' })
    expect(summary([row('a', 'Ready'), row('b', 'Ready')])).toMatchObject({ message: '2 children are ready' })
    expect(summary([row('a', 'Ready')], 'a licence')).toEqual({
      status: 'False',
      reason: 'Progressing',
      message: 'waiting for a licence',
    })
  })

  test('names a conflict first, then the worst, three in all', () => {
    const rows = [
      row('a', 'Progressing', { message: 'slow' }),
      row('b', 'Missing'),
      row('c', 'Failed', { reason: 'Broken' }),
      row('d', 'Failed', { reason: 'Conflict', message: 'not ours' }),
    ]
    const found = summary(rows) as { reason: string; message: string }
    expect(found.reason).toBe('Conflict')
    expect(found.message).toMatch(/^ConfigMap d: not ours; ConfigMap c: Broken; .*; and 1 more$/)
    expect(summary(rows.slice(0, 3))).toMatchObject({ reason: 'Failed' })
    expect(summary(rows.slice(1, 2))).toMatchObject({ reason: 'Missing' })
    expect(summary(rows.slice(0, 1))).toMatchObject({ status: 'False', reason: 'Progressing' })
  })
})

test('reportsOn custom kinds with a status, not on kinds of the cluster', () => {
  const kind = (group: string, statusSubresource = true): boolean =>
    reportsOn(declareKind({ group, version: 'v1', kind: 'Thing', statusSubresource }))
  expect([kind('x.dev'), kind('x.dev', false), kind(''), kind('apps'), kind('networking.k8s.io')]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})
