/**
 * JSON patch and merge patch, and rules for all patches.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const { json: type } = patchTypes

const jsonPatches: readonly ServerCase[] = [
  {
    id: 'server/patch/json',
    rule: 'A JSON patch can add, replace, remove, move, copy and test; it applies completely or not at all.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { a: '1', b: '2', c: '3' } })))
      const body = [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '9' },
        { op: 'remove', path: '/data/b' },
        { op: 'move', from: '/data/c', path: '/data/d' },
        { op: 'copy', from: '/data/d', path: '/data/e' },
        { op: 'add', path: '/metadata/labels', value: {} },
        { op: 'add', path: '/metadata/labels/example.com~1l', value: 'x' },
      ]
      const next = ok(await place.patch('configmaps', 'a', { body, type }), 200)
      assert.deepEqual(next.data, { a: '9', d: '3', e: '3' })
      assert.deepEqual(next.metadata.labels, { 'example.com/l': 'x' })
    },
  },
  {
    id: 'server/patch/json-list-positions',
    rule: 'A JSON patch addresses list items by index, and `-` means the end.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/c'] } }),
        ),
      )
      const body = [
        { op: 'add', path: '/metadata/finalizers/1', value: 'example.com/b' },
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/d' },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ]
      assert.deepEqual(ok(await place.patch('configmaps', 'a', { body, type })).metadata.finalizers, [
        'example.com/b',
        'example.com/c',
        'example.com/d',
      ])
    },
  },
  {
    id: 'server/patch/json-test-fails',
    rule: 'A JSON patch with a failing test is rejected and changes nothing.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { a: '1' } })))
      const body = [
        { op: 'replace', path: '/data/a', value: '2' },
        { op: 'test', path: '/data/a', value: '7' },
      ]
      expectStatus(await place.patch('configmaps', 'a', { body, type }), {
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
        details: {},
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/patch/json-path-missing',
    rule: 'A JSON patch that replaces or removes a missing path is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const op of ['remove', 'replace']) {
        expectStatus(
          await place.patch('configmaps', 'a', { body: [{ op, path: '/data/nothing', value: 'x' }], type }),
          { code: 422, reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
        )
      }
    },
  },
  {
    id: 'server/patch/json-bad-operations',
    rule: 'A JSON patch operation that is unknown, absent, has a missing parent or an index out of range is rejected.',
    async run(place) {
      const made = ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { finalizers: ['example.com/a'] }, data: { a: '1' } }),
        ),
      )
      const value = 'example.com/b'
      for (const operation of [
        { op: 'explode', path: '/data/a', value },
        { path: '/data/a', value },
        { op: 'add', path: '/nothing/here', value },
        { op: 'add', path: '/metadata/finalizers/7', value },
        { op: 'move', from: '/data/nothing', path: '/data/b' },
      ]) {
        expectStatus(await place.patch('configmaps', 'a', { body: [operation], type }), {
          code: 422,
          reason: 'Invalid',
          message: 'the server rejected our request due to an error in our request',
          details: {},
        })
      }
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/patch/json-root',
    rule: 'A JSON patch may replace the whole object; fields owned by the server are kept.',
    async run(place) {
      const made = ok(
        await place.post('configmaps', configMap('a', { data: { a: '1' }, metadata: { labels: { l: '1' } } })),
      )
      const next = ok(
        await place.patch('configmaps', 'a', {
          body: [{ op: 'replace', path: '', value: configMap('a', { data: { b: '2' } }) }],
          type,
        }),
        200,
      )
      expectMatch(next, {
        data: { a: undefined, b: '2' },
        metadata: { uid: made.metadata.uid, labels: undefined, creationTimestamp: made.metadata.creationTimestamp },
      })
    },
  },
  {
    id: 'server/patch/json-nothing',
    rule: 'A JSON patch without operations changes nothing; a test for null passes on a missing path.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { a: '1' } })))
      for (const body of [[], [{ op: 'test', path: '/data/nothing', value: null }]])
        assert.deepEqual(ok(await place.patch('configmaps', 'a', { body, type }), 200), made)
    },
  },
  {
    id: 'server/patch/json-unreadable',
    rule: 'A JSON patch that is not a list of operations is a bad request.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: { op: 'add' }, type }), {
        code: 400,
        reason: 'BadRequest',
        message: /^error decoding patch: /,
      })
      expectStatus(await place.patch('configmaps', 'a', { body: '[{', type }), {
        code: 400,
        reason: 'BadRequest',
        message: /^error decoding patch: /,
      })
    },
  },
  {
    id: 'server/patch/json-too-many',
    rule: 'A JSON patch has at most 10,000 operations.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { a: '1' } })))
      const operations = (count: number): unknown => Array(count).fill({ op: 'test', path: '/data/a', value: '1' })
      ok(await place.patch('configmaps', 'a', { body: operations(10_000), type }), 200)
      expectStatus(await place.patch('configmaps', 'a', { body: operations(10_001), type }), {
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      })
    },
  },
]

const mergePatches: readonly ServerCase[] = [
  {
    id: 'server/patch/merge',
    rule: 'A merge patch sets the fields it contains, removes those set to null and keeps the rest.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { a: '1', b: '2' }, metadata: { labels: { l: '1' } } })))
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { a: null, c: '3' } } }), 200)
      assert.deepEqual(next.data, { b: '2', c: '3' })
      assert.deepEqual(next.metadata.labels, { l: '1' })
    },
  },
  {
    id: 'server/patch/merge-lists',
    rule: 'A merge patch replaces lists as a whole.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }),
        ),
      )
      assert.deepEqual(
        ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: ['example.com/c'] } } })).metadata
          .finalizers,
        ['example.com/c'],
      )
    },
  },
  {
    id: 'server/patch/merge-stale',
    rule: 'A patch with an old resourceVersion is a conflict.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }))
      expectStatus(
        await place.patch('configmaps', 'a', {
          body: { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { k: '2' } },
        }),
        {
          code: 409,
          reason: 'Conflict',
          message: /^Operation cannot be fulfilled on configmaps "a": the object has been modified/,
        },
      )
    },
  },
  {
    id: 'server/patch/merge-contention',
    rule: 'Concurrent patches without a resourceVersion never conflict: all are applied.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const keys = Array.from({ length: 10 }, (_, index) => `k${index}`)
      const answers = await Promise.all(
        keys.map((key) => place.patch('configmaps', 'a', { body: { data: { [key]: 'x' } } })),
      )
      for (const answer of answers) ok(answer, 200)
      assert.deepEqual(Object.keys(ok(await place.get('configmaps', 'a')).data).sort(), keys)
    },
  },
  {
    id: 'server/patch/merge-unreadable',
    rule: 'A merge patch that is not a JSON object is a bad request: truncated, empty, YAML, a list, text.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const body of ['{"data"', '', 'data: {k: v}', '[]', '"x"'])
        expectStatus(await place.patch('configmaps', 'a', { body }), {
          code: 400,
          reason: 'BadRequest',
          message: /^error decoding patch: /,
        })
      expectStatus(await place.patch('configmaps', 'a', { body: 'null' }), { code: 400, reason: 'BadRequest' })
      for (const body of ['{"data"', '[]'])
        expectStatus(await place.patch('configmaps', 'a', { body, type: patchTypes.strategic }), {
          code: 400,
          reason: 'BadRequest',
        })
    },
  },
  {
    id: 'server/patch/wrong-type-result',
    rule: 'A patch whose result has a value of the wrong type is rejected.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: { data: { k: 1 } } }), {
        code: 422,
        reason: 'Invalid',
        message:
          /^ "" is invalid: patch: Invalid value: .*json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
]

const everyPatch: readonly ServerCase[] = [
  {
    id: 'server/patch/missing',
    rule: 'A JSON, merge or strategic merge patch of a missing object is a 404.',
    async run(place) {
      for (const one of Object.values(patchTypes)) {
        expectStatus(await place.patch('configmaps', 'a', { body: one === type ? [] : {}, type: one }), {
          code: 404,
          reason: 'NotFound',
          message: 'configmaps "a" not found',
        })
      }
    },
  },
  {
    id: 'server/patch/name',
    rule: 'A patch cannot change the name or the namespace.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: { metadata: { name: 'b' } } }), {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (b) does not match the name on the URL (a)',
      })
      expectStatus(await place.patch('configmaps', 'a', { body: { metadata: { namespace: 'default' } } }), {
        code: 400,
        reason: 'BadRequest',
      })
    },
  },
  {
    id: 'server/patch/kind',
    rule: 'A patch cannot change apiVersion or kind.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const body of [{ kind: 'Secret' }, { apiVersion: 'v2' }]) {
        const { status } = await place.patch('configmaps', 'a', { body })
        assert.ok(status >= 400 && status < 500, String(status))
      }
      expectMatch(ok(await place.get('configmaps', 'a')), { apiVersion: 'v1', kind: 'ConfigMap' })
    },
  },
  {
    id: 'server/patch/uid',
    rule: 'A patch cannot change the uid.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: { metadata: { uid: 'other' } } }), {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
      })
    },
  },
  {
    id: 'server/patch/force',
    rule: '`force` is valid only for apply; other patches reject it.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.patch('configmaps', 'a', { body: {}, query: { force: true } }), {
        code: 422,
        reason: 'Invalid',
        message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        details: {
          group: 'meta.k8s.io',
          kind: 'PatchOptions',
          causes: [
            {
              reason: 'FieldValueForbidden',
              message: 'Forbidden: may not be specified for non-apply patch',
              field: 'force',
            },
          ],
        },
      })
    },
  },
  {
    id: 'server/patch/field-manager',
    rule: 'A fieldManager has at most 128 characters, all of them printable.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } }, query: { fieldManager: 'm'.repeat(128) } }))
      expectStatus(await place.patch('configmaps', 'a', { body: {}, query: { fieldManager: 'm'.repeat(129) } }), {
        code: 422,
        reason: 'Invalid',
        details: { kind: 'PatchOptions', causes: [{ reason: 'FieldValueTooLong', field: 'fieldManager' }] },
      })
      expectStatus(await place.patch('configmaps', 'a', { body: {}, query: { fieldManager: 'a\nb' } }), {
        code: 422,
        reason: 'Invalid',
        details: { kind: 'PatchOptions', causes: [{ reason: 'FieldValueInvalid', field: 'fieldManager' }] },
      })
    },
  },
  {
    id: 'server/patch/content-type-parameters',
    rule: 'Parameters of a patch content type are ignored.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectMatch(
        ok(
          await place.patch('configmaps', 'a', {
            body: { data: { k: '1' } },
            type: `${patchTypes.merge}; charset=utf-8`,
          }),
          200,
        ).data,
        { k: '1' },
      )
    },
  },
  {
    id: 'server/patch/unknown-type',
    rule: 'A patch with an unknown or missing content type is rejected with 415.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const unknown of ['application/json', 'text/plain', '']) {
        expectStatus(await place.patch('configmaps', 'a', { body: {}, type: unknown }), {
          code: 415,
          reason: 'UnsupportedMediaType',
        })
      }
    },
  },
  {
    id: 'server/patch/result-is-validated',
    rule: 'The result of a patch is validated like a replace.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      expectStatus(await place.patch('deployments', 'a', { body: { spec: { replicas: -1 } } }), {
        code: 422,
        reason: 'Invalid',
        message: 'Deployment.apps "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        details: {
          name: 'a',
          group: 'apps',
          kind: 'Deployment',
          causes: [
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: -1: must be greater than or equal to 0',
              field: 'spec.replicas',
            },
          ],
        },
      })
    },
  },
]

export const patchCases: readonly ServerCase[] = [...jsonPatches, ...mergePatches, ...everyPatch]
