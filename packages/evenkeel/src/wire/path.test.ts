import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatResourcePath, parseResourcePath } from './path.ts'

const nothing = { group: '', namespace: '', name: '', subresource: '', rest: [], watch: false }

test.each([
  ['/api/v1/pods', { version: 'v1', resource: 'pods' }],
  ['/api/v1/pods/', { version: 'v1', resource: 'pods' }],
  ['/api/v1/namespaces', { version: 'v1', resource: 'namespaces' }],
  ['/api/v1/namespaces/a', { version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a' }],
  [
    '/api/v1/namespaces/a/status',
    { version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'status' },
  ],
  [
    '/api/v1/namespaces/a/finalize',
    { version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'finalize' },
  ],
  ['/api/v1/namespaces/a/pods', { version: 'v1', resource: 'pods', namespace: 'a' }],
  [
    '/api/v1/namespaces/a/pods/b/log',
    { version: 'v1', resource: 'pods', namespace: 'a', name: 'b', subresource: 'log' },
  ],
  [
    '/api/v1/namespaces/a/services/b/proxy/x/y',
    { version: 'v1', resource: 'services', namespace: 'a', name: 'b', subresource: 'proxy', rest: ['x', 'y'] },
  ],
  ['/apis/apps/v1/deployments', { group: 'apps', version: 'v1', resource: 'deployments' }],
  [
    '/apis/apps/v1/namespaces/a/deployments/d/scale',
    { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'a', name: 'd', subresource: 'scale' },
  ],
  ['/api/v1/watch/namespaces/a/pods', { version: 'v1', resource: 'pods', namespace: 'a', watch: true }],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles', name: 'system:node' },
  ],
  ['/api/v1/pods/a%2Fb', { version: 'v1', resource: 'pods', name: 'a/b' }],
])('parseResourcePath reads %s', (path, expected) => {
  expect(parseResourcePath(path)).toEqual({ ...nothing, ...expected })
})

test.each([
  '/',
  '',
  '/healthz',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/apps/v1/',
  'api/v1/pods',
  '/api//pods',
  '/api/v1//pods',
  '/openapi/v3/apis/apps/v1',
])('parseResourcePath leaves %j alone', (path) => {
  expect(parseResourcePath(path)).toBeUndefined()
})

test('parseResourcePath refuses broken encoding', () => {
  expect(() => parseResourcePath('/api/v1/pods/%zz')).toThrow(/not properly encoded/)
})

test('formatResourcePath writes what parseResourcePath reads', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9:%. ]{0,8}$/)
  const resource = fc
    .stringMatching(/^[a-z]{1,8}s$/)
    .filter((name) => name !== 'namespaces' && name !== 'watch' && name !== 'status')
  fc.assert(
    fc.property(
      fc.tuple(fc.constantFrom('', 'apps', 'x.example.com'), resource, word, word),
      ([group, plural, namespace, name]) => {
        const path = { group, version: 'v1', resource: plural, namespace, name, subresource: 'status' }
        expect(parseResourcePath(formatResourcePath(path))).toEqual({ ...nothing, ...path })
      },
    ),
  )
})
