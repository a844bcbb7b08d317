import { expect, test } from 'vitest'
import { declareKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { rbacOf } from './rbac.ts'

const Site = declareKind({ group: 'demo.dev', version: 'v1', kind: 'Site' })
const Deployment = declareKind({ group: 'apps', version: 'v1', kind: 'Deployment' })
const site: ControllerDeclaration = { for: Site, owns: [Deployment], reconcile: () => undefined }
const events = [{ apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] }]

test('rbacOf puts what controllers need into a cluster role and the lease into a role of its namespace', () => {
  const { scopes, objects } = rbacOf({
    name: 'sites',
    declarations: [site, { ...site, name: 'again' }],
    lease: { name: 'sites', namespace: 'ops' },
  })
  expect(scopes.map(({ namespace }) => namespace)).toEqual([undefined, 'ops'])
  expect(scopes[0]?.rules).toEqual(
    expect.arrayContaining([
      ...events,
      {
        apiGroups: ['apps'],
        resources: ['deployments'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
      },
    ]),
  )
  expect(new Set(scopes[0]?.rules.map((rule) => JSON.stringify(rule))).size).toBe(scopes[0]?.rules.length)
  expect(JSON.stringify(scopes[0])).not.toContain('leases')
  expect(scopes[1]?.rules).toEqual([
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update'], resourceNames: ['sites'] },
  ])
  const made = objects({ namespace: 'ops' })
  expect(made.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}/${metadata.name ?? ''}`)).toEqual([
    'ClusterRole -/sites',
    'ClusterRoleBinding -/sites',
    'Role ops/sites',
    'RoleBinding ops/sites',
  ])
  expect(made[1]).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'sites' },
    subjects: [{ kind: 'ServiceAccount', name: 'sites', namespace: 'ops' }],
  })
})

test('rbacOf asks for nothing beyond the namespaces of a controller, unless it watches other things', () => {
  const narrow: ControllerDeclaration = { ...site, namespaces: ['a', 'b'] }
  expect(rbacOf({ name: 'sites', declarations: [narrow] }).scopes.map(({ namespace }) => namespace)).toEqual(['a', 'b'])
  const wide: ControllerDeclaration = { ...narrow, watches: [{ kind: Deployment, map: () => [] }] }
  expect(rbacOf({ name: 'sites', declarations: [wide] }).scopes.map(({ namespace }) => namespace)).toEqual([undefined])
})

test('rbacOf keeps what a controller asks for itself, leases too', () => {
  const own = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] }
  expect(rbacOf({ name: 'sites', declarations: [{ ...site, rbac: [own] }] }).scopes[0]?.rules).toContain(own)
})

test('F7: a rule with namespaces of its own is in Roles there, whatever the namespaces of its controller', () => {
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'], resourceNames: ['ca'] }
  const zones = { apiGroups: ['dns.dev'], resources: ['zones'], verbs: ['get'] }
  const declaration: ControllerDeclaration = {
    ...site,
    namespaces: ['a'],
    rbac: [
      { ...secrets, namespaces: ['vault'] },
      { ...zones, namespaces: 'all' },
    ],
  }
  const { scopes, objects } = rbacOf({ name: 'sites', declarations: [declaration] })
  const rulesIn = (namespace: string | undefined): unknown =>
    scopes.find((scope) => scope.namespace === namespace)?.rules
  expect(scopes.map(({ namespace }) => namespace)).toEqual(['a', 'vault', undefined])
  expect([rulesIn('vault'), rulesIn(undefined)]).toEqual([[secrets], [zones]])
  expect(JSON.stringify(rulesIn('a'))).not.toContain('secrets')
  expect(objects({ namespace: 'ops' }).find(({ metadata }) => metadata.namespace === 'vault')).toMatchObject({
    kind: 'Role',
    rules: [secrets],
  })
})
