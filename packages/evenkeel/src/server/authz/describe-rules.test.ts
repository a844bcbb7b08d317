import { expect, test } from 'vitest'
import { policyRule, type PolicyRule } from '@evenkeel/builtins'
import { describeRules, quoteAll, uncovered } from './policy-rules.ts'

const breakDown = (rule: PolicyRule): readonly PolicyRule[] => uncovered([], [rule]) ?? []

test('describeRules joins the verbs of a resource and sorts the lines', () => {
  const parts = [
    ...breakDown(policyRule({ verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets', 'pods'] })),
    ...breakDown(policyRule({ verbs: ['get'], nonResourceURLs: ['/metrics'] })),
    ...breakDown(
      policyRule({ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a"b'] }),
    ),
  ]
  expect(describeRules(parts).split('\n')).toEqual([
    '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a\\"b"], Verbs:["get"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
  ])
})

test('describeRules ends somewhere', () => {
  const resources = Array.from({ length: 1500 }, (_, index) => `r${index}`)
  const lines = describeRules(breakDown(policyRule({ verbs: ['get'], apiGroups: [''], resources }))).split('\n')
  expect([lines.length, lines.at(-1)]).toEqual([1001, 'and 500 more'])
})

test('quoteAll writes a list as Go does', () => {
  expect(quoteAll(['a', 'b c', ''])).toBe('["a" "b c" ""]')
})
