/**
 * Paths and verbs: which exist, and the response for those that do not.
 */
import assert from 'node:assert/strict'
import { defineCustom } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const notFound = {
  code: 404,
  reason: 'NotFound',
  message: 'the server could not find the requested resource',
  details: {},
}
const notAllowed = {
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
  details: {},
}

/** A path that does not exist, and whether the 404 is a Status or plain text. */
const missing: readonly (readonly [string, string, boolean])[] = [
  ['root', '/judge', false],
  ['group', '/apis/judge.example.com', false],
  ['group-version', '/apis/judge.example.com/v1', false],
  ['group-resource', '/apis/judge.example.com/v1/things', false],
  ['core-version', '/api/v2', true],
  ['version', '/apis/apps/v9', true],
  ['version-resource', '/apis/apps/v9/deployments', true],
  ['resource', '/api/v1/things', true],
  ['namespaced-resource', '/apis/apps/v1/namespaces/default/things', true],
  ['subresource', '/api/v1/namespaces/default/configmaps/a/things', true],
  ['name-without-namespace', '/api/v1/configmaps/a', true],
  ['namespaced-path-of-cluster-wide', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles', true],
]

const unknownPaths = missing.map(([id, path, isStatus]): ServerCase => ({
  id: `server/routes/unknown-${id}`,
  rule: `\`${path}\` does not exist: the 404 is ${isStatus ? 'a Status' : 'plain text'}.`,
  async run(place) {
    const answer = await place.client.request('GET', path)
    if (isStatus) {
      expectStatus(answer, notFound)
      return
    }
    assert.equal(answer.status, 404)
    assert.match(answer.header('content-type'), /^text\/plain/)
    assert.equal(answer.text, '404 page not found\n')
  },
}))

/** A verb that a path does not support. */
const verbs: readonly (readonly [string, string, string])[] = [
  ['post-to-object', 'POST', '/api/v1/namespaces/{}/configmaps/a'],
  ['put-to-collection', 'PUT', '/api/v1/namespaces/{}/configmaps'],
  ['patch-to-collection', 'PATCH', '/api/v1/namespaces/{}/configmaps'],
  ['post-without-namespace', 'POST', '/api/v1/configmaps'],
  ['delete-without-namespace', 'DELETE', '/api/v1/configmaps'],
  ['post-to-status', 'POST', '/apis/apps/v1/namespaces/{}/deployments/a/status'],
  ['delete-status', 'DELETE', '/apis/apps/v1/namespaces/{}/deployments/a/status'],
  ['get-review', 'GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
  ['options', 'OPTIONS', '/api/v1/namespaces/{}/configmaps/a'],
]

const wrongVerbs = verbs.map(([id, method, path]): ServerCase => ({
  id: `server/routes/no-verb-${id}`,
  rule: `${method} \`${path}\` is not allowed.`,
  async run(place) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    expectStatus(
      await place.client.request(method, path.replace('{}', place.namespace), {
        type,
        ...(['GET', 'OPTIONS'].includes(method) ? {} : { body: {} }),
      }),
      notAllowed,
    )
  },
}))

/** Paths of resources that can only be created. */
const createOnly: readonly (readonly [string, string])[] = [
  ['GET', '/api/v1/namespaces/{}/bindings/a'],
  ['POST', '/api/v1/bindings'],
  ['GET', '/apis/authentication.k8s.io/v1/tokenreviews/a'],
  ['PUT', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/a'],
  ['POST', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews'],
]

const more: readonly ServerCase[] = [
  {
    id: 'server/routes/create-only',
    rule: 'A resource that can only be created has no paths of objects, and none across namespaces: 404, not 405.',
    async run(place) {
      for (const [method, path] of createOnly)
        expectStatus(
          await place.client.request(method, path.replace('{}', place.namespace), method === 'GET' ? {} : { body: {} }),
          notFound,
        )
    },
  },
  {
    id: 'server/routes/custom-without-namespace',
    rule: 'Across namespaces, custom objects can only be read: other verbs, and names, are a 404 as plain text.',
    async run(place) {
      const widgets = await defineCustom(place)
      const all = `/apis/${widgets.group}/v1/widgets`
      ok(await place.client.request('GET', all), 200)
      for (const [method, path] of [
        ['POST', all],
        ['PUT', all],
        ['DELETE', all],
        ['GET', `${all}/a`],
        ['POST', `${all}/a`],
      ] as const) {
        const answer = await place.client.request(method, path, method === 'GET' ? {} : { body: widgets.object('a') })
        assert.deepEqual([answer.status, answer.text], [404, '404 page not found\n'], `${method} ${path}`)
      }
    },
  },
  {
    id: 'server/routes/head',
    rule: 'Resources do not support HEAD: the response is a 405 without a body.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const answer = await place.client.request('HEAD', place.path('configmaps', 'a'))
      assert.equal(answer.status, 405)
      assert.equal(answer.bytes.length, 0)
    },
  },
  {
    id: 'server/routes/trailing-slash',
    rule: 'A trailing slash is ignored.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      assert.deepEqual(ok(await place.client.request('GET', `${place.path('configmaps', 'a')}/`), 200), made)
      expectMatch(ok(await place.client.request('GET', `${place.path('configmaps')}/`), 200), { kind: 'ConfigMapList' })
    },
  },
  {
    id: 'server/routes/escaped-name',
    rule: 'A name in the path can be escaped; an escaped slash is not part of a name, and `..` is rejected.',
    async run(place) {
      ok(await place.post('roles', { metadata: { name: 'a:b' } }))
      expectMatch(ok(await place.get('roles', 'a%3Ab'), 200).metadata, { name: 'a:b' })
      assert.equal((await place.get('configmaps', 'a%2Fb')).status, 404)
      expectStatus(await place.get('configmaps', '%2e%2e'), {
        code: 400,
        reason: 'BadRequest',
        message: 'Name parameter invalid: "..": may not be \'..\'',
      })
    },
  },
  {
    id: 'server/routes/strange-name',
    rule: 'A name that no object can have is a 404.',
    async run(place) {
      for (const name of ['A_B', 'constructor', '__proto__', 'a b'])
        expectStatus(await place.get('configmaps', encodeURIComponent(name)), {
          code: 404,
          reason: 'NotFound',
          message: `configmaps "${name}" not found`,
        })
    },
  },
]

export const routeCases: readonly ServerCase[] = [...unknownPaths, ...wrongVerbs, ...more]
