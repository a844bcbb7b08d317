/**
 * The subresources of custom objects: status and scale.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { anything, defineCustom } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { expectMatch, expectStatus, isNewer, ok } from '../../expect.ts'
import { patchTypes } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { a: { type: 'integer' }, replicas: { type: 'integer' } } },
    status: {
      type: 'object',
      properties: { s: { type: 'integer' }, replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
}
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}

const withStatus = (place: Place): Promise<Custom> =>
  defineCustom(place, { schema, version: { subresources: { status: {} } } })
const withScale = (place: Place): Promise<Custom> =>
  defineCustom(place, { schema, version: { subresources: { status: {}, scale } } })

const status: readonly ServerCase[] = [
  {
    id: 'server/custom-status/create',
    rule: 'With a status subresource a create drops the status; without one it keeps it.',
    async run(place) {
      const widgets = await withStatus(place)
      expectMatch(ok(await widgets.create('one', { spec: { a: 1 }, status: { s: 1 } }), 201), { status: undefined })
      const gadgets = await defineCustom(place, { schema, names: { kind: 'Gadget', plural: 'gadgets' } })
      expectMatch(ok(await gadgets.create('one', { status: { s: 1 } }), 201), { status: { s: 1 } })
      expectStatus(await gadgets.create('two', { status: { s: 'x' } }), { code: 422 })
      assert.equal((await gadgets.get('one/status')).status, 404)
    },
  },
  {
    id: 'server/custom-status/main-ignores-status',
    rule: 'A write to the object keeps the status; if nothing else changes, it is a no-op.',
    async run(place) {
      const widgets = await withStatus(place)
      ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      const set = ok(await widgets.put('one/status', { spec: { a: 1 }, status: { s: 1 } }), 200)
      expectMatch(set, { status: { s: 1 }, metadata: { generation: 1 } })
      const same = ok(await widgets.put('one', { spec: { a: 1 }, status: { s: 2 } }), 200)
      assert.deepEqual(same.status, { s: 1 })
      expectMatch(ok(await widgets.patch('one', { status: { s: 3 }, spec: { a: 2 } })), {
        status: { s: 1 },
        spec: { a: 2 },
        metadata: { generation: 2 },
      })
    },
  },
  {
    id: 'server/custom-status/only-status',
    rule: 'A write to the status does not change spec, labels, finalizers or generation.',
    async run(place) {
      const widgets = await withStatus(place)
      const made = ok(await widgets.create('one', { spec: { a: 1 }, metadata: { labels: { l: '1' } } }), 201)
      const next = ok(
        await widgets.put('one/status', {
          metadata: { labels: { l: '2' }, annotations: { n: '1' }, finalizers: ['example.com/x'] },
          spec: { a: 2 },
          status: { s: 5 },
        }),
        200,
      )
      expectMatch(next, {
        spec: { a: 1 },
        status: { s: 5 },
        metadata: { labels: { l: '1' }, annotations: undefined, finalizers: undefined, generation: 1 },
      })
      assert.ok(isNewer(next, made))
    },
  },
  {
    id: 'server/custom-status/patch',
    rule: 'The status can be patched and read; a read returns the whole object.',
    async run(place) {
      const widgets = await withStatus(place)
      ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      const next = ok(await widgets.patch('one/status', { status: { s: 1 }, spec: { a: 9 } }), 200)
      expectMatch(next, { spec: { a: 1 }, status: { s: 1 } })
      assert.deepEqual(ok(await widgets.get('one/status')), next)
    },
  },
  {
    id: 'server/custom-status/no-create',
    rule: 'The status of a missing object is a 404, for an apply too.',
    async run(place) {
      const widgets = await withStatus(place)
      expectStatus(await widgets.apply('none', { status: { s: 1 } }, { part: 'status' }), {
        code: 404,
        reason: 'NotFound',
        details: { name: 'none', kind: 'widgets' },
      })
      expectStatus(await widgets.patch('none/status', { status: { s: 1 } }), { code: 404, reason: 'NotFound' })
    },
  },
  {
    id: 'server/custom-status/validated',
    rule: 'A write of the status is validated by the schema of the status.',
    async run(place) {
      const widgets = await withStatus(place)
      ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      const answer = await widgets.patch('one/status', { status: { s: 'text' } })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(answer, place), [
        'status.s: Invalid value: "string": s in body must be of type integer: "string"',
      ])
    },
  },
]

const path = (widgets: Custom, name: string): string => widgets.path(`${name}/scale`)

const scaling: readonly ServerCase[] = [
  {
    id: 'server/custom-scale/get',
    rule: 'Scale shows the desired and the current replicas and the selector, under the name of the object.',
    async run(place) {
      const widgets = await withScale(place)
      const made = ok(await widgets.create('one', { spec: { replicas: 3 }, metadata: { labels: { l: '1' } } }), 201)
      ok(await widgets.patch('one/status', { status: { replicas: 2, selector: 'app=one' } }), 200)
      expectMatch(ok(await widgets.get('one/scale'), 200), {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'one', namespace: place.namespace, uid: made.metadata.uid, labels: undefined },
        spec: { replicas: 3 },
        status: { replicas: 2, selector: 'app=one' },
      })
    },
  },
  {
    id: 'server/custom-scale/zero',
    rule: 'Scale returns an error while the desired replicas are unset; missing current replicas are 0.',
    async run(place) {
      const widgets = await withScale(place)
      ok(await widgets.create('none', { spec: {} }), 201)
      expectStatus(await widgets.get('none/scale'), {
        code: 500,
        reason: 'InternalError',
        message: /the spec replicas field "?\.spec\.replicas"? does not exist/,
      })
      ok(await widgets.create('some', { spec: { replicas: 0 } }), 201)
      expectMatch(ok(await widgets.get('some/scale'), 200), { spec: {}, status: { replicas: 0 } })
    },
  },
  {
    id: 'server/custom-scale/put',
    rule: 'A write to scale changes only the desired replicas and increments the generation.',
    async run(place) {
      const widgets = await withScale(place)
      ok(await widgets.create('one', { spec: { replicas: 3, a: 1 } }), 201)
      const scaled = ok(await widgets.get('one/scale'), 200)
      const body = {
        ...scaled,
        metadata: { ...scaled.metadata, labels: { l: '1' } },
        spec: { replicas: 5 },
        status: { replicas: 9 },
      }
      expectMatch(ok(await place.client.request('PUT', path(widgets, 'one'), { body }), 200), {
        kind: 'Scale',
        spec: { replicas: 5 },
      })
      expectMatch(ok(await widgets.get('one')), {
        spec: { replicas: 5, a: 1 },
        status: undefined,
        metadata: { generation: 2, labels: undefined },
      })
    },
  },
  {
    id: 'server/custom-scale/patch',
    rule: 'Scale supports merge patches; an old resourceVersion is a conflict.',
    async run(place) {
      const widgets = await withScale(place)
      const made = ok(await widgets.create('one', { spec: { replicas: 3 } }), 201)
      expectMatch(ok(await widgets.patch('one/scale', { spec: { replicas: 4 } }), 200), { spec: { replicas: 4 } })
      expectStatus(
        await widgets.patch('one/scale', {
          metadata: { resourceVersion: made.metadata.resourceVersion },
          spec: { replicas: 5 },
        }),
        { code: 409, reason: 'Conflict' },
      )
    },
  },
  {
    id: 'server/custom-scale/strategic',
    rule: 'The scale of a custom object does not accept strategic merge patches.',
    async run(place) {
      const widgets = await withScale(place)
      ok(await widgets.create('one', { spec: { replicas: 1 } }), 201)
      expectStatus(await widgets.patch('one/scale', { spec: { replicas: 3 } }, { type: patchTypes.strategic }), {
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      })
    },
  },
  {
    id: 'server/custom-scale/negative',
    rule: 'Negative and too large replicas are rejected, through scale and through the object.',
    async run(place) {
      const widgets = await withScale(place)
      ok(await widgets.create('one', { spec: { replicas: 3 } }), 201)
      const answer = await widgets.patch('one/scale', { spec: { replicas: -1 } })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(answer, place), ['.spec.replicas: Invalid value: -1: should be a non-negative integer'])
      expectStatus(await widgets.create('two', { spec: { replicas: -1 } }), {
        code: 422,
        message: /\.spec\.replicas: Invalid value: -1: should be a non-negative integer/,
      })
      expectStatus(await widgets.patch('one/status', { status: { replicas: 2 ** 31 } }), {
        code: 422,
        message: /\.status\.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647/,
      })
    },
  },
  {
    id: 'server/custom-scale/deep-paths',
    rule: 'The paths of scale can be nested.',
    async run(place) {
      const deep = { specReplicasPath: '.spec.pool.size', statusReplicasPath: '.status.pool.size' }
      const widgets = await defineCustom(place, {
        spec: anything,
        version: { subresources: { status: {}, scale: deep } },
      })
      ok(await widgets.create('one', { spec: { pool: { size: 2, other: true } } }), 201)
      expectMatch(ok(await widgets.patch('one/scale', { spec: { replicas: 4 } }), 200), { spec: { replicas: 4 } })
      assert.deepEqual(ok(await widgets.get('one')).spec, { pool: { size: 4, other: true } })
    },
  },
]

/** Method, path below the collection, and the verb that the message names. */
const wrongRoutes: readonly (readonly [method: string, path: string, verb: string])[] = [
  ['POST', 'one/status', 'create'],
  ['DELETE', 'one/status', 'delete'],
  ['POST', 'one/scale', 'create'],
  ['DELETE', 'one/scale', 'delete'],
]

const routes: readonly ServerCase[] = [
  {
    id: 'server/custom-routes/method',
    rule: 'A method that a subresource does not support is a 405 that names the verb and the resource.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: anything, version: { subresources: { status: {}, scale } } })
      for (const [method, name, verb] of wrongRoutes)
        expectStatus(await widgets.request(method, name, { body: {} }), {
          code: 405,
          reason: 'MethodNotAllowed',
          message: `${verb} is not supported on resources of kind "widgets.${widgets.group}"`,
          details: { group: widgets.group, kind: 'widgets' },
        })
    },
  },
  {
    id: 'server/custom-routes/no-name',
    rule: 'An update or a patch of the collection is a 400: it has no name.',
    async run(place) {
      const widgets = await defineCustom(place)
      const refused = { code: 400, reason: 'BadRequest', message: 'name must be provided' }
      expectStatus(await widgets.request('PUT', undefined, { body: widgets.object('one') }), refused)
      expectStatus(await widgets.request('PATCH', undefined, { type: patchTypes.merge, body: {} }), refused)
    },
  },
  {
    id: 'server/custom-routes/unknown-subresource',
    rule: 'A subresource that is not there is a 404 of the object; what follows a subresource is ignored.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: anything, version: { subresources: { status: {} } } })
      ok(await widgets.create('one'), 201)
      for (const [method, name] of [
        ['GET', 'one/other'],
        ['PUT', 'one/other'],
        ['GET', 'one/scale'],
      ] as const)
        expectStatus(await widgets.request(method, name, method === 'GET' ? {} : { body: {} }), {
          code: 404,
          reason: 'NotFound',
          message: `widgets.${widgets.group} "one" not found`,
          details: { group: widgets.group, kind: 'widgets', name: 'one' },
        })
      expectMatch(ok(await widgets.get('one/status/more'), 200), { metadata: { name: 'one' } })
    },
  },
]

export const customPartCases: readonly ServerCase[] = [...status, ...scaling, ...routes]
