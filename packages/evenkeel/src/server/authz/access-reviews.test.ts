import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'
import { bind, role } from './rbac.fixture.ts'
import { rbac, startCompany } from './users.fixture.ts'

const reviews = '/apis/authorization.k8s.io/v1'
const getPods = { verb: 'get', resource: 'pods' }

test('SelfSubjectAccessReview says what would happen, and why', async () => {
  await using company = await startCompany()
  const u = company.as('u')
  const ask = async (spec: object): Promise<unknown> =>
    (await u('POST', `${reviews}/selfsubjectaccessreviews`, { spec })).json['status']
  expect(await ask({ resourceAttributes: getPods })).toEqual({ allowed: false })
  await company.admin(
    'POST',
    `${rbac}/clusterroles`,
    role('pods', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }]),
  )
  await company.admin(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    bind('pods', ['user u'], { namespace: 'default' }),
  )
  expect(await ask({ resourceAttributes: { ...getPods, namespace: 'default', name: 'a' } })).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "pods/default" of ClusterRole "pods" to User "u"',
  })
  expect(await ask({ resourceAttributes: { ...getPods, namespace: 'default' } })).toEqual({ allowed: false })
  expect(await ask({ nonResourceAttributes: { path: '/version', verb: 'get' } })).toMatchObject({ allowed: true })
})

test('SubjectAccessReview tells a denial from the lack of an opinion', async () => {
  const tested = await TestServer.start({
    authorization: ({ path }) => ({ allowed: false, reason: 'no', ...(path === '/free' && { noOpinion: true }) }),
  })
  const status = async (path: string): Promise<unknown> => {
    const spec = { user: 'u', nonResourceAttributes: { path, verb: 'get' } }
    return (await tested.ask('POST', `${reviews}/subjectaccessreviews`, { body: { spec } })).json['status']
  }
  expect(await status('/closed')).toEqual({ allowed: false, denied: true, reason: 'no' })
  expect(await status('/free')).toEqual({ allowed: false, reason: 'no' })
  await tested.server.stop()
})

test('SubjectAccessReview asks about others, and not everybody may ask', async () => {
  await using company = await startCompany()
  expect(
    (
      await company.as('u')('POST', `${reviews}/subjectaccessreviews`, {
        spec: { user: 'x', resourceAttributes: getPods },
      })
    ).status,
  ).toBe(403)
  const ask = async (spec: object): Promise<Record<string, unknown>> =>
    (await company.admin('POST', `${reviews}/subjectaccessreviews`, { spec })).json
  expect(await ask({ groups: ['system:masters'], resourceAttributes: getPods })).toMatchObject({
    status: { allowed: true },
  })
  expect(
    await ask({ user: 'x', groups: ['system:authenticated'], nonResourceAttributes: { verb: 'get', path: '/api' } }),
  ).toMatchObject({ status: { allowed: true } })
  expect(await ask({ resourceAttributes: getPods })).toMatchObject({
    code: 422,
    message:
      '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  })
})

test('reviews: one question, about a resource or a path, and no metadata', async () => {
  await using company = await startCompany()
  const ask = async (body: object): Promise<string> =>
    (await company.admin('POST', `${reviews}/selfsubjectaccessreviews`, body)).message.replace(
      '.authorization.k8s.io "" is invalid: ',
      '',
    )
  expect(await ask({ spec: {} })).toBe(
    'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  )
  expect(await ask({ spec: { resourceAttributes: getPods, nonResourceAttributes: { path: '/x', verb: 'get' } } })).toBe(
    'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
  )
  expect(await ask({ metadata: { name: 'x' }, spec: { resourceAttributes: getPods } })).toBe(
    'metadata: Invalid value: {"name":"x"}: must be empty',
  )
})

test('LocalSubjectAccessReview is about its own namespace', async () => {
  await using company = await startCompany()
  const ask = (metadata: object, spec: object): ReturnType<typeof company.admin> =>
    company.admin('POST', `${reviews}/namespaces/default/localsubjectaccessreviews`, {
      metadata,
      spec: { user: 'x', ...spec },
    })
  expect(await ask({}, { resourceAttributes: { ...getPods, namespace: 'default' } })).toMatchObject({
    status: 201,
    json: { metadata: { namespace: 'default' }, status: { allowed: false } },
  })
  expect((await ask({}, { resourceAttributes: getPods })).message).toContain(
    'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
  )
  expect(await ask({ namespace: 'other' }, { resourceAttributes: { ...getPods, namespace: 'other' } })).toMatchObject({
    status: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  })
  expect((await ask({ name: 'n' }, { nonResourceAttributes: { path: '/x', verb: 'get' } })).message).toContain(
    'must be empty except for namespace, spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
  )
})

test('reviews: selectors are checked, and what cannot be read is ignored and said', async () => {
  await using company = await startCompany()
  const ask = async (attributes: object): Promise<Record<string, unknown>> =>
    (
      await company.admin('POST', `${reviews}/selfsubjectaccessreviews`, {
        spec: { resourceAttributes: { ...getPods, ...attributes } },
      })
    ).json
  const wrong = await ask({
    fieldSelector: {
      rawSelector: 'a=b',
      requirements: [
        { key: '', operator: 'In', values: [] },
        { key: 'x', operator: 'Exists', values: ['a'] },
        { key: 'x', operator: 'Foo', values: ['a'] },
      ],
    },
    labelSelector: {},
  })
  expect(wrong['message']).toBe(
    '.authorization.k8s.io "" is invalid: [spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements, ' +
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified, spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', " +
      "spec.resourceAttributes.fieldSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist', " +
      'spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required]',
  )
  const partly = await ask({
    fieldSelector: {
      requirements: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'In', values: ['x'] },
        { key: 'b', operator: 'In', values: ['x', 'y'] },
      ],
    },
    labelSelector: { requirements: [{ key: 'a', operator: 'Foo', values: ['x'] }] },
  })
  expect(partly['status']).toEqual({
    allowed: true,
    evaluationError:
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
  })
  expect((await ask({ fieldSelector: { rawSelector: 'a~b' } }))['status']).toMatchObject({
    evaluationError: 'spec.resourceAttributes.fieldSelector ignored due to parse error',
  })
})

test('SelfSubjectRulesReview lists the rules of a namespace and needs one', async () => {
  await using company = await startCompany()
  const u = company.as('u')
  await company.admin(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    bind('gone', ['user u'], { namespace: 'default' }),
  )
  expect(await u('POST', `${reviews}/selfsubjectrulesreviews`, { spec: {} })).toMatchObject({
    status: 400,
    message: 'no namespace on request',
  })
  const { json } = await u('POST', `${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } })
  expect(json).toMatchObject({
    spec: {},
    status: {
      resourceRules: [
        {
          verbs: ['create'],
          apiGroups: ['authorization.k8s.io'],
          resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        },
        { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
      ],
      nonResourceRules: [
        { verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/api', '/openapi/*']) as unknown },
        { verbs: ['get'] },
      ],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    },
  })
})
