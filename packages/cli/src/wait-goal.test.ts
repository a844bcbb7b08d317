import type { KubeObject } from 'evenkeel'
import { describe, expect, test } from 'vitest'
import { waitGoalOf } from './wait-goal.ts'

function object(status: object, generation = 2): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', generation }, status } as KubeObject
}

function ready(more: object = {}): object {
  return { type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '', ...more }
}

describe('waitGoalOf', () => {
  test.each([
    ['of the condition', { conditions: [ready({ observedGeneration: 1 })] }],
    ['of the status', { observedGeneration: 1, conditions: [ready()] }],
  ])('F16: an earlier generation %s does not count', (_, status) => {
    const goal = waitGoalOf('condition=Ready')
    expect(goal.isMet(object(status))).toBe(false)
    expect(goal.describe(object(status))).toBe(
      'condition Ready is True for generation 1, but the spec is at generation 2',
    )
    expect(goal.isMet(object(status, 1))).toBe(true)
    expect(goal.isMet(undefined)).toBe(false)
  })

  test.each([
    ['jsonpath={.status.phase}=Running', { phase: 'Running' }, true],
    ['jsonpath={.status.phase}=Running', { phase: 'running' }, false],
    ["jsonpath={.status.phase}='a=b'", { phase: 'a=b' }, true],
    ['jsonpath=.status.phase=Running', { phase: 'Running' }, true],
    ['jsonpath=status.ready=true', { ready: true }, true],
    ['jsonpath={.status.list[*]}=1', { list: [1, 1] }, false],
    ['jsonpath={.status.list[0]}=1', { list: [1, 2] }, true],
    ['jsonpath={.status.list[?(@.a=="b=c")].n}=7', { list: [{ a: 'b=c', n: 7 }] }, true],
    ['jsonpath={.status.empty}', { empty: '' }, false],
    ['jsonpath={.status.zero}', { zero: 0 }, true],
  ])('F16: %s with status %j is %s', (text, status, isMet) => {
    expect(waitGoalOf(text).isMet(object(status))).toBe(isMet)
  })

  test('F16: a deletion that is blocked says by what', () => {
    const stuck: KubeObject = {
      ...object({
        conditions: [{ type: 'Finalizing', status: 'True', reason: 'Waiting', message: 'a/b waits for c' }],
      }),
      metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] },
    }
    expect(waitGoalOf('delete').describe(stuck)).toBe('it is being deleted and waits for a/b (waits for c)')
  })
})
