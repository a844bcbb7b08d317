/**
 * Bad input: every request gets a clear error, and the server keeps working.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const yaml = 'application/yaml'
const protobuf = 'application/vnd.kubernetes.protobuf'

/** A malformed body, its content type and the message. */
const unreadable: readonly (readonly [string, string | Uint8Array, string, RegExp])[] = [
  ['empty', '', 'application/json', /unexpected end of JSON input/],
  ['cut-json', '{"metadata"', 'application/json', /couldn't get version\/kind; json parse error: /],
  [
    'two-values',
    '{"metadata":{"name":"a"}} {"a":1}',
    'application/json',
    /couldn't get version\/kind; json parse error: /,
  ],
  ['list', '[]', 'application/json', /couldn't get version\/kind; json parse error: /],
  ['text', '"x"', 'application/json', /couldn't get version\/kind; json parse error: /],
  ['number', '7', 'application/json', /couldn't get version\/kind; json parse error: /],
  ['comment', '{/* x */}', 'application/json', /couldn't get version\/kind; json parse error: /],
  [
    'trailing-comma',
    '{"metadata":{"name":"a"},}',
    'application/json',
    /couldn't get version\/kind; json parse error: /,
  ],
  ['bad-yaml', 'a: b: c', yaml, /yaml: /],
  ['bad-protobuf-prefix', 'xxx', protobuf, /expected prefix/],
  ['cut-protobuf', Buffer.from('k8s\0\xff\xff', 'latin1'), protobuf, /./],
  [
    'deep-json',
    `{"metadata":{"name":"a"},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    'application/json',
    /depth/,
  ],
]

const bodies = unreadable.map(([id, body, type, message]): ServerCase => ({
  id: `server/input/${id}`,
  rule: `A malformed body is a bad request (${id}).`,
  async run(place) {
    const { message: text } = expectStatus(await place.post('configmaps', body, { type }), {
      code: 400,
      reason: 'BadRequest',
      message: /^the object provided is unrecognized \(must be of type ConfigMap\): /,
    })
    assert.match(String(text), message)
    ok(await place.list('configmaps'), 200)
  },
}))

const bombs: readonly ServerCase[] = [
  {
    id: 'server/input/too-large',
    rule: 'A body can have at most 3 MiB.',
    async run(place) {
      expectStatus(await place.post('configmaps', 'x'.repeat(3_145_729)), {
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: limit is 3145728',
      })
    },
  },
  {
    id: 'server/input/largest',
    rule: 'A body of exactly 3 MiB is accepted.',
    async run(place) {
      const body = JSON.stringify(configMap('a'))
      ok(await place.post('configmaps', body.padEnd(3_145_728)), 201)
    },
  },
  {
    id: 'server/input/too-large-patch',
    rule: 'A patch can have at most 3 MiB.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: 'x'.repeat(3_145_729) }), {
        code: 413,
        reason: 'RequestEntityTooLarge',
      })
    },
  },
  {
    id: 'server/input/yaml-bomb',
    rule: 'YAML with exponentially expanding anchors is rejected.',
    async run(place) {
      const levels = Array.from(
        { length: 12 },
        (_, level) =>
          `l${level}: &l${level} [${Array<string>(10)
            .fill(level === 0 ? 'x' : `*l${level - 1}`)
            .join(',')}]`,
      )
      expectStatus(await place.post('configmaps', `metadata: {name: a}\n${levels.join('\n')}\n`, { type: yaml }), {
        code: 400,
        reason: 'BadRequest',
      })
    },
  },
  {
    id: 'server/input/copy-bomb',
    rule: 'A JSON patch with exponentially growing copies is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'x'.repeat(1_000) } })))
      const body = Array.from({ length: 30 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/k${index}` }))
      const answer = await place.patch('configmaps', 'a', { body, type: patchTypes.json })
      assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    },
  },
  {
    id: 'server/input/deep-patch',
    rule: 'A patch that is nested too deeply is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const answer = await place.patch('configmaps', 'a', { body: `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}` })
      assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    },
  },
]

const strangeKeys: readonly ServerCase[] = [
  {
    id: 'server/input/prototype-keys',
    rule: '`__proto__`, `constructor` and similar names are ordinary keys: stored, listed, patched, selected.',
    async run(place) {
      const body =
        '{"metadata":{"name":"a","labels":{"constructor":"x"}},"data":{"__proto__":"1","constructor":"2","toString":"3"}}'
      const answer = await place.post('configmaps', body)
      ok(answer, 201)
      for (const text of [answer.text, (await place.get('configmaps', 'a')).text]) {
        for (const part of ['"__proto__":"1"', '"constructor":"2"', '"toString":"3"', '"constructor":"x"'])
          assert.ok(text.includes(part), text)
      }
      assert.deepEqual(ok(await place.list('configmaps', { labelSelector: 'constructor=x' })).items.length, 1)
      assert.deepEqual(ok(await place.list('configmaps', { labelSelector: 'hasOwnProperty' })).items.length, 0)
    },
  },
  {
    id: 'server/input/prototype-patch',
    rule: 'A merge patch can set and remove `__proto__` as a key.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } })))
      assert.ok(
        (await place.patch('configmaps', 'a', { body: '{"data":{"__proto__":"1","constructor":"2"}}' })).text.includes(
          '"__proto__":"1"',
        ),
      )
      const { text } = await place.patch('configmaps', 'a', { body: '{"data":{"__proto__":null}}' })
      assert.ok(!text.includes('"__proto__":"1"') && text.includes('"constructor":"2"'))
    },
  },
  {
    id: 'server/input/prototype-json-patch',
    rule: 'A JSON patch can set and remove `__proto__` as a key.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } })))
      const set = await place.patch('configmaps', 'a', {
        body: [{ op: 'add', path: '/data/__proto__', value: '1' }],
        type: patchTypes.json,
      })
      assert.ok(set.text.includes('"__proto__":"1"'), set.text)
      ok(
        await place.patch('configmaps', 'a', {
          body: [{ op: 'remove', path: '/data/__proto__' }],
          type: patchTypes.json,
        }),
        200,
      )
    },
  },
  {
    id: 'server/input/prototype-field',
    rule: 'A field named `__proto__` or `constructor` is an unknown field.',
    async run(place) {
      const answer = await place.post(
        'configmaps',
        '{"metadata":{"name":"a"},"__proto__":{"data":{"k":"v"}},"constructor":1}',
      )
      expectMatch(ok(answer, 201), { data: undefined })
      assert.deepEqual(warningsOf(answer), ['unknown field "__proto__"', 'unknown field "constructor"'])
    },
  },
  {
    id: 'server/input/unicode',
    rule: 'Text in any script is preserved, and so are control characters.',
    async run(place) {
      const data = { a: 'grüße', b: '日本語', c: '😀', d: '\u0000\u001f\u2028', e: '<&>' }
      ok(await place.post('configmaps', configMap('a', { data })))
      assert.deepEqual(ok(await place.get('configmaps', 'a')).data, data)
    },
  },
]

/** A request with a bad query, and the message. */
const queries: readonly (readonly [string, string, Readonly<Record<string, string>>, RegExp])[] = [
  ['limit', 'GET', { limit: 'x' }, /strconv\.ParseInt: parsing "x": invalid syntax/],
  ['timeout-seconds', 'GET', { timeoutSeconds: 'x' }, /strconv\.ParseInt: parsing "x": invalid syntax/],
  ['timeout', 'GET', { timeout: 'x' }, /invalid timeout specified in the request URL/],
  ['grace', 'DELETE', { gracePeriodSeconds: 'x' }, /strconv\.ParseInt: parsing "x": invalid syntax/],
]

const badQueries = queries.map(([id, method, query, message]): ServerCase => ({
  id: `server/input/query-${id}`,
  rule: `A query value of the wrong type is a bad request (${id}).`,
  async run(place) {
    ok(await place.post('configmaps', configMap('a')))
    expectStatus(
      await place.client.request(method, place.path('configmaps', method === 'DELETE' ? 'a' : undefined), { query }),
      { code: 400, reason: 'BadRequest', message },
    )
    ok(await place.get('configmaps', 'a'), 200)
  },
}))

const looseQueries: readonly ServerCase[] = [
  {
    id: 'server/input/query-booleans',
    rule: 'A boolean in the query is false for `false` and `0`, and true for everything else.',
    async run(place) {
      ok(await place.post('leases', { metadata: { name: 'a' } }))
      for (const watch of ['false', '0']) expectMatch(ok(await place.list('leases', { watch })), { kind: 'LeaseList' })
      for (const watch of ['true', '1', 'maybe'])
        assert.match((await place.list('leases', { watch, timeoutSeconds: 1 })).text, /^\{"type":"ADDED"/)
    },
  },
  {
    id: 'server/input/query-unknown',
    rule: 'Unknown query parameters are ignored.',
    async run(place) {
      ok(await place.list('configmaps', { nonsense: 'x', __proto__x: 'y' }), 200)
    },
  },
]

export const inputCases: readonly ServerCase[] = [...bodies, ...bombs, ...strangeKeys, ...badQueries, ...looseQueries]
