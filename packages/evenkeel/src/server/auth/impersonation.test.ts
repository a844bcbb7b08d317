import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts'
import { Listening, whoAmI, type IdentityResponse } from './callers.fixture.ts'

/** Everything is allowed but impersonation, of which these are. */
let rights: string[] = []
const asked: string[] = []
let listening: Listening

const authorizer: Authorizer = ({ verb, resourcePath: place, user }: AuthorizationAttributes) => {
  if (!verb.startsWith('impersonate')) return { allowed: true, reason: '' }
  const where = verb.includes('-on:')
    ? ''
    : ` ${place?.group ?? ''}/${place?.resource ?? ''}${place?.subresource ? `/${place.subresource}` : ''} ${place?.namespace ? `${place.namespace}/` : ''}${place?.name ?? ''}`
  const question = `${verb}${where}`
  asked.push(`${user.name} ${question}`)
  return {
    allowed: rights.some(
      (right) => right === question || (right.endsWith('*') && question.startsWith(right.slice(0, -1))),
    ),
    reason: '',
  }
}

beforeEach(async () => {
  rights = []
  asked.length = 0
  listening = await Listening.start({
    authorization: [authorizer],
    authentication: {
      tokens: {
        mallory: { name: 'mallory', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n1'] } },
        agent: {
          name: 'system:serviceaccount:kube-system:agent',
          groups: [],
          extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
        },
      },
    },
  })
})
afterEach(() => listening.server.stop({ graceMs: 0 }))

const as = (headers: Record<string, string | string[]>, token = 'mallory'): Promise<IdentityResponse> =>
  listening.who({ headers: { authorization: `Bearer ${token}`, ...headers } })

describe('impersonate', () => {
  test('needs the right to be that user, and to be in each group, of that uid, with each extra', async () => {
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': ['a, b', 'c'],
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2FTeam': ['x', 'y'],
    }
    const needed = [
      'impersonate /users jane',
      'impersonate authentication.k8s.io/uids 7',
      'impersonate /groups a, b',
      'impersonate /groups c',
      'impersonate authentication.k8s.io/userextras/example.com/team x',
      'impersonate authentication.k8s.io/userextras/example.com/team y',
    ]
    rights = needed
    expect((await as(headers)).user).toEqual({
      username: 'jane',
      uid: '7',
      groups: ['a, b', 'c', 'system:authenticated'],
      extra: { 'example.com/team': ['x', 'y'] },
    })
    expect((await listening.whoHttp2({ headers: { authorization: 'Bearer mallory', ...headers } })).user).toMatchObject(
      { groups: ['a, b', 'c', 'system:authenticated'] },
    )
    for (const missing of needed) {
      rights = needed.filter((right) => right !== missing)
      expect((await as(headers)).status, missing).toBe(403)
    }
  })

  test('says what is not allowed as upstream says it', async () => {
    expect((await as({ 'impersonate-user': 'jane' })).message).toBe(
      'selfsubjectreviews.authentication.k8s.io is forbidden: User "mallory" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
    )
    expect((await as({ 'impersonate-user': 'system:serviceaccount:shop:x' })).message).toContain(
      'cannot impersonate-on:serviceaccount:create',
    )
    rights = ['impersonate-on:*']
    expect((await as({ 'impersonate-user': 'system:serviceaccount:shop:x' })).message).toBe(
      'serviceaccounts.authentication.k8s.io "x" is forbidden: User "mallory" cannot impersonate:serviceaccount resource "serviceaccounts" in API group "authentication.k8s.io" in the namespace "shop"',
    )
  })

  test('knows the groups that follow from a name', async () => {
    rights = ['impersonate*']
    const groupsOf = async (headers: Record<string, string | string[]>): Promise<unknown> =>
      (await as(headers)).user.groups
    expect(await groupsOf({ 'impersonate-user': 'jane' })).toEqual(['system:authenticated'])
    expect(await groupsOf({ 'impersonate-user': 'jane', 'impersonate-group': 'system:unauthenticated' })).toEqual([
      'system:unauthenticated',
    ])
    expect(await groupsOf({ 'impersonate-user': 'system:anonymous' })).toEqual(['system:unauthenticated'])
    expect(await groupsOf({ 'impersonate-user': 'system:serviceaccount:shop:x' })).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:shop',
      'system:authenticated',
    ])
    expect(await groupsOf({ 'impersonate-user': 'system:serviceaccount:shop:x', 'impersonate-group': 'g' })).toEqual([
      'g',
      'system:authenticated',
    ])
    expect(await groupsOf({ 'impersonate-user': 'system:serviceaccount:Not_a:name' })).toEqual(['system:authenticated'])
    expect(await groupsOf({ 'impersonate-user': 'system:node:n1' })).toEqual(['system:nodes', 'system:authenticated'])
  })

  test('may be allowed for one verb and one sort of user only', async () => {
    rights = [
      'impersonate-on:user-info:create',
      'impersonate:user-info authentication.k8s.io/users jane',
      'impersonate:user-info authentication.k8s.io/groups *',
    ]
    expect((await as({ 'impersonate-user': 'jane' })).user.username).toBe('jane')
    expect((await as({ 'impersonate-user': 'jack' })).status).toBe(403)
    expect((await as({ 'impersonate-user': 'jane', 'impersonate-group': 'g' })).status).toBe(201)
    expect((await as({ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' })).status).toBe(403)
    expect((await as({ 'impersonate-user': 'jane', 'impersonate-group': '' })).status).toBe(403)
    const headers = { authorization: 'Bearer mallory', 'impersonate-user': 'jane' }
    expect((await listening.ask({ path: '/api/v1/namespaces', headers })).message).toContain(
      'cannot impersonate-on:user-info:list',
    )
    rights.push('impersonate-on:user-info:list')
    expect((await listening.ask({ path: '/api/v1/namespaces', headers })).status).toBe(200)
  })

  test('lets an agent be the node it runs on, and no other', async () => {
    rights = ['impersonate-on:associated-node:create', 'impersonate:associated-node authentication.k8s.io/nodes *']
    expect((await as({ 'impersonate-user': 'system:node:n1' }, 'agent')).user).toEqual({
      username: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    })
    expect((await as({ 'impersonate-user': 'system:node:n2' }, 'agent')).status).toBe(403)
    expect((await as({ 'impersonate-user': 'system:node:n1' }, 'mallory')).status).toBe(403)
    expect((await as({ 'impersonate-user': 'system:node:n1', 'impersonate-uid': '1' }, 'agent')).status).toBe(403)
  })

  test('refuses groups, uid and extra without a name, and takes an empty name for none', async () => {
    rights = ['impersonate*']
    expect(await as({ 'impersonate-group': 'a', 'impersonate-uid': '3' })).toMatchObject({
      status: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"3", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name',
    })
    expect(await as({ 'impersonate-extra-a': 'b' })).toMatchObject({
      status: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}}} without impersonating a user name',
    })
    expect((await as({ 'impersonate-user': '' })).user.username).toBe('mallory')
  })

  test('asks about the caller, not about who it wants to be, and only once somebody is known', async () => {
    rights = ['impersonate*']
    await as({ 'impersonate-user': 'jane' })
    expect(new Set(asked.map((question) => question.split(' ')[0]))).toEqual(new Set(['mallory']))
    expect((await listening.who({ headers: { 'impersonate-user': 'jane' } })).status).toBe(401)
    expect((await listening.ask({ path: '/readyz', headers: { 'impersonate-user': 'jane' } })).status).toBe(200)
  })

  test('keys of extra may be anything, and pollute nothing', async () => {
    rights = ['impersonate*']
    const { user } = await as({
      'impersonate-user': 'jane',
      'impersonate-extra-__proto__': 'x',
      'impersonate-extra-constructor': 'y',
      'impersonate-extra-%zz': 'z',
    })
    expect(Object.entries(user.extra ?? {})).toEqual(
      expect.arrayContaining([
        ['constructor', ['y']],
        ['%zz', ['z']],
      ]),
    )
    expect(Object.keys(user.extra ?? {})).toContain('__proto__')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('costs nothing without the headers', async () => {
    await listening.ask({ ...whoAmI, headers: { authorization: 'Bearer mallory' } })
    expect(asked).toEqual([])
  })
})
