/**
 * What roles allow, and the text of a 403.
 */
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { ServerCase } from '../../target.ts'
import { applyType } from '../../target.ts'
import { Person, rbac } from './person.ts'

export const permissionCases: readonly ServerCase[] = [
  {
    id: 'server/permission/refusal',
    rule: 'A 403 names the verb, the resource, the group and the scope, and reveals nothing about what exists.',
    async run(place) {
      const ann = new Person(place)
      const user = `User "${ann.name}"`
      expectStatus(await ann.request('GET', place.path('configmaps')), {
        code: 403,
        reason: 'Forbidden',
        message: `configmaps is forbidden: ${user} cannot list resource "configmaps" in API group "" in the namespace "${place.namespace}"`,
        details: { kind: 'configmaps', name: undefined },
      })
      expectStatus(
        await ann.request('PUT', `/apis/apps/v1/namespaces/${place.namespace}/deployments/x/scale`, { body: {} }),
        {
          code: 403,
          message: `deployments.apps "x" is forbidden: ${user} cannot update resource "deployments/scale" in API group "apps" in the namespace "${place.namespace}"`,
          details: { kind: 'deployments', group: 'apps', name: 'x' },
        },
      )
      expectStatus(await ann.request('GET', '/api/v1/nodes'), {
        code: 403,
        message: `nodes is forbidden: ${user} cannot list resource "nodes" in API group "" at the cluster scope`,
      })
      expectStatus(await ann.request('GET', `/api/v1/namespaces/${place.namespace}`), {
        code: 403,
        message: `namespaces "${place.namespace}" is forbidden: ${user} cannot get resource "namespaces" in API group "" in the namespace "${place.namespace}"`,
      })
      expectStatus(await ann.request('GET', '/apis/no.such.group/v1/things/x'), {
        code: 403,
        message: `things.no.such.group "x" is forbidden: ${user} cannot get resource "things" in API group "no.such.group" at the cluster scope`,
      })
      expectStatus(await ann.request('GET', '/metrics'), {
        code: 403,
        message: `forbidden: ${user} cannot get path "/metrics"`,
        details: {},
      })
      ok(await ann.request('GET', '/version'), 200)
      ok(await ann.request('GET', '/api'), 200)
    },
  },
  {
    id: 'server/permission/names-and-lists',
    rule: 'A rule with resourceNames allows a list only with a field selector on one of the names (174).',
    async run(place) {
      const ann = new Person(place)
      for (const name of ['a', 'b']) ok(await place.post('configmaps', { metadata: { name } }), 201)
      await ann.may({
        verbs: ['get', 'list', 'watch', 'deletecollection'],
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['a'],
      })
      const list = (fieldSelector?: string): ReturnType<Person['request']> =>
        ann.request('GET', place.path('configmaps'), fieldSelector === undefined ? {} : { query: { fieldSelector } })
      ok(await ann.request('GET', place.path('configmaps', 'a')), 200)
      expectStatus(await ann.request('GET', place.path('configmaps', 'b')), { code: 403 })
      expectStatus(await list(), { code: 403, details: { kind: 'configmaps', name: undefined } })
      expectMatch(ok(await list('metadata.name=a'), 200), { items: [{ metadata: { name: 'a' } }] })
      expectStatus(await list('metadata.name=b'), { code: 403, details: { name: 'b' } })
      expectStatus(await list('metadata.name!=a'), { code: 403 })
      expectMatch(ok(await list('metadata.name=a,metadata.name=b'), 200), { items: [] })
      expectStatus(
        await ann.request('DELETE', place.path('configmaps'), { query: { fieldSelector: 'metadata.name=a' } }),
        { code: 403, message: /cannot deletecollection/ },
      )
    },
  },
  {
    id: 'server/permission/parts',
    rule: '`*/part` matches that subresource of every resource, and not the resource itself (175).',
    async run(place) {
      const ann = new Person(place)
      await ann.may({ verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale'] })
      const deployment = `/apis/apps/v1/namespaces/${place.namespace}/deployments/x`
      expectStatus(await ann.request('GET', `${deployment}/scale`), { code: 404 })
      expectStatus(await ann.request('GET', deployment), { code: 403 })
      expectStatus(await ann.request('GET', `${deployment}/status`), { code: 403 })
      expectStatus(await ann.request('GET', `/api/v1/namespaces/${place.namespace}/replicationcontrollers/x/scale`), {
        code: 403,
      })
    },
  },
  {
    id: 'server/permission/creating-writes',
    rule: 'A write that would create a missing object needs the create verb.',
    async run(place) {
      const ann = new Person(place)
      await ann.may({
        verbs: ['update', 'patch'],
        apiGroups: ['', 'coordination.k8s.io'],
        resources: ['configmaps', 'leases'],
      })
      const refusal = `User "${ann.name}" cannot create resource "configmaps" in API group "" in the namespace "${place.namespace}"`
      expectStatus(
        await ann.request('PATCH', place.path('configmaps', 'a'), {
          type: applyType,
          query: { fieldManager: 't' },
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
        }),
        { code: 403, message: `configmaps "a" is forbidden: ${refusal}` },
      )
      const lease = `/apis/coordination.k8s.io/v1/namespaces/${place.namespace}/leases/a`
      expectStatus(
        await ann.request('PUT', lease, {
          body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } },
        }),
        { code: 403, message: /cannot create resource "leases"/ },
      )
      await ann.may({ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] })
      ok(
        await ann.request('PATCH', place.path('configmaps', 'a'), {
          type: applyType,
          query: { fieldManager: 't' },
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
        }),
        201,
      )
    },
  },
  {
    id: 'server/permission/scope',
    rule: 'Rights in a namespace do not apply outside it, and a path of one scope does not lead into another.',
    async run(place) {
      const ann = new Person(place)
      await ann.may({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
      ok(await ann.request('GET', place.path('configmaps')), 200)
      ok(await ann.request('GET', `/api/v1/namespaces/${place.namespace}`), 200)
      expectStatus(await ann.request('GET', '/api/v1/configmaps'), { code: 403 })
      expectStatus(await ann.request('GET', '/api/v1/namespaces/default'), { code: 403 })
      expectStatus(await ann.request('GET', `/api/v1/namespaces/${place.namespace}/namespaces/default`), { code: 404 })
      expectStatus(await ann.request('GET', `/api/v1/namespaces/${place.namespace}/nodes`), { code: 404 })
      expectStatus(await ann.request('GET', `${rbac}/namespaces/${place.namespace}/clusterroles/view`), { code: 404 })
    },
  },
  {
    id: 'server/permission/missing-role',
    rule: 'A 403 names bindings whose role is missing.',
    async run(place) {
      const ann = new Person(place)
      await ann.may({ verbs: ['get'], apiGroups: [''], resources: ['secrets'] })
      const binding = {
        metadata: { name: 'dangling' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'no-such-role' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: ann.name }],
      }
      ok(
        await place.client.request('POST', `${rbac}/namespaces/${place.namespace}/rolebindings`, { body: binding }),
        201,
      )
      await ann.may({ verbs: ['list'], apiGroups: [''], resources: ['secrets'] })
      expectStatus(await ann.request('GET', place.path('configmaps')), {
        code: 403,
        message: /in the namespace "[^"]*": RBAC: role\.rbac\.authorization\.k8s\.io "no-such-role" not found$/,
      })
    },
  },
]
