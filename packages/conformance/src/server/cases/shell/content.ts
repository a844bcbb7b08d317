/**
 * Content types: JSON, YAML and protobuf in requests and responses, and other headers.
 */
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'
import { decodeConfigMap, encodeConfigMap, openEnvelope } from './envelope.ts'

const protobuf = 'application/vnd.kubernetes.protobuf'
const accepted =
  'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf'

const incoming: readonly ServerCase[] = [
  {
    id: 'server/content/no-type',
    rule: 'A body without a content type is JSON.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a'), { type: '' }), 201)
      ok(await place.put('configmaps', 'a', { body: configMap('a', { data: { k: '1' } }), type: '' }), 200)
    },
  },
  {
    id: 'server/content/parameters',
    rule: 'Parameters of a content type are ignored.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a'), { type: 'application/json; charset=utf-8' }), 201)
      ok(await place.post('configmaps', 'metadata: {name: b}', { type: 'application/yaml;charset=utf-8' }), 201)
    },
  },
  {
    id: 'server/content/unknown-type',
    rule: 'A body with an unknown content type is rejected with 415, and the message lists the known ones.',
    async run(place) {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/merge-patch+json',
        'application/cbor',
        ';;;',
      ]) {
        expectStatus(await place.post('configmaps', configMap('a'), { type }), {
          code: 415,
          reason: 'UnsupportedMediaType',
          message: accepted,
        })
      }
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a'), type: 'text/plain' }), {
        code: 415,
        reason: 'UnsupportedMediaType',
        message: accepted,
      })
    },
  },
  {
    id: 'server/content/yaml-in',
    rule: 'A body can be YAML, with comments, anchors and block scalars.',
    async run(place) {
      const body =
        "# a comment\nmetadata:\n  name: a\n  labels: &l {x: \"1\"}\ndata:\n  text: |\n    one\n    two\n  quoted: 'it''s'\n"
      expectMatch(ok(await place.post('configmaps', body, { type: 'application/yaml' }), 201), {
        data: { text: 'one\ntwo\n', quoted: "it's" },
        metadata: { labels: { x: '1' } },
      })
    },
  },
  {
    id: 'server/content/yaml-first-document',
    rule: 'Only the first of several YAML documents is read.',
    async run(place) {
      expectMatch(
        ok(
          await place.post('configmaps', 'metadata:\n  name: a\n---\nmetadata:\n  name: b\n', {
            type: 'application/yaml',
          }),
          201,
        ).metadata,
        { name: 'a' },
      )
      expectStatus(await place.get('configmaps', 'b'), { code: 404 })
    },
  },
  {
    id: 'server/content/yaml-types',
    rule: 'A YAML number in a string field is a bad request, as in JSON.',
    async run(place) {
      expectStatus(await place.post('configmaps', 'metadata: {name: a}\ndata: {k: 1}', { type: 'application/yaml' }), {
        code: 400,
        reason: 'BadRequest',
      })
      expectStatus(
        await place.post('configmaps', 'metadata: {name: a}\ndata: {k: true}', { type: 'application/yaml' }),
        { code: 400, reason: 'BadRequest' },
      )
    },
  },
  {
    id: 'server/content/yaml-old-scalars',
    rule: 'YAML is parsed as version 1.1: `yes` and `on` are booleans, a leading 0 means octal.',
    async run(place) {
      expectStatus(
        await place.post('configmaps', 'metadata: {name: a}\ndata: {k: yes}', { type: 'application/yaml' }),
        { code: 400, reason: 'BadRequest', message: /cannot unmarshal bool into/ },
      )
      expectMatch(
        ok(
          await place.post('configmaps', 'metadata: {name: a}\nimmutable: on\ndata: {k: 1_a}', {
            type: 'application/yaml',
          }),
          201,
        ),
        { immutable: true, data: { k: '1_a' } },
      )
      const pod =
        'metadata: {name: a}\nspec:\n  containers: [{name: c, image: i}]\n  volumes: [{name: v, secret: {secretName: s, defaultMode: 0644}}]\n'
      expectMatch(ok(await place.post('pods', pod, { type: 'application/yaml' }), 201).spec, {
        volumes: [{ secret: { defaultMode: 420 } }],
      })
    },
  },
  {
    id: 'server/content/protobuf-create',
    rule: 'An object created from protobuf reads the same in JSON.',
    async run(place) {
      expectMatch(
        ok(await place.post('configmaps', encodeConfigMap('a', { k: 'v', other: '✓' }), { type: protobuf }), 201),
        {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          data: { k: 'v', other: '✓' },
          metadata: { name: 'a', namespace: place.namespace },
        },
      )
      expectMatch(
        ok(await place.put('configmaps', 'a', { body: encodeConfigMap('a', { k: 'w' }), type: protobuf }), 200).data,
        { k: 'w', other: undefined },
      )
    },
  },
  {
    id: 'server/content/protobuf-delete-options',
    rule: 'DeleteOptions can be protobuf, even when empty.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const type = Buffer.from('\x0a\x02v1\x12\x0dDeleteOptions', 'latin1')
      const body = Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, type.length]), type, Buffer.from([0x12, 0])])
      ok(await place.delete('configmaps', 'a', { body, type: protobuf }), 200)
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
]

const outgoing: readonly ServerCase[] = [
  {
    id: 'server/content/yaml-out',
    rule: 'A response can be YAML, errors included.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { a: '1', t: 'true' } })))
      const answer = await place.get('configmaps', 'a', { accept: 'application/yaml' })
      assert.match(answer.header('content-type'), /^application\/yaml/)
      assert.match(answer.text, /^data:\n {2}a: "1"\n {2}t: "true"$/m)
      const missing = await place.get('configmaps', 'b', { accept: 'application/yaml' })
      assert.equal(missing.status, 404)
      assert.match(missing.text, /^reason: NotFound$/m)
    },
  },
  {
    id: 'server/content/protobuf-out',
    rule: 'A response can be protobuf: an envelope with the kind and the object.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } })))
      const answer = await place.get('configmaps', 'a', { accept: protobuf })
      assert.equal(answer.status, 200, String(answer))
      assert.match(answer.header('content-type'), /^application\/vnd\.kubernetes\.protobuf/)
      const { apiVersion, kind, raw } = openEnvelope(answer.bytes)
      assert.deepEqual({ apiVersion, kind }, { apiVersion: 'v1', kind: 'ConfigMap' })
      assert.deepEqual(decodeConfigMap(raw), { name: 'a', data: { k: 'v' } })
    },
  },
  {
    id: 'server/content/protobuf-first',
    rule: 'Clients accept protobuf first and JSON second; either response is valid, and the content type says which it is.',
    async run(place) {
      const answer = await place.list('configmaps', {}, { accept: `${protobuf},application/json` })
      assert.equal(answer.status, 200)
      if (answer.header('content-type').startsWith(protobuf))
        assert.equal(openEnvelope(answer.bytes).kind, 'ConfigMapList')
      else assert.equal(answer.json.kind, 'ConfigMapList')
    },
  },
  {
    id: 'server/content/protobuf-error',
    rule: 'An error in protobuf is a Status in an envelope.',
    async run(place) {
      const answer = await place.get('configmaps', 'none', { accept: protobuf })
      assert.equal(answer.status, 404)
      assert.equal(openEnvelope(answer.bytes).kind, 'Status')
    },
  },
  {
    id: 'server/content/protobuf-watch',
    rule: 'A watch in protobuf has length-prefixed frames (four bytes), each a WatchEvent.',
    async run(place) {
      ok(await place.post('leases', sample('leases', 'a')))
      const answer = await place.list(
        'leases',
        { watch: true, timeoutSeconds: 1 },
        { accept: `${protobuf};stream=watch` },
      )
      assert.equal(answer.status, 200, String(answer))
      assert.equal(answer.header('content-type'), `${protobuf};stream=watch`)
      const bytes = Buffer.from(answer.bytes)
      assert.equal(bytes.readUInt32BE(0), bytes.length - 4)
      assert.ok(bytes.includes('ADDED'))
      assert.ok(bytes.includes('coordination.k8s.io/v1'))
    },
  },
  {
    id: 'server/content/pretty',
    rule: 'JSON is compact, and indented with pretty=true or for curl and browsers.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const text = async (query: Readonly<Record<string, string>>, agent: string): Promise<string> =>
        (await place.get('configmaps', 'a', { query, headers: { 'user-agent': agent } })).text
      assert.match(await text({}, 'judge/1'), /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"\w+":"/)
      for (const indented of [
        await text({ pretty: 'true' }, 'judge/1'),
        await text({ pretty: '1' }, 'judge/1'),
        await text({}, 'curl/8.0'),
        await text({}, 'Mozilla/5.0 (X)'),
      ])
        assert.match(indented, /^\{\n {2}"kind": "ConfigMap",\n {2}"apiVersion": "v1",\n/)
      assert.match(await text({ pretty: 'false' }, 'curl/8.0'), /^\{"kind"/)
    },
  },
  {
    id: 'server/content/gzip',
    rule: 'A large response is compressed if the client accepts gzip; a small one is not.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'x'.repeat(200_000) } })))
      ok(await place.post('configmaps', configMap('b')))
      const headers = { 'accept-encoding': 'gzip' }
      const large = await place.get('configmaps', 'a', { headers })
      assert.equal(large.header('content-encoding'), 'gzip')
      expectMatch(JSON.parse(gunzipSync(large.bytes).toString('utf8')), { metadata: { name: 'a' } })
      assert.equal((await place.get('configmaps', 'b', { headers })).header('content-encoding'), '')
      assert.equal((await place.get('configmaps', 'a')).header('content-encoding'), '')
    },
  },
  {
    id: 'server/content/headers',
    rule: 'Every response has an Audit-Id and forbids shared caches to store it.',
    async run(place) {
      for (const answer of [
        await place.list('configmaps'),
        await place.get('configmaps', 'none'),
        await place.post('configmaps', configMap('a')),
      ]) {
        assert.match(answer.header('audit-id'), /^[0-9a-f-]{36}$/)
        assert.equal(answer.header('cache-control'), 'no-cache, private')
      }
    },
  },
  {
    id: 'server/content/audit-id',
    rule: 'A client can set the Audit-Id of its request.',
    async run(place) {
      assert.equal(
        (await place.list('configmaps', {}, { headers: { 'audit-id': 'chosen-by-the-client' } })).header('audit-id'),
        'chosen-by-the-client',
      )
    },
  },
]

export const contentTypeCases: readonly ServerCase[] = [...incoming, ...outgoing]
