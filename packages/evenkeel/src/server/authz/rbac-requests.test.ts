import { expect, test } from 'vitest'
import type { PolicyRule } from '@evenkeel/builtins'
import { bind, role } from './rbac.fixture.ts'
import { rbac, startCompany, type Company } from './users.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const rule = (verbs: string[], more: Partial<PolicyRule> = {}): Partial<PolicyRule> => ({
  verbs,
  apiGroups: [''],
  resources: ['configmaps'],
  ...more,
})

/** A company where `u` has these rules, everywhere. */
async function start(...rules: readonly Partial<PolicyRule>[]): Promise<Company> {
  const company = await startCompany()
  await company.admin('POST', `${rbac}/clusterroles`, role('r', rules))
  await company.admin('POST', `${rbac}/clusterrolebindings`, bind('r', ['user u']))
  for (const name of ['a', 'b']) await company.admin('POST', maps, { metadata: { name } })
  return company
}

test('a call that nothing allows is refused in the words of upstream', async () => {
  await using company = await start()
  const u = company.as('u')
  expect(await u('GET', maps)).toMatchObject({
    status: 403,
    message:
      'configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" in the namespace "default"',
    json: { reason: 'Forbidden', details: { kind: 'configmaps' }, code: 403 },
  })
  expect((await u('GET', '/apis/apps/v1/namespaces/default/deployments/x/scale')).message).toBe(
    'deployments.apps "x" is forbidden: User "u" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"',
  )
  expect((await u('DELETE', '/api/v1/nodes')).message).toBe(
    'nodes is forbidden: User "u" cannot deletecollection resource "nodes" in API group "" at the cluster scope',
  )
  expect((await u('GET', '/metrics')).message).toBe('forbidden: User "u" cannot get path "/metrics"')
  expect((await u('GET', '/api/v1/<b>&amp;')).message).toContain('resource "&lt;b&gt;&amp;amp;"')
  await company.admin('POST', `${rbac}/clusterrolebindings`, bind('gone', ['user u']))
  expect((await u('GET', maps)).message).toBe(
    'configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  )
})

test('whether something exists is told only to who may ask', async () => {
  await using company = await start()
  const u = company.as('u')
  const [there, missing, unknown] = [
    await u('GET', `${maps}/a`),
    await u('GET', `${maps}/c`),
    await u('GET', '/apis/no.such/v1/things/x'),
  ]
  expect([there.status, missing.status, unknown.status]).toEqual([403, 403, 403])
})

test('a rule for names allows a list or watch whose selector names one, and gives nothing else', async () => {
  await using company = await start(rule(['get', 'list', 'watch', 'deletecollection'], { resourceNames: ['a'] }))
  const u = company.as('u')
  const status = async (method: string, query: string): Promise<number> => (await u(method, `${maps}?${query}`)).status
  expect(await status('GET', '')).toBe(403)
  expect(await status('GET', 'fieldSelector=metadata.name%3Db')).toBe(403)
  expect(await status('GET', 'fieldSelector=metadata.name!%3Da')).toBe(403)
  expect(await status('GET', 'fieldSelector=metadata.name%3Da&watch=1&timeoutSeconds=0')).toBe(200)
  expect(await status('GET', 'fieldSelector=metadata.name%3Db&watch=1')).toBe(403)
  expect(await status('GET', 'labelSelector=a%3Db')).toBe(403)
  // The deletion of a collection is about the collection, whatever its selector says.
  expect(await status('DELETE', 'fieldSelector=metadata.name%3Da')).toBe(403)
  const { json } = await u('GET', `${maps}?fieldSelector=metadata.name%3Da`)
  expect((json['items'] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(['a'])
  const twice = await u('GET', `${maps}?fieldSelector=metadata.name%3Da,metadata.name%3Db`)
  expect([twice.status, twice.json['items']]).toEqual([200, []])
})

test('a write that would create needs the right to create', async () => {
  await using company = await start(rule(['update', 'patch']))
  const u = company.as('u')
  expect((await u('PUT', `${maps}/a`, { metadata: { name: 'a' }, data: { k: 'v' } })).status).toBe(200)
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } }
  expect(await u('APPLY', `${maps}/new?fieldManager=t`, applied)).toMatchObject({
    status: 403,
    message:
      'configmaps "new" is forbidden: User "u" cannot create resource "configmaps" in API group "" in the namespace "default"',
  })
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/new'
  await company.admin(
    'PUT',
    `${rbac}/clusterroles/r`,
    role('r', [
      rule(['update', 'patch'], {
        apiGroups: ['', 'coordination.k8s.io'],
        resources: ['configmaps', 'leases', 'namespaces'],
      }),
    ]),
  )
  expect((await u('PUT', lease, { metadata: { name: 'new' } })).status).toBe(403)
  expect(
    (
      await u('APPLY', '/api/v1/namespaces/new?fieldManager=t', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'new' },
      })
    ).message,
  ).toContain('cannot create resource "namespaces" in API group "" at the cluster scope')
  await company.admin('PUT', `${rbac}/clusterroles/r`, role('r', [rule(['create', 'patch'])]))
  expect((await u('APPLY', `${maps}/new?fieldManager=t`, applied)).status).toBe(201)
})

test('members of system:masters may do everything, whatever the roles say, and health is for everybody', async () => {
  await using company = await start()
  await company.admin('DELETE', `${rbac}/clusterrolebindings/cluster-admin`)
  expect((await company.as('v', ['system:masters'])('GET', maps)).status).toBe(200)
  await company.admin('DELETE', `${rbac}/clusterrolebindings/system:public-info-viewer`)
  await company.admin('DELETE', `${rbac}/clusterrolebindings/system:discovery`)
  expect([
    (await company.as('v')('GET', '/readyz/ping')).status,
    (await company.as('v')('GET', '/version')).status,
  ]).toEqual([200, 403])
})

test('authorization: other modes, and several in order', async () => {
  const asked: string[] = []
  await using open = await startCompany({ authorization: 'always-allow' })
  expect((await open.as('u')('GET', maps)).status).toBe(200)
  await using chained = await startCompany({
    authorization: [
      ({ user, verb }) => {
        asked.push(`${user.name} ${verb}`)
        return verb === 'delete' ? { allowed: false, reason: 'nothing is deleted here' } : undefined
      },
      'rbac',
    ],
  })
  await chained.admin('POST', `${rbac}/clusterrolebindings`, bind('cluster-admin', ['user u'], { name: 'u' }))
  expect((await chained.as('u')('GET', maps)).status).toBe(200)
  expect((await chained.as('u')('DELETE', `${maps}/a`)).message).toBe(
    'configmaps "a" is forbidden: User "u" cannot delete resource "configmaps" in API group "" in the namespace "default": nothing is deleted here',
  )
  expect(asked).toContain('u list')
  await expect(startCompany({ authorization: [] })).rejects.toThrow('at least one mode')
  await using broken = await startCompany({
    authorization: () => ({ allowed: false, noOpinion: true, reason: '', error: 'no answer' }),
  })
  expect(await broken.as('u')('GET', maps)).toMatchObject({
    status: 500,
    message: 'Internal Server Error: "/api/v1/namespaces/default/configmaps": no answer',
  })
})

test('row 12: with ownerReferences on, nobody hands an object to an owner to have it deleted', async () => {
  await using company = await startCompany({ admission: { enablePlugins: ['OwnerReferencesPermissionEnforcement'] } })
  await company.admin('POST', `${rbac}/clusterroles`, role('r', [rule(['create', 'patch'])]))
  await company.admin('POST', `${rbac}/clusterrolebindings`, bind('r', ['user u']))
  await company.admin('POST', maps, { metadata: { name: 'a' } })
  const u = company.as('u')
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: '1' }]
  expect((await u('PATCH', `${maps}/a`, { metadata: { ownerReferences } })).message).toContain(
    "cannot set an ownerRef on a resource you can't delete",
  )
  expect((await u('POST', maps, { metadata: { name: 'b', ownerReferences } })).status).toBe(201)
  expect(
    (
      await u('POST', maps, {
        metadata: {
          name: 'c',
          ownerReferences: ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: true })),
        },
      })
    ).message,
  ).toContain("can't set finalizers on")
  expect((await u('PATCH', `${maps}/a`, { data: { k: 'v' } })).status).toBe(200)
})

test('row 4: nobody in particular may read what is public, and nothing else', async () => {
  await using company = await start()
  const transport = company.server.server.as({ name: 'system:anonymous', groups: ['system:unauthenticated'] })
  const status = async (target: string): Promise<number> =>
    (await transport({ method: 'GET', target, headers: {}, signal: new AbortController().signal })).status
  expect([await status('/version'), await status('/livez'), await status('/readyz')]).toEqual([200, 200, 200])
  for (const target of ['/api', '/apis', '/openapi/v3', '/metrics', maps, '/api/v1/namespaces', '/'])
    expect(await status(target), target).toBe(403)
})

test('row 9: the old path of watches is no other way to write', async () => {
  await using company = await start()
  const watched = maps.replace('/v1/', '/v1/watch/')
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect(
      (await company.admin(method, method === 'POST' ? watched : `${watched}/a`, { metadata: { name: 'new' } })).status,
      method,
    ).toBe(405)
  expect((await company.admin('GET', `${maps}/new`)).status).toBe(404)
})
