import { expect, test } from 'vitest'
import { bind, role } from './rbac.fixture.ts'
import { rbac, startCompany, type Company } from './users.fixture.ts'

const inDev = `${rbac}/namespaces/dev`
const [pods, secrets] = [
  { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['get'], apiGroups: [''], resources: ['secrets'] },
]
const writeRoles = {
  verbs: ['create', 'update', 'patch', 'get', 'delete'],
  apiGroups: ['rbac.authorization.k8s.io'],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
}

/** A company where `u` may write roles and read pods in `dev`. */
async function start(): Promise<Company> {
  const company = await startCompany()
  const { admin } = company
  await admin('POST', '/api/v1/namespaces', { metadata: { name: 'dev' } })
  await admin('POST', `${rbac}/clusterroles`, role('writer', [writeRoles]))
  await admin('POST', `${rbac}/clusterroles`, role('pods', [pods]))
  await admin('POST', `${rbac}/clusterroles`, role('secrets', [secrets]))
  await admin('POST', `${rbac}/clusterrolebindings`, bind('writer', ['user u']))
  await admin('POST', `${inDev}/rolebindings`, bind('pods', ['user u'], { namespace: 'dev', name: 'u-pods' }))
  return company
}

test('row 12: who writes a role must hold its rules, and is told which are missing', async () => {
  await using company = await start()
  const u = company.as('u', ['devs'])
  expect((await u('POST', `${inDev}/roles`, role('mine', [pods], 'dev'))).status).toBe(201)
  const refused = await u('POST', `${inDev}/roles`, role('more', [pods, secrets], 'dev'))
  expect(refused).toMatchObject({
    status: 403,
    message:
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "u" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    json: { reason: 'Forbidden', details: { name: 'more', group: 'rbac.authorization.k8s.io', kind: 'roles' } },
  })
  // Held in one namespace is not held everywhere.
  expect((await u('POST', `${rbac}/clusterroles`, role('mine', [pods]))).status).toBe(403)
})

test('row 12: a role cannot be widened by update, patch, apply or an update that creates', async () => {
  await using company = await start()
  const u = company.as('u')
  await u('POST', `${inDev}/roles`, role('mine', [pods], 'dev'))
  const answers = [
    await u('PUT', `${inDev}/roles/mine`, role('mine', [pods, secrets], 'dev')),
    await u('PATCH', `${inDev}/roles/mine`, { rules: [secrets] }),
    await u('PUT', `${inDev}/roles/new`, role('new', [secrets], 'dev')),
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  expect((await u('PATCH', `${inDev}/roles/mine`, { rules: [{ ...pods, verbs: ['get'] }] })).status).toBe(200)
})

test('row 12: who gives a role must hold its rules, or may bind it', async () => {
  await using company = await start()
  const { admin } = company
  const u = company.as('u')
  expect(
    (await u('POST', `${inDev}/rolebindings`, bind('pods', ['user v'], { namespace: 'dev', name: 'v-pods' }))).status,
  ).toBe(201)
  const give = bind('secrets', ['user u'], { namespace: 'dev', name: 'u-secrets' })
  expect(await u('POST', `${inDev}/rolebindings`, give)).toMatchObject({
    status: 403,
    message: expect.stringContaining(
      'rolebindings.rbac.authorization.k8s.io "u-secrets" is forbidden: user "u" (groups=["system:authenticated"]) is attempting to grant',
    ) as string,
  })
  expect((await u('POST', `${rbac}/clusterrolebindings`, bind('pods', ['user u'], { name: 'u-pods' }))).status).toBe(
    403,
  )
  expect(await u('POST', `${inDev}/rolebindings`, bind('missing', ['user u'], { namespace: 'dev' }))).toMatchObject({
    status: 404,
    message: 'rolebindings.rbac.authorization.k8s.io "missing" not found',
  })
  await admin(
    'POST',
    `${rbac}/clusterroles`,
    role('binder', [
      {
        verbs: ['bind'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        resourceNames: ['secrets'],
      },
    ]),
  )
  await admin('POST', `${inDev}/rolebindings`, bind('binder', ['user u'], { namespace: 'dev' }))
  expect((await u('POST', `${inDev}/rolebindings`, give)).status).toBe(201)
  // The right to bind in one namespace is none to bind everywhere.
  expect((await u('POST', `${rbac}/clusterrolebindings`, bind('secrets', ['user u']))).status).toBe(403)
  expect((await u('GET', '/api/v1/namespaces/dev/secrets/x')).status).toBe(404)
})

test('row 12: adding a subject to a binding gives, taking a finalizer off does not', async () => {
  await using company = await start()
  const { admin } = company
  const u = company.as('u')
  await admin('POST', `${inDev}/rolebindings`, {
    ...bind('secrets', ['user w'], { namespace: 'dev' }),
    metadata: { name: 'w', namespace: 'dev', finalizers: ['x.dev/y'] },
  })
  expect(
    (
      await u('PATCH', `${inDev}/rolebindings/w`, {
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }],
      })
    ).status,
  ).toBe(403)
  expect((await u('PATCH', `${inDev}/rolebindings/w`, { metadata: { labels: { a: 'b' } } })).status).toBe(403)
  expect((await u('PATCH', `${inDev}/rolebindings/w`, { metadata: { finalizers: null } })).status).toBe(200)
})

test('row 12: escalate lifts the check for roles, and a gathering role takes everything', async () => {
  await using company = await start()
  const { admin } = company
  const u = company.as('u')
  const gathering = { ...role('all', []), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
  expect(await u('POST', `${rbac}/clusterroles`, gathering)).toMatchObject({
    status: 403,
    message:
      'clusterroles.rbac.authorization.k8s.io "all" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  })
  expect(await u('PATCH', `${rbac}/clusterroles/view`, { rules: [], aggregationRule: null })).toMatchObject({
    status: 403,
    message: expect.stringContaining('aggregationRule') as string,
  })
  await admin(
    'POST',
    `${rbac}/clusterroles`,
    role('escalator', [{ verbs: ['escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] }]),
  )
  await admin('POST', `${rbac}/clusterrolebindings`, bind('escalator', ['user u']))
  expect((await u('POST', `${rbac}/clusterroles`, gathering)).status).toBe(201)
  expect((await u('POST', `${rbac}/clusterroles`, role('more', [secrets]))).status).toBe(201)
  expect((await u('POST', `${inDev}/roles`, role('more', [secrets], 'dev'))).status).toBe(403)
})

test('row 12: rules beyond counting are refused at once', async () => {
  await using company = await start()
  const many = Array.from({ length: 1000 }, (_, index) => `r${index}`)
  const answer = await company.as('u')(
    'POST',
    `${inDev}/roles`,
    role('many', [{ verbs: many, apiGroups: many, resources: many }], 'dev'),
  )
  expect(answer).toMatchObject({ status: 403, message: expect.stringContaining('too many to compare') as string })
})
