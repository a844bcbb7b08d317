import { expect, test } from 'vitest'
import { policyRule } from '@evenkeel/builtins'
import type { AuthorizationAttributes } from './authorizer.ts'
import { matchesPath, matchesRule } from './policy-rules.ts'

const user = { name: 'u', groups: [] }

function about(verb: string, resource: string, group = ''): AuthorizationAttributes {
  const [plural = '', subresource = ''] = resource.split('/')
  return {
    user,
    verb,
    path: '',
    resourcePath: { group, version: 'v1', resource: plural, subresource, namespace: '', name: '' },
  }
}

test.each([
  { resources: ['pods'], asked: 'pods', matches: true },
  { resources: ['pods'], asked: 'pods/log', matches: false },
  { resources: ['pods/log'], asked: 'pods/log', matches: true },
  { resources: ['pods/log'], asked: 'pods', matches: false },
  { resources: ['*/scale'], asked: 'deployments/scale', matches: true },
  { resources: ['*/scale'], asked: 'deployments', matches: false },
  { resources: ['pods/*'], asked: 'pods/log', matches: false },
  { resources: ['*'], asked: 'pods/log', matches: true },
  { resources: ['*/*'], asked: 'pods/log', matches: false },
])('matchesRule: resources $resources and $asked', ({ resources, asked, matches }) => {
  expect(matchesRule(policyRule({ verbs: ['get'], apiGroups: [''], resources }), about('get', asked))).toBe(matches)
})

test('matchesRule: verb and group must be there, or a star', () => {
  const rule = policyRule({ verbs: ['get'], apiGroups: ['apps'], resources: ['*'] })
  expect([
    matchesRule(rule, about('get', 'x', 'apps')),
    matchesRule(rule, about('list', 'x', 'apps')),
    matchesRule(rule, about('get', 'x')),
  ]).toEqual([true, false, false])
  expect(matchesRule(policyRule({ verbs: ['*'], apiGroups: ['*'], resources: ['x'] }), about('list', 'x', 'any'))).toBe(
    true,
  )
})

test('matchesRule: rules about resources say nothing about paths, nor the other way round', () => {
  const path: AuthorizationAttributes = { user, verb: 'get', path: '/healthz', resourcePath: undefined }
  expect(matchesRule(policyRule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }), path)).toBe(false)
  expect(matchesRule(policyRule({ verbs: ['*'], nonResourceURLs: ['*'] }), about('get', 'pods'))).toBe(false)
  expect(matchesRule(policyRule({ verbs: ['get'], nonResourceURLs: ['/healthz'] }), path)).toBe(true)
})

test.each([
  ['/a', '/a', true],
  ['/a', '/a/', false],
  ['/a/*', '/a/b/c', true],
  ['/a/*', '/a', false],
  ['/a*', '/ab', true],
  ['*', '', true],
  ['/a/**', '/a/b', true],
  ['/*/b', '/a/b', false],
  ['', '', true],
])('matchesPath: %s and %s', (pattern, path, matches) => {
  expect(matchesPath(pattern, path)).toBe(matches)
})
