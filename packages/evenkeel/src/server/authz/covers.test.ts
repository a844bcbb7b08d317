import fc from 'fast-check'
import { expect, test } from 'vitest'
import { policyRule, type PolicyRule } from '@evenkeel/builtins'
import type { AuthorizationAttributes } from './authorizer.ts'
import { matchesRule, partsMax, uncovered } from './policy-rules.ts'

const covered = (held: Partial<PolicyRule>[], wanted: Partial<PolicyRule>): boolean =>
  uncovered(held.map(policyRule), [policyRule(wanted)])?.length === 0
const pods = { apiGroups: [''], resources: ['pods'] }

test('uncovered: each smallest part must be held by one rule', () => {
  expect(
    covered(
      [
        { ...pods, verbs: ['get'] },
        { ...pods, verbs: ['list'] },
      ],
      { ...pods, verbs: ['get', 'list'] },
    ),
  ).toBe(true)
  expect(covered([{ ...pods, verbs: ['get'] }], { ...pods, verbs: ['get', 'list'] })).toBe(false)
  expect(covered([{ ...pods, verbs: ['get'] }], { ...pods, verbs: ['*'] })).toBe(false)
  expect(covered([{ ...pods, verbs: ['*'] }], { ...pods, verbs: ['escalate'] })).toBe(true)
  expect(
    covered([{ verbs: ['get'], apiGroups: ['*'], resources: ['*'] }], {
      verbs: ['get'],
      apiGroups: ['*', 'x'],
      resources: ['a/b'],
    }),
  ).toBe(true)
})

test('uncovered: a part of every resource covers that part of one', () => {
  expect(
    covered([{ verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale'] }], {
      verbs: ['get'],
      apiGroups: ['apps'],
      resources: ['deployments/scale'],
    }),
  ).toBe(true)
  expect(
    covered([{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }], {
      verbs: ['get'],
      apiGroups: ['apps'],
      resources: ['*/scale'],
    }),
  ).toBe(false)
})

test('uncovered: names never widen', () => {
  expect(
    covered([{ ...pods, verbs: ['get'], resourceNames: ['a', 'b'] }], {
      ...pods,
      verbs: ['get'],
      resourceNames: ['b'],
    }),
  ).toBe(true)
  expect(covered([{ ...pods, verbs: ['get'], resourceNames: ['a'] }], { ...pods, verbs: ['get'] })).toBe(false)
  expect(covered([{ ...pods, verbs: ['get'] }], { ...pods, verbs: ['get'], resourceNames: ['a'] })).toBe(true)
})

test('uncovered: paths are covered by the same path or a shorter beginning', () => {
  expect(
    covered([{ verbs: ['get'], nonResourceURLs: ['/a/*'] }], { verbs: ['get'], nonResourceURLs: ['/a/b', '/a/*'] }),
  ).toBe(true)
  expect(covered([{ verbs: ['get'], nonResourceURLs: ['/a/b'] }], { verbs: ['get'], nonResourceURLs: ['/a/*'] })).toBe(
    false,
  )
})

test('uncovered does not look at rules that come to billions of parts', () => {
  const many = Array.from({ length: 2000 }, (_, index) => String(index))
  expect(uncovered([], [policyRule({ verbs: many, apiGroups: many, resources: many })])).toBeUndefined()
  expect(partsMax).toBe(100_000)
  const [verbs, resources] = [many.slice(0, 100), many.slice(0, 1000)]
  const wanted = policyRule({ verbs, apiGroups: [''], resources })
  expect(uncovered([policyRule({ verbs: ['*'], apiGroups: [''], resources: ['*'] })], [wanted])).toEqual([])
})

const rules: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: fc.subarray(['get', 'list', '*'], { minLength: 1 }),
  apiGroups: fc.subarray(['', 'apps', '*']),
  resources: fc.subarray(['pods', 'pods/log', '*/log', '*']),
  resourceNames: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(['a', 'b'])),
  nonResourceURLs: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(['/a', '/a/*', '*'])),
})

test('uncovered: what is covered allows no question that is not allowed already', () => {
  const questions: AuthorizationAttributes[] = [
    ...['get', 'list', 'delete'].flatMap((verb) =>
      ['', 'apps', 'x'].flatMap((group) =>
        ['pods', 'nodes'].flatMap((resource) =>
          ['', 'log'].flatMap((subresource) =>
            ['', 'a', 'c'].map((name) => ({
              user: { name: '', groups: [] },
              verb,
              path: '',
              resourcePath: { group, version: '', resource, subresource, namespace: '', name },
            })),
          ),
        ),
      ),
    ),
    ...['/a', '/a/b', '/c'].map((path) => ({
      user: { name: '', groups: [] },
      verb: 'get',
      path,
      resourcePath: undefined,
    })),
  ]
  const allows = (list: readonly PolicyRule[], question: AuthorizationAttributes): boolean =>
    list.some(
      (rule) =>
        matchesRule(rule, question) &&
        (question.resourcePath === undefined ||
          rule.resourceNames.length === 0 ||
          rule.resourceNames.includes(question.resourcePath.name)),
    )
  fc.assert(
    fc.property(fc.array(rules, { maxLength: 3 }), fc.array(rules, { maxLength: 2 }), (held, wanted) => {
      const missing = uncovered(held, wanted) ?? []
      for (const question of questions)
        if (missing.length === 0 && allows(wanted, question)) expect(allows(held, question)).toBe(true)
      // With what is missing, everything is held.
      expect(uncovered([...held, ...missing], wanted)).toEqual([])
      expect(uncovered(uncovered([], wanted) ?? [], wanted)).toEqual([])
    }),
  )
})
