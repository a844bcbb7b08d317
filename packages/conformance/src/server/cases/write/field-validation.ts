/**
 * Unknown fields, duplicate fields and values of the wrong type.
 */
import assert from 'node:assert/strict'
import { defineCustom } from '../../custom.ts'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const unknown = sample('deployments', 'a', { extra: 1, spec: { replicas: 1, wrong: true } })
const twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'

const onCreate: readonly ServerCase[] = [
  {
    id: 'server/validation/unknown-field-warns',
    rule: 'Without fieldValidation, unknown fields are dropped with a warning for each.',
    async run(place) {
      const answer = await place.post('deployments', unknown)
      expectMatch(ok(answer, 201), { extra: undefined, spec: { wrong: undefined, replicas: 1 } })
      assert.deepEqual(warningsOf(answer), ['unknown field "spec.wrong"', 'unknown field "extra"'])
      assert.equal(
        answer.header('warning'),
        '299 - "unknown field \\"spec.wrong\\"", 299 - "unknown field \\"extra\\""',
      )
    },
  },
  {
    id: 'server/validation/unknown-field-ignored',
    rule: 'With fieldValidation=Ignore unknown fields are dropped without a warning.',
    async run(place) {
      const answer = await place.post('deployments', unknown, { query: { fieldValidation: 'Ignore' } })
      expectMatch(ok(answer, 201), { extra: undefined })
      assert.equal(answer.headers['warning'], undefined)
    },
  },
  {
    id: 'server/validation/unknown-field-strict',
    rule: 'With fieldValidation=Strict the request is rejected; the message lists every unknown field in document order.',
    async run(place) {
      expectStatus(await place.post('deployments', unknown, { query: { fieldValidation: 'Strict' } }), {
        code: 400,
        reason: 'BadRequest',
        message:
          'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.wrong", unknown field "extra"',
      })
      expectStatus(await place.get('deployments', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/validation/duplicate-field-warns',
    rule: 'The last value of a duplicate field wins, with a warning.',
    async run(place) {
      const answer = await place.post('configmaps', twice)
      expectMatch(ok(answer, 201).data, { k: '2' })
      assert.deepEqual(warningsOf(answer), ['duplicate field "data.k"'])
    },
  },
  {
    id: 'server/validation/duplicate-field-strict',
    rule: 'With fieldValidation=Strict a duplicate field is rejected.',
    async run(place) {
      expectStatus(await place.post('configmaps', twice, { query: { fieldValidation: 'Strict' } }), {
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.k"',
      })
    },
  },
  {
    id: 'server/validation/document-order',
    rule: 'Unknown and duplicate fields are reported in the order of the document; nothing inside an unknown field is.',
    async run(place) {
      const body =
        '{"u1":1,"metadata":{"name":"a","name":"b","foo":1},"u2":{"x":1,"x":2},"u2":2,"data":{"k":"1","k":"2"},"data":{},"u1":3}'
      const sentences = [
        'unknown field "u1"',
        'duplicate field "metadata.name"',
        'unknown field "metadata.foo"',
        'unknown field "u2"',
        'duplicate field "data.k"',
        'duplicate field "data"',
      ]
      expectStatus(await place.post('configmaps', body, { query: { fieldValidation: 'Strict' } }), {
        code: 400,
        message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${sentences.join(', ')}`,
      })
      assert.deepEqual(warningsOf(await place.post('configmaps', body)), sentences)
    },
  },
  {
    id: 'server/validation/document-order-custom',
    rule: 'For custom objects duplicate fields come first, and unknown fields sorted, those of metadata first.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: { type: 'object', properties: { a: { type: 'string' } } } })
      const body = `{"zz":1,"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"foo":1,"name":"a","bar":1},"spec":{"zz":1,"a":"b","aa":1,"a":"c"},"aa":1}`
      const answer = await widgets.request('POST', undefined, { body })
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer), [
        'duplicate field "spec.a"',
        'unknown field "metadata.bar"',
        'unknown field "metadata.foo"',
        'unknown field "aa"',
        'unknown field "spec.aa"',
        'unknown field "spec.zz"',
        'unknown field "zz"',
      ])
    },
  },
  {
    id: 'server/validation/duplicate-key-in-yaml',
    rule: 'A duplicate key in YAML is rejected under Strict and a warning otherwise.',
    async run(place) {
      const body = 'metadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\n'
      expectStatus(
        await place.post('configmaps', body, { type: 'application/yaml', query: { fieldValidation: 'Strict' } }),
        {
          code: 400,
          reason: 'BadRequest',
          message: /strict decoding error: yaml: unmarshal errors:\n {2}line 5: key "k" already set in map/,
        },
      )
      const answer = await place.post('configmaps', body, { type: 'application/yaml' })
      expectMatch(ok(answer, 201).data, { k: '2' })
      assert.equal(warningsOf(answer).length, 1)
    },
  },
  {
    id: 'server/validation/case-matters',
    rule: 'A field in the wrong case is an unknown field.',
    async run(place) {
      const answer = await place.post('configmaps', configMap('a', { Data: { k: 'v' } }))
      expectMatch(ok(answer, 201), { data: undefined })
      assert.deepEqual(warningsOf(answer), ['unknown field "Data"'])
    },
  },
  {
    id: 'server/validation/bad-mode',
    rule: 'An unknown fieldValidation value is rejected.',
    async run(place) {
      expectStatus(await place.post('configmaps', configMap('a'), { query: { fieldValidation: 'Maybe' } }), {
        code: 422,
        reason: 'Invalid',
        message:
          'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
        details: {
          group: 'meta.k8s.io',
          kind: 'CreateOptions',
          causes: [{ reason: 'FieldValueNotSupported', field: 'fieldValidation' }],
        },
      })
    },
  },
]

const onChange: readonly ServerCase[] = [
  {
    id: 'server/validation/update',
    rule: 'A replace is validated like a create.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      expectStatus(
        await place.put('configmaps', 'a', { body: { ...made, extra: 1 }, query: { fieldValidation: 'Strict' } }),
        { code: 400, message: /strict decoding error: unknown field "extra"$/ },
      )
      const answer = await place.put('configmaps', 'a', { body: { ...made, extra: 1 } })
      ok(answer, 200)
      assert.deepEqual(warningsOf(answer), ['unknown field "extra"'])
    },
  },
  {
    id: 'server/validation/update-bad-mode',
    rule: 'A bad fieldValidation on a replace or a patch names UpdateOptions or PatchOptions in the message.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a'), query: { fieldValidation: 'x' } }), {
        code: 422,
        details: { kind: 'UpdateOptions', group: 'meta.k8s.io' },
      })
      expectStatus(await place.patch('configmaps', 'a', { body: {}, query: { fieldValidation: 'x' } }), {
        code: 422,
        details: { kind: 'PatchOptions', group: 'meta.k8s.io' },
      })
    },
  },
  {
    id: 'server/validation/merge-patch',
    rule: 'Unknown fields in a merge patch are validated too.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const strict = await place.patch('configmaps', 'a', { body: { extra: 1 }, query: { fieldValidation: 'Strict' } })
      expectStatus(strict, { code: 422, reason: 'Invalid', message: /strict decoding error: unknown field "extra"/ })
      const answer = await place.patch('configmaps', 'a', { body: { extra: 1 } })
      ok(answer, 200)
      assert.deepEqual(warningsOf(answer), ['unknown field "extra"'])
    },
  },
  {
    id: 'server/validation/json-patch',
    rule: 'Unknown fields in a JSON patch are validated too.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const body = [{ op: 'add', path: '/extra', value: 1 }]
      expectStatus(
        await place.patch('configmaps', 'a', { body, type: patchTypes.json, query: { fieldValidation: 'Strict' } }),
        { code: 422, reason: 'Invalid', message: /strict decoding error: unknown field "extra"/ },
      )
      assert.deepEqual(warningsOf(await place.patch('configmaps', 'a', { body, type: patchTypes.json })), [
        'unknown field "extra"',
      ])
    },
  },
  {
    id: 'server/validation/json-patch-operations',
    rule: 'Unknown and duplicate fields in the operations of a JSON patch are reported, with the number of the operation.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const body =
        '[{"op":"add","path":"/data","value":{"a":"b"},"foo":1,"bar":2},{"op":"add","op":"add","path":"/zzz","value":1,"baz":1}]'
      const sentences = [
        'json patch unknown field "[0].foo"',
        'json patch unknown field "[0].bar"',
        'json patch duplicate field "[1].op"',
        'json patch unknown field "[1].baz"',
        'unknown field "zzz"',
      ]
      const patch = (query: object): ReturnType<typeof place.patch> =>
        place.patch('configmaps', 'a', { body, type: patchTypes.json, query: { ...query } })
      const strict = expectStatus(await patch({ fieldValidation: 'Strict' }), { code: 422, reason: 'Invalid' })
      assert.ok(
        String(strict['message']).endsWith(`strict decoding error: ${sentences.join(', ')}`),
        String(strict['message']),
      )
      assert.deepEqual(warningsOf(await patch({ fieldValidation: 'Ignore' })), [])
      assert.deepEqual(warningsOf(await patch({})), sentences)
    },
  },
  {
    id: 'server/validation/strategic-patch',
    rule: 'Unknown fields in a strategic merge patch are validated too.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      const body = { spec: { wrong: 1 } }
      expectStatus(
        await place.patch('deployments', 'a', {
          body,
          type: patchTypes.strategic,
          query: { fieldValidation: 'Strict' },
        }),
        { code: 422, reason: 'Invalid', message: /unknown field "spec\.wrong"/ },
      )
      assert.deepEqual(warningsOf(await place.patch('deployments', 'a', { body, type: patchTypes.strategic })), [
        'unknown field "spec.wrong"',
      ])
    },
  },
  {
    id: 'server/validation/patch-duplicates',
    rule: 'A duplicate field in a patch is rejected under Strict.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const body = '{"data":{"k":"1","k":"2"}}'
      expectStatus(await place.patch('configmaps', 'a', { body, query: { fieldValidation: 'Strict' } }), {
        code: 422,
        reason: 'Invalid',
        message: /strict decoding error: duplicate field "data\.k"/,
      })
      const answer = await place.patch('configmaps', 'a', { body })
      expectMatch(ok(answer).data, { k: '2' })
      assert.deepEqual(warningsOf(answer), ['duplicate field "data.k"'])
    },
  },
]

/** A body with a wrong type, and the message. */
const wrongTypes: readonly (readonly [string, string, unknown, RegExp])[] = [
  [
    'number-for-text',
    'A number in a string field',
    { data: { k: 1 } },
    /json: cannot unmarshal number into Go struct field ConfigMap\.data of type string/,
  ],
  [
    'text-for-object',
    'A string in an object field',
    { data: 'x' },
    /json: cannot unmarshal string into Go struct field ConfigMap\.data of type map\[string\]string/,
  ],
  [
    'number-for-name',
    'A number as the name',
    { metadata: { name: 1 } },
    /json: cannot unmarshal number into Go struct field ObjectMeta\.metadata\.name of type string/,
  ],
  [
    'list-for-labels',
    'A list as labels',
    { metadata: { labels: [] } },
    /json: cannot unmarshal array into Go struct field ObjectMeta\.metadata\.labels of type map\[string\]string/,
  ],
  [
    'number-for-flag',
    'A number in a boolean field',
    { immutable: 1 },
    /json: cannot unmarshal number into Go struct field ConfigMap\.immutable of type bool/,
  ],
  [
    'bad-time',
    'An invalid time',
    { metadata: { creationTimestamp: 'yesterday' } },
    /parsing time "yesterday" as "2006-01-02T15:04:05Z07:00"/,
  ],
  ['bad-bytes', 'Invalid base64', { binaryData: { k: '!' } }, /illegal base64 data at input byte 0/],
]

const types = wrongTypes.map(([id, what, rest, message]): ServerCase => ({
  id: `server/validation/${id}`,
  rule: `${what} is a bad request, whatever fieldValidation says.`,
  async run(place) {
    for (const query of [{}, { fieldValidation: 'Ignore' }]) {
      const { message: text } = expectStatus(
        await place.post('configmaps', configMap('a', rest as Record<string, unknown>), { query }),
        { code: 400, reason: 'BadRequest', message: /^ConfigMap in version "v1" cannot be handled as a ConfigMap: / },
      )
      assert.match(String(text), message)
    }
  },
}))

const numbers: readonly ServerCase[] = [
  {
    id: 'server/validation/fraction-for-integer',
    rule: 'A fraction or a number out of range for an integer field is a bad request.',
    async run(place) {
      for (const replicas of [1.5, 99_999_999_999]) {
        expectStatus(await place.post('deployments', sample('deployments', 'a', { spec: { replicas } })), {
          code: 400,
          reason: 'BadRequest',
          message: new RegExp(
            `^Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number ${replicas} into Go struct field DeploymentSpec\\.spec\\.replicas of type int32$`,
          ),
        })
      }
    },
  },
]

export const fieldValidationCases: readonly ServerCase[] = [...onCreate, ...onChange, ...types, ...numbers]
