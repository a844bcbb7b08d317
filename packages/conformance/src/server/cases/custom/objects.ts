/**
 * Custom objects behave like other objects: names, generations, patches, deletion, representations.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom } from '../../custom.ts'
import { brief, expectMatch, expectStatus, isNewer, namesOf, ok, warningsOf } from '../../expect.ts'
import { patchTypes } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const status = { version: { subresources: { status: {} } } }
const patchKinds = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'

const writes: readonly ServerCase[] = [
  {
    id: 'server/custom/create',
    rule: 'A new object has generation 1, a uid and a creation timestamp, whatever the body says.',
    async run(place) {
      const widgets = await defineCustom(place)
      const made = ok(
        await widgets.create('one', {
          metadata: { generation: 9, uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', selfLink: 'x' },
          spec: { a: 1 },
        }),
        201,
      )
      expectMatch(made, {
        apiVersion: `${widgets.group}/v1`,
        kind: 'Widget',
        metadata: {
          name: 'one',
          namespace: place.namespace,
          generation: 1,
          uid: /^[0-9a-f-]{36}$/,
          creationTimestamp: /^20[2-9]/,
          selfLink: undefined,
        },
        spec: { a: 1 },
      })
    },
  },
  {
    id: 'server/custom/finalizer-without-domain',
    rule: 'A finalizer without a domain is accepted with a warning.',
    async run(place) {
      const widgets = await defineCustom(place)
      const answer = await widgets.create('one', {
        metadata: { finalizers: ['hold', 'example.com', 'kubernetes', 'example.com/good'] },
      })
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer).sort().reverse(), [
        'metadata.finalizers: "hold": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
        'metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      ])
      ok(await widgets.patch('one', { metadata: { finalizers: [] } }))
    },
  },
  {
    id: 'server/custom/finalizer-bad',
    rule: 'An invalid finalizer name is rejected.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(await widgets.create('one', { metadata: { finalizers: ['a b'] } }), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.finalizers: Invalid value: "a b": name part must consist of/,
      })
    },
  },
  {
    id: 'server/custom/names',
    rule: 'The name of a custom object is a DNS subdomain; generateName works.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(await widgets.create('UPPER'), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain/,
      })
      const { name: _, ...metadata } = { name: '', generateName: 'some-' }
      assert.match(
        ok(
          await widgets.request('POST', undefined, {
            body: { apiVersion: `${widgets.group}/v1`, kind: 'Widget', metadata },
          }),
          201,
        ).metadata.name,
        /^some-[a-z0-9]{5}$/,
      )
    },
  },
  {
    id: 'server/custom/metadata-types',
    rule: 'Metadata of the wrong type is rejected.',
    async run(place) {
      const widgets = await defineCustom(place)
      const answer = await widgets.create('one', { metadata: { labels: { a: 1 } } })
      assert.ok(answer.status === 400 || answer.status === 422, String(answer))
      expectStatus(await widgets.create('one', { metadata: { labels: { 'a b': 'c' } } }), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.labels: Invalid value: "a b"/,
      })
    },
  },
  {
    id: 'server/custom/other-kind',
    rule: 'The body must have the kind of the resource.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(await widgets.request('POST', undefined, { body: { ...widgets.object('one'), kind: 'Gadget' } }), {
        code: 422,
        reason: 'Invalid',
        message: `Gadget.${widgets.group} "one" is invalid: kind: Invalid value: "Gadget": must be Widget`,
        details: { kind: 'Gadget', causes: [{ field: 'kind', reason: 'FieldValueInvalid' }] },
      })
    },
  },
  {
    id: 'server/custom/put-needs-version',
    rule: 'A replace of a custom object needs a resourceVersion.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one'), 201)
      const answer = await widgets.request('PUT', 'one', { body: widgets.object('one', { spec: { a: 1 } }) })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(answer, place), [
        'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ])
    },
  },
  {
    id: 'server/custom/put-does-not-create',
    rule: 'A replace of a missing object is a 404.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(
        await widgets.request('PUT', 'none', { body: widgets.object('none', { metadata: { resourceVersion: '1' } }) }),
        { code: 404, reason: 'NotFound', details: { kind: 'widgets', name: 'none' } },
      )
    },
  },
  {
    id: 'server/custom/generation',
    rule: 'The generation increases with every change outside metadata; without a status subresource the status counts too.',
    async run(place) {
      const widgets = await defineCustom(place)
      const made = ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      const labelled = ok(await widgets.patch('one', { metadata: { labels: { l: '1' }, annotations: { n: '1' } } }))
      assert.equal(labelled.metadata.generation, 1)
      assert.ok(isNewer(labelled, made))
      assert.equal(ok(await widgets.patch('one', { spec: { a: 2 } })).metadata.generation, 2)
      assert.equal(ok(await widgets.patch('one', { status: { s: 1 } })).metadata.generation, 3)
    },
  },
  {
    id: 'server/custom/no-op',
    rule: 'A write that changes nothing is a no-op.',
    async run(place) {
      const widgets = await defineCustom(place)
      const made = ok(await widgets.create('one', { spec: { a: 1, b: [1, { c: 'x' }] } }), 201)
      assert.deepEqual(ok(await widgets.request('PUT', 'one', { body: made }), 200), made)
      assert.deepEqual(ok(await widgets.patch('one', { spec: { a: 1 } }), 200), made)
    },
  },
  {
    id: 'server/custom/patches',
    rule: 'JSON patches and merge patches work on custom objects; a merge patch replaces lists.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one', { spec: { list: [{ name: 'a' }, { name: 'b' }], gone: 1 } }), 201)
      assert.deepEqual(ok(await widgets.patch('one', { spec: { list: [{ name: 'c' }], gone: null } })).spec, {
        list: [{ name: 'c' }],
      })
      assert.deepEqual(
        ok(
          await widgets.patch(
            'one',
            [
              { op: 'add', path: '/spec/list/-', value: 'x' },
              { op: 'test', path: '/spec/list/0/name', value: 'c' },
            ],
            { type: patchTypes.json },
          ),
        ).spec,
        { list: [{ name: 'c' }, 'x'] },
      )
    },
  },
  {
    id: 'server/custom/no-strategic',
    rule: 'A strategic merge patch of a custom object is not supported; the response lists the supported types.',
    async run(place) {
      const widgets = await defineCustom(place, status)
      ok(await widgets.create('one'), 201)
      const message = `the body of the request was in an unknown format - accepted media types include: ${patchKinds}`
      for (const name of ['one', 'one/status', 'none'])
        expectStatus(await widgets.patch(name, { spec: { a: 1 } }, { type: patchTypes.strategic }), {
          code: 415,
          reason: 'UnsupportedMediaType',
          message,
        })
    },
  },
  {
    id: 'server/custom/dry-run',
    rule: 'A dry run validates a custom object and stores nothing.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: { type: 'object', properties: { a: { type: 'integer', default: 7 } } },
      })
      const query = { dryRun: 'All' }
      expectMatch(ok(await widgets.create('one', { spec: {} }, { query }), 201), { spec: { a: 7 } })
      expectStatus(await widgets.create('one', { spec: { a: 'x' } }, { query }), { code: 422, reason: 'Invalid' })
      expectStatus(await widgets.get('one'), {
        code: 404,
        reason: 'NotFound',
        message: `widgets.${widgets.group} "one" not found`,
        details: { group: widgets.group, kind: 'widgets', name: 'one' },
      })
    },
  },
  {
    id: 'server/custom/conflict',
    rule: 'A replace with an old resourceVersion is a conflict that names the resource with its group.',
    async run(place) {
      const widgets = await defineCustom(place)
      const made = ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      ok(await widgets.patch('one', { spec: { a: 2 } }))
      expectStatus(await widgets.request('PUT', 'one', { body: { ...made, spec: { a: 3 } } }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on widgets.${widgets.group} "one": the object has been modified; please apply your changes to the latest version and try again`,
      })
      expectStatus(await widgets.create('one'), {
        code: 409,
        reason: 'AlreadyExists',
        message: `widgets.${widgets.group} "one" already exists`,
      })
    },
  },
]

const deletion: readonly ServerCase[] = [
  {
    id: 'server/custom/delete',
    rule: 'A delete returns a Status with the uid; the first delete that waits for finalizers increments the generation.',
    async run(place) {
      const widgets = await defineCustom(place)
      const made = ok(await widgets.create('one'), 201)
      expectMatch(ok(await widgets.delete('one'), 200), {
        kind: 'Status',
        status: 'Success',
        details: { name: 'one', group: widgets.group, kind: 'widgets', uid: made.metadata.uid },
      })
      ok(await widgets.create('two', { metadata: { finalizers: ['example.com/hold'] } }), 201)
      expectMatch(ok(await widgets.delete('two'), 200), {
        kind: 'Widget',
        metadata: { generation: 2, deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 },
      })
      ok(await widgets.delete('two'), 200)
      expectMatch(ok(await widgets.patch('two', { metadata: { finalizers: null } }), 200), {
        metadata: { generation: 2 },
      })
      assert.equal((await widgets.get('two')).status, 404)
    },
  },
  {
    id: 'server/custom/delete-collection',
    rule: 'A collection of custom objects can be deleted in a namespace, by selector, but not across namespaces.',
    async run(place) {
      const widgets = await defineCustom(place)
      for (const name of ['a', 'b']) ok(await widgets.create(name, { metadata: { labels: { l: name } } }), 201)
      expectMatch(ok(await widgets.request('DELETE', undefined, { query: { labelSelector: 'l=a' } }), 200), {
        kind: 'WidgetList',
      })
      assert.deepEqual(namesOf(ok(await widgets.list())), ['b'])
      assert.equal((await place.client.request('DELETE', `/apis/${widgets.group}/v1/widgets`)).status, 404)
    },
  },
]

const forms: readonly ServerCase[] = [
  {
    id: 'server/custom/list',
    rule: 'A list has the list kind and a resourceVersion; it supports label selectors and paging.',
    async run(place) {
      const widgets = await defineCustom(place)
      for (const name of ['a', 'b', 'c'])
        ok(await widgets.create(name, { metadata: { labels: { odd: String(name !== 'b') } } }), 201)
      expectMatch(ok(await widgets.list({ labelSelector: 'odd=true' })), {
        apiVersion: `${widgets.group}/v1`,
        kind: 'WidgetList',
        metadata: { resourceVersion: /^\d+$/ },
        items: [{ kind: 'Widget', metadata: { name: 'a' } }, { metadata: { name: 'c' } }],
      })
      const page = ok(await widgets.list({ limit: 2 }))
      expectMatch(page, { metadata: { remainingItemCount: 1, continue: /./ } })
      assert.deepEqual(namesOf(ok(await widgets.list({ limit: 2, continue: page.metadata.continue }))), ['c'])
    },
  },
  {
    id: 'server/custom/list-everywhere',
    rule: 'Custom objects of all namespaces are listed without a namespace in the path.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a'), 201)
      assert.deepEqual(namesOf(ok(await place.client.request('GET', `/apis/${widgets.group}/v1/widgets`), 200)), ['a'])
    },
  },
  {
    id: 'server/custom/watch',
    rule: 'A watch sends the events of custom objects, filtered by labels.',
    async run(place) {
      const widgets = await defineCustom(place)
      const stream = await widgets.watch({ labelSelector: 'l=1' })
      ok(await widgets.create('a', { metadata: { labels: { l: '1' } } }), 201)
      ok(await widgets.patch('a', { spec: { x: 1 } }))
      ok(await widgets.patch('a', { metadata: { labels: { l: '2' } } }))
      ok(await widgets.patch('a', { metadata: { labels: { l: '1' } } }))
      ok(await widgets.delete('a'))
      assert.deepEqual(brief(await stream.take(5)), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a'])
    },
  },
  {
    id: 'server/custom/streaming-list',
    rule: 'A streaming list of custom objects ends with an annotated bookmark of their kind.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a'), 201)
      const stream = await widgets.watch({
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
      })
      expectMatch(await stream.take(2), [
        { type: 'ADDED', object: { metadata: { name: 'a' } } },
        {
          type: 'BOOKMARK',
          object: {
            kind: 'Widget',
            apiVersion: `${widgets.group}/v1`,
            metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
          },
        },
      ])
    },
  },
  {
    id: 'server/custom/yaml-and-protobuf',
    rule: 'Custom objects can be returned as YAML, but not as protobuf.',
    async run(place) {
      const widgets = await defineCustom(place)
      const body = `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata: {name: a}\nspec: {x: 1}\n`
      expectMatch(ok(await widgets.request('POST', undefined, { body, type: 'application/yaml' }), 201), {
        spec: { x: 1 },
      })
      expectMatch(
        ok(await widgets.request('GET', 'a', { accept: 'application/vnd.kubernetes.protobuf,application/json' }), 200),
        { kind: 'Widget' },
      )
      const refused = await widgets.request('GET', 'a', { accept: 'application/vnd.kubernetes.protobuf' })
      assert.equal(refused.status, 406)
      assert.equal(refused.header('content-type'), 'application/vnd.kubernetes.protobuf')
    },
  },
  {
    id: 'server/custom/metadata-only',
    rule: 'Custom objects can be requested as metadata only.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a', { spec: { x: 1 } }), 201)
      expectMatch(
        ok(await widgets.list({}, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }), 200),
        {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          items: [{ metadata: { name: 'a' }, spec: undefined }],
        },
      )
    },
  },
  {
    id: 'server/custom/whole-floats',
    rule: 'A float with an integral value is an integer, and an integer field accepts it.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: { type: 'object', properties: { i: { type: 'integer' }, n: { type: 'number' } } },
      })
      const body = JSON.stringify(widgets.object('a', { spec: { i: 7, n: 8 } }))
        .replace(':7', ':2.0')
        .replace(':8', ':1.0')
      ok(await widgets.request('POST', undefined, { body }), 201)
      assert.match((await widgets.get('a')).text, /"i":2,"n":1}/)
    },
  },
]

const scopes: readonly ServerCase[] = [
  {
    id: 'server/custom/cluster-scope',
    rule: 'Objects of a cluster-scoped kind have no namespace; a path with a namespace is a 404.',
    async run(place) {
      const widgets = await defineCustom(place, { scope: 'Cluster' })
      expectMatch(ok(await widgets.create('one'), 201), { metadata: { namespace: undefined } })
      assert.equal(
        (await place.client.request('GET', `/apis/${widgets.group}/v1/namespaces/${place.namespace}/widgets/one`))
          .status,
        404,
      )
      ok(await widgets.delete('one'), 200)
    },
  },
  {
    id: 'server/custom/namespace-missing',
    rule: 'A namespaced object needs an existing namespace.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(
        await place.client.request('POST', `/apis/${widgets.group}/v1/namespaces/${place.unique('none')}/widgets`, {
          body: widgets.object('a'),
        }),
        { code: 404, reason: 'NotFound', message: /namespaces ".*" not found/ },
      )
      const answer = await place.client.request('POST', `/apis/${widgets.group}/v1/widgets`, {
        body: widgets.object('a'),
      })
      assert.ok(answer.status >= 400, String(answer))
    },
  },
]

export const customObjectCases: readonly ServerCase[] = [...writes, ...deletion, ...forms, ...scopes]
