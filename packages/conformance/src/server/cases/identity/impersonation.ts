/**
 * Impersonation and SelfSubjectReview.
 */
import { Client } from '../../client.ts'
import type { Answer } from '../../answer.ts'
import { eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { Place, ServerCase } from '../../target.ts'

const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'

type Headers = Readonly<Record<string, string>>

function who(client: Client, headers: Headers = {}): Promise<Answer> {
  return client.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    headers,
  })
}

async function expectUser(place: Place, headers: Headers, user: object): Promise<void> {
  expectMatch(ok(await who(place.client, headers), 201), {
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: /Z$/ },
    status: { userInfo: { uid: undefined, extra: undefined, ...user } },
  })
}

export const impersonationCases: readonly ServerCase[] = [
  {
    id: 'server/impersonation/user',
    rule: 'An authorized caller can impersonate a user, who is in system:authenticated.',
    async run(place) {
      await expectUser(place, { 'impersonate-user': 'jane' }, { username: 'jane', groups: ['system:authenticated'] })
      await expectUser(
        place,
        { 'impersonate-user': 'jane', 'impersonate-group': 'a, b' },
        { username: 'jane', groups: ['a, b', 'system:authenticated'] },
      )
      await expectUser(
        place,
        { 'impersonate-user': 'jane', 'impersonate-uid': '7', 'impersonate-extra-example.com%2fteam': 'x' },
        { username: 'jane', uid: '7', groups: ['system:authenticated'], extra: { 'example.com/team': ['x'] } },
      )
    },
  },
  {
    id: 'server/impersonation/service-account',
    rule: 'An impersonated service account is in its default groups unless others are given.',
    async run(place) {
      const name = 'system:serviceaccount:shop:robot'
      await expectUser(
        place,
        { 'impersonate-user': name },
        { username: name, groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'] },
      )
      await expectUser(
        place,
        { 'impersonate-user': name, 'impersonate-group': 'g' },
        { username: name, groups: ['g', 'system:authenticated'] },
      )
      await expectUser(
        place,
        { 'impersonate-user': 'system:serviceaccount:Not_one:x' },
        { username: 'system:serviceaccount:Not_one:x', groups: ['system:authenticated'] },
      )
    },
  },
  {
    id: 'server/impersonation/rights',
    rule: 'An impersonating caller has exactly the rights of the impersonated user.',
    async run(place) {
      expectStatus(await place.get('secrets', undefined, { headers: { 'impersonate-user': 'jane' } }), {
        code: 403,
        reason: 'Forbidden',
        message: `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "${place.namespace}"`,
      })
      ok(
        await place.get('secrets', undefined, {
          headers: { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
        }),
        200,
      )
      expectStatus(await who(place.client, { 'impersonate-user': 'system:anonymous' }), {
        code: 403,
        message:
          /^selfsubjectreviews\.authentication\.k8s\.io is forbidden: User "system:anonymous" cannot create resource/,
      })
      expectStatus(
        await who(place.client, { 'impersonate-user': 'jane', 'impersonate-group': 'system:unauthenticated' }),
        { code: 403 },
      )
    },
  },
  {
    id: 'server/impersonation/without-a-name',
    rule: 'Groups, uid or extra without a user name are rejected; an empty name counts as no name.',
    async run(place) {
      expectStatus(await who(place.client, { 'impersonate-group': 'a', 'impersonate-uid': '3' }), {
        code: 400,
        reason: 'BadRequest',
        message:
          'requested &user.DefaultInfo{Name:"", UID:"3", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name',
      })
      expectStatus(await who(place.client, { 'impersonate-extra-a': 'b' }), {
        code: 400,
        message:
          'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}}} without impersonating a user name',
      })
      const self = ok(await who(place.client), 201).status['userInfo'] as { username: string }
      expectMatch(ok(await who(place.client, { 'impersonate-user': '' }), 201).status, {
        userInfo: { username: self.username },
      })
    },
  },
  {
    id: 'server/impersonation/forbidden',
    rule: 'Impersonation without permission returns 403 (178).',
    needs: ['authentication'],
    async run(place) {
      ok(await place.post('serviceaccounts', { metadata: { name: 'robot' } }), 201)
      const { status } = ok(
        await place.client.request('POST', place.path('serviceaccounts', 'robot/token'), { body: {} }),
        201,
      )
      const caller = new Client(place.target.send, { headers: { authorization: `Bearer ${String(status['token'])}` } })
      const robot = `system:serviceaccount:${place.namespace}:robot`
      const refusal = (mode: string): object => ({
        code: 403,
        reason: 'Forbidden',
        message: `selfsubjectreviews.authentication.k8s.io is forbidden: User "${robot}" cannot impersonate-on:${mode}:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`,
      })
      expectStatus(await who(caller, { 'impersonate-user': 'jane' }), refusal('user-info') as { code: number })
      expectStatus(await who(caller, { 'impersonate-user': robot }), refusal('serviceaccount') as { code: number })
      expectStatus(
        await who(caller, { 'impersonate-user': 'system:node:n1' }),
        refusal('arbitrary-node') as { code: number },
      )
    },
  },
  {
    id: 'server/impersonation/granted',
    rule: 'The right to impersonate can be limited to certain users.',
    needs: ['authentication'],
    async run(place) {
      ok(await place.post('serviceaccounts', { metadata: { name: 'robot' } }), 201)
      const { status } = ok(
        await place.client.request('POST', place.path('serviceaccounts', 'robot/token'), { body: {} }),
        201,
      )
      const role = place.unique('role')
      ok(
        await place.post('clusterroles', {
          metadata: { name: role },
          rules: [{ apiGroups: [''], resources: ['users'], resourceNames: ['jane'], verbs: ['impersonate'] }],
        }),
        201,
      )
      const binding = {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: place.namespace }],
      }
      ok(await place.client.request('POST', bindings, { body: binding }), 201)
      try {
        const caller = new Client(place.target.send, {
          headers: { authorization: `Bearer ${String(status['token'])}` },
        })
        await untilAllowed(caller)
        expectStatus(await who(caller, { 'impersonate-user': 'jack' }), { code: 403 })
        expectStatus(await who(caller, { 'impersonate-user': 'jane', 'impersonate-group': 'g' }), { code: 403 })
      } finally {
        await place.client.request('DELETE', `${bindings}/${role}`)
      }
    },
  },
]

/** New permissions may take a moment to apply. */
async function untilAllowed(caller: Client): Promise<void> {
  const { json } = await eventually(
    () => who(caller, { 'impersonate-user': 'jane' }),
    ({ status }) => status === 201,
  )
  expectMatch(json.status, { userInfo: { username: 'jane' } })
}
