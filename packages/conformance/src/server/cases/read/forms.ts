/**
 * The representations of a response: the object, its metadata only, a table; and how a client requests them.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const as = (kind: string, { version = 'v1', type = 'application/json' } = {}): string =>
  `${type};as=${kind};g=meta.k8s.io;v=${version}`

interface Table {
  readonly columnDefinitions: readonly {
    readonly name: string
    readonly type: string
    readonly format: string
    readonly description: string
    readonly priority: number
  }[]
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: unknown }[]
}

const metadataOnly: readonly ServerCase[] = [
  {
    id: 'server/forms/metadata-of-one',
    rule: 'PartialObjectMetadata of an object contains only its metadata.',
    async run(place) {
      const made = ok(
        await place.post('configmaps', configMap('a', { data: { k: 'v' }, metadata: { labels: { l: '1' } } })),
      )
      const answer = await place.get('configmaps', 'a', { accept: as('PartialObjectMetadata') })
      assert.deepEqual(ok(answer, 200), {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: made.metadata,
      })
      assert.match(answer.header('content-type'), /^application\/json/)
    },
  },
  {
    id: 'server/forms/metadata-of-list',
    rule: 'PartialObjectMetadataList contains the metadata of the list and of every item, each item with its kind.',
    async run(place) {
      for (const name of ['a', 'b']) ok(await place.post('leases', sample('leases', name)))
      const list = ok(await place.list('leases', { limit: 1 }, { accept: as('PartialObjectMetadataList') }), 200)
      expectMatch(list, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: /\d/, continue: /./, remainingItemCount: 1 },
        items: [
          {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { name: 'a', uid: /./ },
            spec: undefined,
          },
        ],
      })
    },
  },
  {
    id: 'server/forms/metadata-mismatch',
    rule: 'PartialObjectMetadata for a list, and PartialObjectMetadataList for an object, are rejected with 406.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.list('configmaps', {}, { accept: as('PartialObjectMetadata') }), {
        code: 406,
        reason: 'NotAcceptable',
        message: /^you requested PartialObjectMetadata, but the requested object is a list/,
      })
      expectStatus(await place.get('configmaps', 'a', { accept: as('PartialObjectMetadataList') }), {
        code: 406,
        reason: 'NotAcceptable',
        message: /^you requested PartialObjectMetadataList, but the requested object is not a list/,
      })
    },
  },
  {
    id: 'server/forms/metadata-of-writes',
    rule: 'Writes can return only metadata too.',
    async run(place) {
      const accept = as('PartialObjectMetadata')
      expectMatch(ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } }), { accept }), 201), {
        kind: 'PartialObjectMetadata',
        metadata: { name: 'a' },
        data: undefined,
      })
      expectMatch(ok(await place.patch('configmaps', 'a', { body: { data: { k: 'w' } }, accept }), 200), {
        kind: 'PartialObjectMetadata',
        data: undefined,
      })
      expectMatch(ok(await place.put('configmaps', 'a', { body: configMap('a'), accept }), 200), {
        kind: 'PartialObjectMetadata',
      })
    },
  },
]

const tables: readonly ServerCase[] = [
  {
    id: 'server/forms/table-of-list',
    rule: 'A Table of a list has columns, one row per object and the metadata of each object in its row.',
    async run(place) {
      for (const name of ['a', 'b'])
        ok(await place.post('configmaps', configMap(name, { data: { k: 'v' }, metadata: { labels: { mine: '1' } } })))
      const answer = await place.list('configmaps', { labelSelector: 'mine' }, { accept: as('Table') })
      const table = ok(answer, 200)
      expectMatch(table, {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: /\d/ },
        columnDefinitions: [
          { name: 'Name', type: 'string', format: 'name', priority: 0, description: /./ },
          { name: 'Data', type: 'string' },
          { name: 'Age', type: 'string' },
        ],
        rows: ['a', 'b'].map((name) => ({
          cells: [name, 1, /^\d+[smh]/],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name }, data: undefined },
        })),
      })
      assert.match(answer.header('content-type'), /^application\/json/)
    },
  },
  {
    id: 'server/forms/table-of-one',
    rule: "A Table of an object has one row and the object's resourceVersion.",
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      expectMatch(ok(await place.get('configmaps', 'a', { accept: as('Table') }), 200), {
        kind: 'Table',
        metadata: { resourceVersion: made.metadata.resourceVersion },
        rows: [{ cells: ['a', 0, /./] }],
      })
    },
  },
  {
    id: 'server/forms/table-objects',
    rule: 'includeObject selects what each row carries: the Metadata, the whole Object or None.',
    async run(place) {
      ok(await place.post('leases', sample('leases', 'a', { spec: { holderIdentity: 'x' } })))
      const objectOf = async (includeObject: string): Promise<unknown> =>
        (ok(await place.list('leases', { includeObject }, { accept: as('Table') })) as unknown as Table).rows[0]?.object
      expectMatch(await objectOf('Metadata'), { kind: 'PartialObjectMetadata', spec: undefined })
      expectMatch(await objectOf('Object'), {
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        spec: { holderIdentity: 'x' },
      })
      assert.ok([null, undefined].includes((await objectOf('None')) as null))
    },
  },
  {
    id: 'server/forms/table-bad-include',
    rule: 'An unknown includeObject is a bad request.',
    async run(place) {
      expectStatus(await place.list('leases', { includeObject: 'Some' }, { accept: as('Table') }), {
        code: 400,
        reason: 'BadRequest',
      })
    },
  },
  {
    id: 'server/forms/table-v1beta1',
    rule: 'A Table can be requested as v1beta1.',
    async run(place) {
      expectMatch(ok(await place.list('leases', {}, { accept: as('Table', { version: 'v1beta1' }) }), 200), {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1beta1',
      })
    },
  },
  {
    id: 'server/forms/table-empty',
    rule: 'A Table of an empty list has columns and no rows.',
    async run(place) {
      const table = ok(await place.list('leases', {}, { accept: as('Table') }), 200) as unknown as Table
      assert.deepEqual(table.rows, [])
      assert.deepEqual(
        table.columnDefinitions.map(({ name }) => name),
        ['Name', 'Holder', 'Age'],
      )
    },
  },
  {
    id: 'server/forms/table-paging',
    rule: 'A page of a Table carries the continue token.',
    async run(place) {
      for (const name of ['a', 'b']) ok(await place.post('leases', sample('leases', name)))
      const first = ok(await place.list('leases', { limit: 1 }, { accept: as('Table') }))
      expectMatch(first.metadata, { continue: /./, remainingItemCount: 1 })
      expectMatch(
        ok(await place.list('leases', { limit: 1, continue: first.metadata.continue }, { accept: as('Table') })),
        { rows: [{ cells: ['b', () => true, () => true] }] },
      )
    },
  },
  {
    id: 'server/forms/table-yaml',
    rule: 'A Table can be returned as YAML, but not as protobuf.',
    async run(place) {
      const answer = await place.list('leases', {}, { accept: as('Table', { type: 'application/yaml' }) })
      assert.equal(answer.status, 200)
      assert.match(answer.text, /^kind: Table$/m)
      expectStatus(
        await place.list('leases', {}, { accept: as('Table', { type: 'application/vnd.kubernetes.protobuf' }) }),
        { code: 406, reason: 'NotAcceptable' },
      )
    },
  },
  {
    id: 'server/forms/table-of-review',
    rule: 'Types that are never listed, such as access reviews, cannot be returned as a Table.',
    async run(place) {
      const body = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }
      expectStatus(
        await place.client.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          body,
          accept: as('Table'),
        }),
        {
          code: 406,
          reason: 'NotAcceptable',
          message: /^only the following media types are accepted: application\/json/,
        },
      )
    },
  },
  {
    id: 'server/forms/table-of-delete',
    rule: 'A Status is never converted to a Table.',
    async run(place) {
      expectStatus(await place.get('configmaps', 'none', { accept: as('Table') }), { code: 404, reason: 'NotFound' })
      ok(await place.post('configmaps', configMap('a')))
      expectMatch(ok(await place.delete('configmaps', 'a', { accept: `${as('Table')},application/json` }), 200), {
        kind: 'Status',
        status: 'Success',
      })
    },
  },
]

/** Accept header and expected representation; a number is the expected error code. */
const negotiation: readonly (readonly [string, string | undefined, string | number])[] = [
  ['none', undefined, 'json'],
  ['any', '*/*', 'json'],
  ['json', 'application/json', 'json'],
  ['yaml', 'application/yaml', 'yaml'],
  ['parameters', 'application/json;charset=utf-8', 'json'],
  ['first-wins', 'application/yaml,application/json', 'yaml'],
  ['weight', 'application/json;q=0.1,application/yaml;q=0.9', 'yaml'],
  ['unknown-then-json', 'text/html, application/json;q=0.5', 'json'],
  ['browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  ['table-then-json', `${as('Table')},application/json`, 'table'],
  ['unknown-form-then-json', `${as('Picture')},application/json`, 'json'],
  ['unknown-version-then-table', `${as('Table', { version: 'v7' })},${as('Table')},application/json`, 'table'],
  ['unknown-type', 'text/plain', 406],
  ['unknown-form', as('Picture'), 406],
  ['cbor', 'application/cbor', 406],
]

const accepting = negotiation.map(([id, accept, form]): ServerCase => ({
  id: `server/accept/${id}`,
  rule: `${accept === undefined ? 'Without an Accept header' : `With \`Accept: ${accept}\``} the response is ${typeof form === 'number' ? 'a 406 in JSON' : form === 'table' ? 'a Table' : `the object in ${form.toUpperCase()}`}.`,
  async run(place) {
    ok(await place.post('configmaps', configMap('a')))
    const answer = await place.get('configmaps', 'a', accept === undefined ? {} : { accept })
    if (typeof form === 'number') {
      expectStatus(answer, {
        code: form,
        reason: 'NotAcceptable',
        message: /application\/json, application\/yaml, application\/vnd\.kubernetes\.protobuf/,
      })
      return
    }
    assert.equal(answer.status, 200, String(answer))
    assert.match(answer.header('content-type'), form === 'yaml' ? /^application\/yaml/ : /^application\/json/)
    if (form === 'yaml') assert.match(answer.text, /^apiVersion: v1\nkind: ConfigMap\nmetadata:\n/)
    else assert.equal(answer.json.kind, form === 'table' ? 'Table' : 'ConfigMap')
  },
}))

export const formCases: readonly ServerCase[] = [...metadataOnly, ...tables, ...accepting]
