/**
 * Names and versions in a new object: generated names, the names that each kind allows, odd versions.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, groupOf, kindOf, sample } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import { applyType } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

const generated: readonly ServerCase[] = [
  {
    id: 'server/names/generated',
    rule: 'A generated name is the prefix plus five characters from a set that cannot spell a word.',
    async run(place) {
      const made = ok(await place.post('configmaps', { metadata: { generateName: 'box-' } }), 201)
      expectMatch(made.metadata, { name: /^box-[bcdfghjklmnpqrstvwxz2456789]{5}$/, generateName: 'box-' })
      const other = ok(await place.post('configmaps', { metadata: { generateName: 'box-' } }), 201)
      assert.notEqual(other.metadata.name, made.metadata.name)
    },
  },
  {
    id: 'server/names/generated-from-long-prefix',
    rule: 'A prefix longer than 58 characters is truncated, so that the name has at most 63.',
    async run(place) {
      const prefix = 'x'.repeat(70)
      const made = ok(await place.post('configmaps', { metadata: { generateName: prefix } }), 201)
      expectMatch(made.metadata, { name: new RegExp(`^x{58}[a-z0-9]{5}$`), generateName: prefix })
    },
  },
  {
    id: 'server/names/name-wins',
    rule: 'With both name and generateName, name wins.',
    async run(place) {
      expectMatch(ok(await place.post('configmaps', { metadata: { name: 'a', generateName: 'b-' } }), 201).metadata, {
        name: 'a',
        generateName: 'b-',
      })
    },
  },
  {
    id: 'server/names/bad-prefix',
    rule: 'A prefix that no valid name can start with is rejected, with a cause for the prefix and one for the name.',
    async run(place) {
      expectStatus(await place.post('configmaps', { metadata: { generateName: 'A_' } }), {
        code: 422,
        reason: 'Invalid',
        details: {
          causes: [
            { field: 'metadata.generateName', reason: 'FieldValueInvalid' },
            { field: 'metadata.name', reason: 'FieldValueInvalid' },
          ],
        },
      })
    },
  },
  {
    id: 'server/names/none',
    rule: 'An object needs a name or a generateName.',
    async run(place) {
      expectStatus(await place.post('configmaps', { metadata: {} }), {
        code: 422,
        reason: 'Invalid',
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        details: {
          kind: 'ConfigMap',
          name: undefined,
          causes: [
            {
              reason: 'FieldValueRequired',
              message: 'Required value: name or generateName is required',
              field: 'metadata.name',
            },
          ],
        },
      })
    },
  },
]

/** A resource, a name and the error; undefined if the name is valid. */
const allowed: readonly (readonly [string, ResourceName, string, string?])[] = [
  ['subdomain', 'configmaps', 'a.b-c.0'],
  ['upper-case', 'configmaps', 'A', subdomain],
  ['underscore', 'configmaps', 'a_b', subdomain],
  ['leading-dot', 'configmaps', '.a', subdomain],
  ['longest', 'configmaps', 'a'.repeat(253)],
  ['too-long', 'configmaps', 'a'.repeat(254), 'must be no more than 253 characters'],
  ['namespace-label', 'namespaces', 'A', label],
  ['namespace-dots', 'namespaces', 'a.b', 'must not contain dots'],
  ['service-digit', 'services', '1a'],
  ['service-dots', 'services', 'a.b', 'must not contain dots'],
  ['role-anything', 'roles', 'system:A_b'],
  ['role-dot', 'roles', '..', "may not be '..'"],
  ['role-slash', 'roles', 'a/b', "may not contain '/'"],
]

const perKind = allowed.map(([id, resource, name, wrong]): ServerCase => ({
  id: `server/names/${id}`,
  rule:
    wrong === undefined
      ? `A ${kindOf(resource)} can be named \`${name.length > 20 ? `${name.slice(0, 3)}… (${name.length} characters)` : name}\`.`
      : `A ${kindOf(resource)} cannot be named \`${name.length > 20 ? `${name.slice(0, 3)}… (${name.length} characters)` : name}\`; the cause says what is allowed.`,
  async run(place) {
    const answer = await place.post(resource, sample(resource, name))
    if (wrong === undefined) {
      ok(answer, 201)
      return
    }
    const message = `Invalid value: "${name}": ${wrong}`
    const group = groupOf(resource)
    expectStatus(answer, {
      code: 422,
      reason: 'Invalid',
      message: `${kindOf(resource)}${group && `.${group}`} "${name}" is invalid: metadata.name: ${message}`,
      details: {
        name,
        kind: kindOf(resource),
        causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }],
      },
    })
  },
}))

const markings: readonly ServerCase[] = [
  {
    id: 'server/names/label-key-and-value',
    rule: 'Label keys and values must have a valid format; each invalid one is a cause.',
    async run(place) {
      expectStatus(
        await place.post(
          'configmaps',
          configMap('a', {
            metadata: { labels: { 'a b': 'x', ok: 'not ok', [`${'p'.repeat(254)}/k`]: 'x', long: 'v'.repeat(64) } },
          }),
        ),
        {
          code: 422,
          reason: 'Invalid',
          details: {
            causes: (causes: { field: string }[]) =>
              causes.length === 4 && causes.every(({ field }) => field === 'metadata.labels'),
          },
        },
      )
    },
  },
  {
    id: 'server/names/annotation-key',
    rule: 'Annotation keys have the format of label keys, ignoring case; annotation values can be anything.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { annotations: { 'Example.COM/key': 'any value\n✓' } } }),
        ),
        201,
      )
      expectStatus(await place.post('configmaps', configMap('b', { metadata: { annotations: { 'a b': '' } } })), {
        code: 422,
        reason: 'Invalid',
        details: { causes: [{ field: 'metadata.annotations' }] },
      })
    },
  },
  {
    id: 'server/names/annotations-size',
    rule: 'The keys and values of all annotations have at most 256 KiB in total.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { metadata: { annotations: { a: 'x'.repeat(262_143) } } })), 201)
      expectStatus(
        await place.post('configmaps', configMap('b', { metadata: { annotations: { a: 'x'.repeat(262_144) } } })),
        {
          code: 422,
          reason: 'Invalid',
          message: 'ConfigMap "b" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
          details: {
            causes: [
              {
                reason: 'FieldValueTooLong',
                message: 'Too long: may not be more than 262144 bytes',
                field: 'metadata.annotations',
              },
            ],
          },
        },
      )
    },
  },
]

const versions: readonly ServerCase[] = [
  {
    id: 'server/create/version-with-slash',
    rule: 'The core group is empty: `/v1` in a body is `v1`.',
    async run(place) {
      const body = { ...configMap('a'), apiVersion: '/v1' }
      expectMatch(ok(await place.post('configmaps', body), 201), { apiVersion: 'v1' })
      expectMatch(ok(await place.put('configmaps', 'a', { body }), 200), { apiVersion: 'v1' })
      const apply = { body, type: applyType, query: { fieldManager: 'a', force: 'true' } }
      expectMatch(ok(await place.patch('configmaps', 'a', apply), 200), { apiVersion: 'v1' })
      expectMatch(ok(await place.patch('configmaps', 'a', { body: { apiVersion: '/v1' } }), 200), { apiVersion: 'v1' })
      for (const apiVersion of ['//v1', '/v2', '/v1/'])
        expectStatus(await place.post('configmaps', { ...configMap('b'), apiVersion }), { code: 400 })
    },
  },
  {
    id: 'server/create/odd-resource-version',
    rule: 'A new object cannot have a resourceVersion; one that is not a number is ignored.',
    async run(place) {
      for (const resourceVersion of ['abc', '1x', '-1', '0', ''])
        ok(await place.post('configmaps', { metadata: { generateName: 'a', resourceVersion } }), 201)
      expectStatus(await place.post('configmaps', { metadata: { name: 'a', resourceVersion: '5' } }), {
        code: 500,
        message: 'resourceVersion should not be set on objects to be created',
      })
    },
  },
]

export const nameCases: readonly ServerCase[] = [...generated, ...perKind, ...markings, ...versions]
