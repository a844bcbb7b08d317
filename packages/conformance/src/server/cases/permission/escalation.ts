/**
 * Users cannot grant rights that they do not have (176).
 */
import { expectStatus, ok } from '../../expect.ts'
import type { Place, ServerCase } from '../../target.ts'
import { patchTypes } from '../../target.ts'
import { Person, rbac } from './person.ts'

const group = 'rbac.authorization.k8s.io'
const reading = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }
const secrets = { verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }

/** A user with rights to write roles and bindings in the namespace, and to read ConfigMaps. */
async function writer(place: Place): Promise<{ ann: Person; roles: string; bindings: string }> {
  const ann = new Person(place)
  await ann.may(
    { verbs: ['create', 'update', 'patch', 'get'], apiGroups: [group], resources: ['roles', 'rolebindings'] },
    reading,
  )
  const inside = `${rbac}/namespaces/${place.namespace}`
  return { ann, roles: `${inside}/roles`, bindings: `${inside}/rolebindings` }
}

function binding(name: string, role: string, user: string): object {
  return {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: group, name: user }],
  }
}

export const escalationCases: readonly ServerCase[] = [
  {
    id: 'server/permission/escalation-role',
    rule: 'Writing a role requires all of its rules; the error lists the missing ones.',
    async run(place) {
      const { ann, roles } = await writer(place)
      ok(await ann.request('POST', roles, { body: { metadata: { name: 'mine' }, rules: [reading] } }), 201)
      const message =
        `roles.${group} "more" is forbidden: user "${ann.name}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n` +
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
      const rules = [
        { ...reading, verbs: ['get', 'delete'] },
        secrets,
        { ...secrets, verbs: ['get'], resourceNames: ['a'] },
      ]
      expectStatus(await ann.request('POST', roles, { body: { metadata: { name: 'more' }, rules } }), {
        code: 403,
        reason: 'Forbidden',
        message,
        details: { name: 'more', group, kind: 'roles' },
      })
      expectStatus(
        await ann.request('PATCH', `${roles}/mine`, { type: patchTypes.merge, body: { rules: [secrets] } }),
        { code: 403 },
      )
      expectStatus(
        await ann.request('PUT', `${roles}/mine`, { body: { metadata: { name: 'mine' }, rules: [reading, secrets] } }),
        { code: 403 },
      )
      expectStatus(
        await ann.request('PUT', `${roles}/new`, { body: { metadata: { name: 'new' }, rules: [secrets] } }),
        { code: 403 },
      )
      ok(
        await ann.request('PATCH', `${roles}/mine`, {
          type: patchTypes.merge,
          body: { rules: [{ ...reading, verbs: ['get'] }] },
        }),
        200,
      )
    },
  },
  {
    id: 'server/permission/escalation-binding',
    rule: 'Binding a role requires all of its rules or the bind verb; a missing role cannot be bound.',
    async run(place) {
      const { ann, bindings } = await writer(place)
      const role = place.unique('secrets')
      ok(await place.post('clusterroles', { metadata: { name: role }, rules: [secrets] }), 201)
      expectStatus(await ann.request('POST', bindings, { body: binding('give', role, ann.name) }), {
        code: 403,
        message: new RegExp(
          `^rolebindings\\.rbac\\.authorization\\.k8s\\.io "give" is forbidden: user "${ann.name}" \\(groups=\\["system:authenticated"\\]\\) is attempting to grant RBAC permissions not currently held:\\n\\{APIGroups:\\[""\\], Resources:\\["secrets"\\], Verbs:\\["get" "list"\\]\\}$`,
        ),
      })
      expectStatus(await ann.request('POST', bindings, { body: binding('give', place.unique('missing'), ann.name) }), {
        code: 404,
        message: `rolebindings.${group} "${place.unique('missing')}" not found`,
      })
      await ann.may({ verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: [role] })
      ok(await ann.request('POST', bindings, { body: binding('give', role, ann.name) }), 201)
      expectStatus(await ann.request('POST', bindings, { body: binding('other', 'cluster-admin', ann.name) }), {
        code: 403,
      })
    },
  },
  {
    id: 'server/permission/escalation-escalate',
    rule: 'The escalate verb lifts the check for roles, in its namespace.',
    async run(place) {
      const { ann, roles } = await writer(place)
      await ann.may({ verbs: ['escalate'], apiGroups: [group], resources: ['roles'] })
      ok(await ann.request('POST', roles, { body: { metadata: { name: 'more' }, rules: [secrets] } }), 201)
    },
  },
  {
    id: 'server/permission/escalation-end-of-life',
    rule: 'A write that changes only finalizers or owner references is not checked for escalation; one that changes labels is.',
    async run(place) {
      const { ann, roles } = await writer(place)
      ok(
        await place.client.request('POST', roles, {
          body: { metadata: { name: 'held', finalizers: ['judge.dev/x'] }, rules: [secrets] },
        }),
        201,
      )
      expectStatus(
        await ann.request('PATCH', `${roles}/held`, {
          type: patchTypes.merge,
          body: { metadata: { labels: { a: 'b' } } },
        }),
        { code: 403 },
      )
      ok(
        await ann.request('PATCH', `${roles}/held`, {
          type: patchTypes.merge,
          body: { metadata: { finalizers: null } },
        }),
        200,
      )
    },
  },
]
