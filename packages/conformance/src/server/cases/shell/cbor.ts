/**
 * CBOR in requests and responses, with the feature gate CBORServingAndStorage.
 */
import assert from 'node:assert/strict'
import type { Answer, Loose, LooseEvent } from '../../answer.ts'
import { defineCustom } from '../../custom.ts'
import { brief, expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { hex, map, readItems, string, type Entry } from './cbor-items.ts'

const type = 'application/cbor'
const needs = ['cbor'] as const

/** A ConfigMap with more fields; `name` is that of the object. */
function configMapOf(name: string, ...more: readonly Entry[]): Buffer {
  const entries = [
    ['apiVersion', string('v1')],
    ['kind', string('ConfigMap')],
    ['metadata', map(['name', string(name)])],
  ] as const
  return Buffer.concat([hex('d9d9f7'), map(...entries, ...more)])
}

function withData(value: Buffer): Buffer {
  return configMapOf('a', ['data', map(['key', value])])
}

/** The document in a response. */
function cborOf(answer: Answer): Loose {
  assert.equal(answer.header('content-type'), type, String(answer))
  assert.equal(Buffer.from(answer.bytes.subarray(0, 3)).toString('hex'), 'd9d9f7', 'the tag of CBOR comes first')
  return readItems(answer.bytes)[0] as Loose
}

async function refused(place: Place, body: Buffer, message: string | RegExp): Promise<void> {
  expectStatus(await place.post('configmaps', body, { type }), { code: 400, reason: 'BadRequest', message })
}

const bodies: readonly ServerCase[] = [
  {
    id: 'server/cbor/round-trip',
    rule: 'An object sent in CBOR is the object sent in JSON, and can be read in both.',
    needs,
    async run(place) {
      const created = await place.post('configmaps', withData(string('value')), { type, accept: type })
      assert.equal(created.status, 201)
      expectMatch(cborOf(created), { kind: 'ConfigMap', apiVersion: 'v1', data: { key: 'value' } })
      const read = ok(await place.get('configmaps', 'a'))
      assert.deepEqual(cborOf(await place.get('configmaps', 'a', { accept: type })), read)
    },
  },
  {
    id: 'server/cbor/integers',
    rule: 'Integers of 64 bits are exact.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a', { spec: { i: 2n ** 53n + 1n, j: -(2n ** 63n) } }), 201)
      const bytes = Buffer.from((await widgets.request('GET', 'a', { accept: type })).bytes).toString('hex')
      assert.match(bytes, /1b0020000000000001/)
      assert.match(bytes, /3b7fffffffffffffff/)
    },
  },
  {
    id: 'server/cbor/strings',
    rule: 'Texts may be text strings or byte strings, in one piece or in chunks, and the tag of CBOR may be missing.',
    needs,
    async run(place) {
      for (const [value, text] of [
        ['65 76616c7565', 'value'],
        ['45 76616c7565', 'value'],
        ['7f 627661 636c7565 ff', 'value'],
        ['5f 427661 436c7565 ff', 'value'],
        ['c6 45 76616c7565', 'value'],
      ] as const) {
        const body = withData(hex(value)).subarray(3)
        expectMatch(ok(await place.post('configmaps', body, { type, query: { dryRun: 'All' } }), 201), {
          data: { key: text },
        })
      }
    },
  },
  {
    id: 'server/cbor/later-encoding',
    rule: 'A byte string below the tag 21, 22 or 23 is a text in base64url, base64 or hexadecimal.',
    needs,
    async run(place) {
      for (const [value, text] of [
        ['d5 43fbff01', '-_8B'],
        ['d6 420102', 'AQI='],
        ['d7 43fbff01', 'fbff01'],
      ] as const)
        expectMatch(ok(await place.post('configmaps', withData(hex(value)), { type, query: { dryRun: 'All' } }), 201), {
          data: { key: text },
        })
      const secret = map(
        ['apiVersion', string('v1')],
        ['kind', string('Secret')],
        ['metadata', map(['name', string('a')])],
        ['data', map(['raw', hex('d6 420102')], ['text', string('AQI=')])],
      )
      expectMatch(ok(await place.post('secrets', secret, { type }), 201), { data: { raw: 'AQI=', text: 'AQI=' } })
    },
  },
  {
    id: 'server/cbor/duplicate-keys',
    rule: 'Duplicate keys are refused, whatever the field validation is.',
    needs,
    async run(place) {
      const twice = map(['key', string('1')], ['key', string('2')])
      await refused(
        place,
        configMapOf('a', ['data', twice]),
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: found duplicate map key "key" at map element index 1',
      )
      await refused(
        place,
        configMapOf('a', ['kind', string('ConfigMap')]),
        /^the object provided is unrecognized \(must be of type ConfigMap\): unable to determine group\/version\/kind: cbor: found duplicate map key "kind" at map element index 3 \(d9d9f7a4/,
      )
      const ignored = await place.post('configmaps', configMapOf('a', ['data', twice]), {
        type,
        query: { fieldValidation: 'Ignore' },
      })
      expectStatus(ignored, { code: 400, reason: 'BadRequest' })
    },
  },
  {
    id: 'server/cbor/unknown-fields',
    rule: 'The first unknown field is reported by its place in its map: as a warning, or as an error when strict.',
    needs,
    async run(place) {
      const body = configMapOf('a', ['data', map()], ['wrong', hex('01')], ['worse', hex('02')])
      const query = { dryRun: 'All' }
      const warned = await place.post('configmaps', body, { type, query })
      ok(warned, 201)
      assert.deepEqual(warningsOf(warned), ['cbor: found unknown field at map element index 4'])
      expectStatus(await place.post('configmaps', body, { type, query: { ...query, fieldValidation: 'Strict' } }), {
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: cbor: found unknown field at map element index 4',
      })
      const ignored = await place.post('configmaps', body, { type, query: { ...query, fieldValidation: 'Ignore' } })
      assert.deepEqual(warningsOf(ignored), [])
    },
  },
  {
    id: 'server/cbor/malformed',
    rule: 'Bytes that are not one well-formed item are refused with the reason and the first bytes.',
    needs,
    async run(place) {
      const beginning =
        'the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: '
      for (const [body, reason] of [
        ['68656c6c6f', 'unexpected EOF (68656c6c6f)'],
        ['a0 00', 'cbor: 1 bytes of extraneous data starting at index 1 (a000)'],
        ['1c', 'cbor: invalid additional information 28 for type positive integer (1c)'],
        ['ff', 'cbor: unexpected "break" code (ff)'],
        ['f818', 'cbor: invalid simple value 24 for type primitives (f818)'],
        ['7f4161ff', 'cbor: wrong element type byte string for indefinite-length UTF-8 text string (7f4161ff)'],
        ['7f7f6161ffff', 'cbor: indefinite-length UTF-8 text string chunk is not definite-length (7f7f6161ffff)'],
        ['f97e00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN (f97e00)'],
        ['c24101', 'cbor: data item of cbor type tag is not accepted by protocol: bignum (c24101)'],
        ['01', 'cbor: cannot unmarshal positive integer into Go value of type v1.TypeMeta (01)'],
        [
          '80',
          'cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option) (80)',
        ],
      ] as const)
        await refused(place, hex(body), beginning + reason)
      expectStatus(await place.post('configmaps', '{"a":1}', { type }), {
        code: 400,
        message: `${beginning}unexpected EOF ({"a":1})`,
      })
      expectStatus(await place.post('configmaps', '', { type }), { code: 400, message: `${beginning}EOF (<empty>)` })
    },
  },
  {
    id: 'server/cbor/wrong-values',
    rule: 'A well-formed document with a value of the wrong type is refused, and the message names the kind.',
    needs,
    async run(place) {
      const beginning = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: '
      for (const [value, reason] of [
        ['f5', 'cannot unmarshal primitives into Go struct field v1.ConfigMap.data of type string'],
        ['80', 'cannot unmarshal array into Go struct field v1.ConfigMap.data of type string'],
        ['a0', 'cannot unmarshal map into Go struct field v1.ConfigMap.data of type string'],
        ['f7', 'data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
        ['62 c328', 'invalid UTF-8 string'],
      ] as const)
        await refused(place, withData(hex(value)), beginning + reason)
      await refused(place, withData(hex('01')), /^ConfigMap in version "v1" cannot be handled as a ConfigMap: cbor: /)
    },
  },
  {
    id: 'server/cbor/delete-options',
    rule: 'The options of a deletion may be CBOR.',
    needs,
    async run(place) {
      ok(await place.post('configmaps', configMap('a')), 201)
      const options = map(
        ['apiVersion', string('v1')],
        ['kind', string('DeleteOptions')],
        ['preconditions', map(['uid', string('other')])],
      )
      expectStatus(await place.delete('configmaps', 'a', { body: options, type }), { code: 409, reason: 'Conflict' })
      expectMatch(cborOf(await place.delete('configmaps', 'a', { accept: type })), {
        kind: 'Status',
        status: 'Success',
      })
    },
  },
  {
    id: 'server/cbor/custom-objects',
    rule: 'Custom objects may be CBOR: times below a tag become texts, and unknown fields are dropped without a warning.',
    needs,
    async run(place) {
      const custom = await defineCustom(place, {
        spec: { type: 'object', properties: { any: { 'x-kubernetes-preserve-unknown-fields': true } } },
      })
      const time = Buffer.concat([hex('c0 74'), Buffer.from('2006-01-02T15:04:05Z')])
      const any = Buffer.concat([hex('86'), time, hex('c101 c1fbbff8000000000000 20 f93e00 f6')])
      const body = map(
        ['apiVersion', string(`${custom.group}/v1`)],
        ['kind', string('Widget')],
        ['metadata', map(['name', string('a')])],
        ['spec', map(['any', any], ['wrong', hex('01')])],
      )
      const made = await custom.request('POST', undefined, { body, type, query: { fieldValidation: 'Strict' } })
      assert.deepEqual(ok(made, 201).spec, {
        any: ['2006-01-02T15:04:05Z', '1970-01-01T00:00:01Z', '1969-12-31T23:59:58.5Z', -1, 1.5, null],
      })
      assert.deepEqual(warningsOf(made), [])
      const wide = map(
        ['apiVersion', string(`${custom.group}/v1`)],
        ['kind', string('Widget')],
        ['metadata', map(['name', string('b')])],
        ['spec', map(['any', hex('1bffffffffffffffff')])],
      )
      expectStatus(await custom.request('POST', undefined, { body: wide, type }), {
        code: 400,
        message:
          'Widget in version "v1" cannot be handled as a Widget: cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go\'s int64)',
      })
    },
  },
]

const patches: readonly ServerCase[] = [
  {
    id: 'server/cbor/apply',
    rule: 'A configuration may be applied in CBOR, as application/apply-patch+cbor.',
    needs,
    async run(place) {
      const apply = (body: Buffer): Promise<Answer> =>
        place.patch('configmaps', 'a', { body, type: `application/apply-patch+cbor`, query: { fieldManager: 'm' } })
      expectMatch(ok(await apply(configMapOf('a', ['data', map(['key', string('1')])])), 201), {
        data: { key: '1' },
        metadata: { managedFields: [{ manager: 'm', operation: 'Apply', fieldsV1: { 'f:data': { 'f:key': {} } } }] },
      })
      ok(await apply(configMapOf('a', ['data', map(['key', string('2')])])), 200)
      for (const [body, message] of [
        [hex('68656c6c6f'), 'error decoding YAML: unexpected EOF'],
        [hex('80'), 'error decoding YAML: cbor: cannot unmarshal array into Go value of type map[string]interface {}'],
        [
          configMapOf('a', ['data', map(['key', string('1')], ['key', string('2')])]),
          'error decoding YAML: cbor: found duplicate map key "key" at map element index 1',
        ],
      ] as const)
        expectStatus(await apply(body), { code: 400, reason: 'BadRequest', message })
    },
  },
  {
    id: 'server/cbor/patch-types',
    rule: 'Other patches are not accepted in CBOR.',
    needs,
    async run(place) {
      const custom = await defineCustom(place)
      ok(await custom.create('a'), 201)
      const patch = (patchType: string): Promise<Answer> =>
        custom.request('PATCH', 'a', { body: map(), type: patchType })
      expectStatus(await patch('application/merge-patch+cbor'), {
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor',
      })
    },
  },
]

const responses: readonly ServerCase[] = [
  {
    id: 'server/cbor/lists',
    rule: 'Lists and metadata are served in CBOR, with the content of the same list in JSON.',
    needs,
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } })), 201)
      ok(await place.post('configmaps', configMap('b')), 201)
      const json = ok(await place.list('configmaps'))
      const { metadata: _, ...list } = cborOf(await place.list('configmaps', {}, { accept: type }))
      const { metadata: __, ...expected } = json
      assert.deepEqual(list, expected)
      const as = (kind: string): string => `${type};as=${kind};g=meta.k8s.io;v=v1`
      expectMatch(cborOf(await place.get('configmaps', 'a', { accept: as('PartialObjectMetadata') })), {
        kind: 'PartialObjectMetadata',
        metadata: { name: 'a' },
        data: undefined,
      })
      const names = cborOf(await place.list('configmaps', {}, { accept: as('PartialObjectMetadataList') }))
      assert.deepEqual(
        names.items.map(({ metadata: { name } }) => name),
        ['a', 'b'],
      )
    },
  },
  {
    id: 'server/cbor/tables',
    rule: 'Tables are not served in CBOR.',
    needs,
    async run(place) {
      expectStatus(await place.list('configmaps', {}, { accept: `${type};as=Table;g=meta.k8s.io;v=v1` }), {
        code: 406,
        reason: 'NotAcceptable',
        message:
          'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor',
      })
    },
  },
  {
    id: 'server/cbor/named',
    rule: 'Messages about media types name CBOR, and its stream for watches.',
    needs,
    async run(place) {
      const custom = await defineCustom(place)
      const known = 'application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor'
      for (const answer of [
        await place.post('configmaps', configMap('a'), { type: 'text/plain' }),
        await custom.create('a', {}, { type: 'text/plain' }),
      ])
        expectStatus(answer, {
          code: 415,
          message: `the body of the request was in an unknown format - accepted media types include: ${known}`,
        })
      expectStatus(await custom.list({}, { accept: 'text/plain' }), {
        code: 406,
        message: `only the following media types are accepted: ${known}`,
      })
      const watch = await custom.list({ watch: true }, { accept: 'application/yaml' })
      assert.equal(watch.status, 406)
      assert.match(
        watch.text.replaceAll(/\s+/g, ' '),
        /application\/json;stream=watch, application\/vnd.kubernetes.protobuf;stream=watch, application\/cbor-seq/,
      )
    },
  },
  {
    id: 'server/cbor/negotiation',
    rule: 'The best weight wins, and application/cbor-seq alone is not accepted.',
    needs,
    async run(place) {
      const list = (accept: string): Promise<Answer> => place.list('configmaps', {}, { accept })
      assert.equal((await list(`${type};q=0.5, application/json`)).header('content-type'), 'application/json')
      assert.equal((await list(`application/json;q=0.5, ${type}`)).header('content-type'), type)
      assert.equal((await list(`application/cbor-seq, ${type}`)).header('content-type'), type)
      expectStatus(await list('application/cbor-seq'), { code: 406, reason: 'NotAcceptable' })
    },
  },
  {
    id: 'server/cbor/errors',
    rule: 'An error is a Status in CBOR for a client that accepts it.',
    needs,
    async run(place) {
      const missing = await place.get('configmaps', 'missing', { accept: type })
      assert.equal(missing.status, 404)
      assert.deepEqual(cborOf(missing), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'configmaps' },
        code: 404,
      })
    },
  },
  {
    id: 'server/cbor/watch',
    rule: 'A watch in CBOR is a sequence of documents, application/cbor-seq, whose objects have their own tag.',
    needs,
    async run(place) {
      ok(await place.post('configmaps', configMap('a')), 201)
      ok(await place.post('configmaps', configMap('b')), 201)
      const answer = await place.list(
        'configmaps',
        { watch: true, timeoutSeconds: 1, labelSelector: '!judge' },
        { accept: type },
      )
      assert.equal(answer.header('content-type'), 'application/cbor-seq')
      const events = readItems(answer.bytes) as LooseEvent[]
      assert.deepEqual(brief(events).sort(), ['ADDED a', 'ADDED b'])
      const tagged = Buffer.from(answer.bytes)
        .toString('hex')
        .match(/466f626a656374d9d9f7/g)
      assert.equal(tagged?.length, 2, 'each object has its own tag')
    },
  },
  {
    id: 'server/cbor/discovery',
    rule: 'Of discovery, only the resources of a built-in version are served in CBOR.',
    needs,
    async run(place) {
      const get = (path: string): Promise<Answer> => place.client.request('GET', path, { accept: type })
      expectMatch(cborOf(await get('/apis/apps/v1')), { kind: 'APIResourceList', groupVersion: 'apps/v1' })
      for (const path of ['/apis', '/apis/apps']) expectStatus(await get(path), { code: 406, reason: 'NotAcceptable' })
      const custom = await defineCustom(place)
      expectStatus(await get(`/apis/${custom.group}/v1`), { code: 406, reason: 'NotAcceptable' })
    },
  },
]

export const cborCases: readonly ServerCase[] = [...bodies, ...patches, ...responses]
