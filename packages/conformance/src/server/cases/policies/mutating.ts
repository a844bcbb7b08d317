/**
 * MutatingAdmissionPolicy: how expressions change an object before validation.
 */
import assert from 'node:assert/strict'
import type { Answer } from '../../answer.ts'
import { defineCustom, eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { mutating, validating } from './bound.ts'

const overlay = (expression: string): Fields => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patch = (expression: string): Fields => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const rules = (
  resource: string,
  {
    group = '',
    version = 'v1',
    operations = ['CREATE'],
  }: { group?: string; version?: string; operations?: readonly string[] } = {},
): Fields => ({ resourceRules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }] })

/** A server may take a while to make a new kind available to its policies. */
function served(ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(ask, ({ status, text }) => status !== 503 && !text.includes('failed to find resource'))
}

function failed(place: Place, message: string): Parameters<typeof expectStatus>[1] {
  const text = `policy '${place.unique('a')}' with binding '${place.unique('a-b')}' denied request: ${message}`
  return { code: 403, reason: 'Invalid', message: text, details: { causes: [{ message: text }] } }
}

const changing: readonly ServerCase[] = [
  {
    id: 'server/mutating-policies/overlay',
    rule: 'An apply configuration is merged into the object: maps by key, lists of containers by name.',
    async run(place) {
      const mutations = [
        overlay(
          'Object{metadata: Object.metadata{labels: {"added": "yes"}}, spec: Object.spec{containers: [Object.spec.containers{name: "main", env: [Object.spec.containers.env{name: "B", value: "2"}]}, Object.spec.containers{name: "side", image: "side:1"}]}}',
        ),
      ]
      await mutating(place, { a: { spec: { matchConstraints: rules('pods'), mutations } } })
      const spec = { containers: [{ name: 'main', image: 'judge:1', env: [{ name: 'A', value: '1' }] }] }
      expectMatch(
        ok(await place.post('pods', sample('pods', 'a', { metadata: { labels: { own: 'yes' } }, spec })), 201),
        {
          metadata: { labels: { own: 'yes', added: 'yes' } },
          spec: {
            containers: [
              {
                name: 'main',
                image: 'judge:1',
                env: [
                  { name: 'A', value: '1' },
                  { name: 'B', value: '2' },
                ],
                imagePullPolicy: 'IfNotPresent',
              },
              { name: 'side', image: 'side:1', imagePullPolicy: 'IfNotPresent' },
            ],
          },
        },
      )
    },
  },
  {
    id: 'server/mutating-policies/patch',
    rule: 'A JSON patch is applied operation by operation; keys can be escaped.',
    async run(place) {
      const mutations = [
        patch(
          '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"x": "y"}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a.b/c"), value: "1"}, JSONPatch{op: "remove", path: "/data/gone"}, JSONPatch{op: "copy", from: "/data/kept", path: "/data/copy"}]',
        ),
      ]
      await mutating(place, {
        a: { spec: { matchConditions: [{ name: 'n', expression: 'object.metadata.name == "a"' }], mutations } },
      })
      expectMatch(ok(await place.post('configmaps', configMap('a', { data: { gone: '1', kept: '2' } })), 201), {
        metadata: { annotations: { x: 'y', 'a.b/c': '1' } },
        data: { kept: '2', copy: '2', gone: undefined },
      })
    },
  },
  {
    id: 'server/mutating-policies/patch-test',
    rule: 'A JSON patch with a failing test is skipped, and the object is admitted.',
    async run(place) {
      const mutations = [
        patch(
          '[JSONPatch{op: "test", path: "/data/a", value: "1"}, JSONPatch{op: "add", path: "/data/a", value: "2"}]',
        ),
      ]
      await mutating(place, { a: { spec: { mutations } } })
      expectMatch(ok(await place.post('configmaps', configMap('yes', { data: { a: '1' } })), 201), { data: { a: '2' } })
      expectMatch(ok(await place.post('configmaps', configMap('no', { data: { a: '3' } })), 201), { data: { a: '3' } })
    },
  },
  {
    id: 'server/mutating-policies/patch-test-missing',
    rule: 'A test of a missing field fails and skips the patch; a test below a missing field rejects the object.',
    async run(place) {
      const test = (path: string, value: string): string =>
        `[JSONPatch{op: "test", path: "${path}", value: ${value}}, JSONPatch{op: "add", path: "/data", value: {"b": "2"}}]`
      const only = (name: string, expression: string): object => ({
        spec: {
          matchConditions: [{ name: 'n', expression: `object.metadata.name == "${name}"` }],
          mutations: [patch(expression)],
        },
      })
      await mutating(place, {
        a: only('map', test('/metadata/annotations', '{"a": "b"}')) as never,
        b: only('key', test('/data/none', '"x"')) as never,
        c: only('root', test('/none', '"x"')) as never,
        d: only('below', test('/metadata/annotations/a', '"x"')) as never,
      })
      for (const name of ['map', 'key', 'root'])
        expectMatch(ok(await place.post('configmaps', configMap(name, { data: { a: '1' } })), 201).data, {
          a: '1',
          b: undefined,
        })
      expectStatus(await place.post('configmaps', configMap('below')), { code: 403 })
    },
  },
  {
    id: 'server/mutating-policies/values',
    rule: 'A patch can set values of every type, and parts of objects.',
    async run(place) {
      const widgets = await defineCustom(place)
      const mutations = [
        patch(
          '[JSONPatch{op: "add", path: "/spec", value: Object.spec{n: 1, d: 1.5, b: true, s: "x", l: [1, 2], m: {"k": "v"}, o: Object.spec.o{deep: [Object.spec.o.deep{a: 1}]}}}]',
        ),
      ]
      await mutating(place, {
        a: { spec: { matchConstraints: rules('widgets', { group: widgets.group }), mutations } },
      })
      const made = ok(
        await served(() =>
          place.client.request('POST', `/apis/${widgets.group}/v1/namespaces/${place.namespace}/widgets`, {
            body: { apiVersion: `${widgets.group}/v1`, kind: 'Widget', metadata: { name: 'a' } },
          }),
        ),
        201,
      )
      assert.deepEqual(made.spec, { n: 1, d: 1.5, b: true, s: 'x', l: [1, 2], m: { k: 'v' }, o: { deep: [{ a: 1 }] } })
    },
  },
  {
    id: 'server/mutating-policies/before-judgement',
    rule: 'The result of policies is defaulted and validated like any object, and validating policies see it.',
    async run(place) {
      const mutations = [overlay('Object{data: {"made": "by policy"}}')]
      await mutating(place, {
        a: { spec: { matchConditions: [{ name: 'n', expression: 'object.metadata.name != "bad"' }], mutations } },
        i: {
          spec: {
            matchConditions: [{ name: 'n', expression: 'object.metadata.name == "bad"' }],
            mutations: [overlay('Object{metadata: Object.metadata{labels: {"not a key": "x"}}}')],
          },
        },
      })
      await validating(place, {
        v: {
          spec: { validations: [{ expression: 'object.metadata.name == "bad" || object.data.made == "by policy"' }] },
        },
      })
      ok(await place.post('configmaps', configMap('a')), 201)
      expectStatus(await place.post('configmaps', configMap('bad')), {
        code: 422,
        reason: 'Invalid',
        message: /metadata.labels: Invalid value: "not a key"/,
      })
    },
  },
  {
    id: 'server/mutating-policies/update',
    rule: 'For an update or an apply, policies see the result and the old object, and their changes are stored.',
    async run(place) {
      const mutations = [overlay('Object{data: {"seen": oldObject == null ? "new" : string(oldObject.data.n)}}')]
      await mutating(place, {
        a: {
          spec: { matchConditions: [{ name: 'n', expression: 'has(object.data) && has(object.data.n)' }], mutations },
        },
      })
      expectMatch(ok(await place.post('configmaps', configMap('a', { data: { n: '1' } })), 201), {
        data: { n: '1', seen: 'new' },
      })
      expectMatch(ok(await place.patch('configmaps', 'a', { body: { data: { n: '2' } } }), 200), {
        data: { n: '2', seen: '1' },
      })
      expectMatch(ok(await place.put('configmaps', 'a', { body: configMap('a', { data: { n: '3' } }) }), 200), {
        data: { n: '3', seen: '2' },
      })
    },
  },
  {
    id: 'server/mutating-policies/chain',
    rule: 'The mutations of a policy run in order, each on the result of the previous one; variables are evaluated again.',
    async run(place) {
      const variables = [{ name: 'n', expression: 'int(object.data.n)' }]
      const mutations = [
        overlay('Object{data: {"n": string(variables.n + 1)}}'),
        patch('[JSONPatch{op: "replace", path: "/data/n", value: string(variables.n * 10)}]'),
      ]
      await mutating(place, {
        a: {
          spec: { variables, matchConditions: [{ name: 'n', expression: 'object.metadata.name == "a"' }], mutations },
        },
      })
      expectMatch(ok(await place.post('configmaps', configMap('a', { data: { n: '1' } })), 201), { data: { n: '20' } })
    },
  },
  {
    id: 'server/mutating-policies/reinvocation',
    rule: 'A policy with reinvocationPolicy IfNeeded runs again after a change, its own included; other policies run once.',
    async run(place) {
      const count = (key: string): Fields =>
        overlay(`Object{data: {"${key}": has(object.data.${key}) ? string(int(object.data.${key}) + 1) : "1"}}`)
      const matchConditions = [{ name: 'n', expression: 'object.metadata.name == "a"' }]
      await mutating(place, {
        a: { spec: { matchConditions, reinvocationPolicy: 'IfNeeded', mutations: [count('twice')] } },
        b: { spec: { matchConditions, mutations: [count('once')] } },
      })
      expectMatch(ok(await place.post('configmaps', configMap('a', { data: { x: '1' } })), 201), {
        data: { twice: '2', once: '1' },
      })
    },
  },
  {
    id: 'server/mutating-policies/params',
    rule: 'Mutations can use parameters, and a policy with several runs once for each.',
    async run(place) {
      const widgets = await defineCustom(place)
      const kind = { apiVersion: `${widgets.group}/v1`, kind: 'Widget' }
      const path = `/apis/${widgets.group}/v1/namespaces/${place.namespace}/widgets`
      for (const name of ['p', 'q'])
        ok(
          await place.client.request('POST', path, {
            body: { ...kind, metadata: { name, labels: { role: 'param' } }, spec: { value: name } },
          }),
          201,
        )
      const spec = {
        paramKind: kind,
        matchConstraints: rules('secrets'),
        mutations: [
          patch('[JSONPatch{op: "add", path: "/metadata/labels/" + params.metadata.name, value: params.spec.value}]'),
        ],
      }
      await mutating(place, {
        a: {
          spec,
          bindings: {
            b: { paramRef: { selector: { matchLabels: { role: 'param' } }, parameterNotFoundAction: 'Deny' } },
          },
        },
      })
      const made = await served(() =>
        place.post('secrets', sample('secrets', 'a', { metadata: { labels: { x: '1' } } })),
      )
      expectMatch(ok(made, 201), { metadata: { labels: { p: 'p', q: 'q', x: '1' } } })
    },
  },
  {
    id: 'server/mutating-policies/equivalent',
    rule: 'A policy for another version of a custom object changes it too.',
    async run(place) {
      const widgets = await defineCustom(place, {
        versions: [
          { name: 'v1', served: true, storage: true },
          { name: 'v2', served: true, storage: false },
        ],
      })
      const mutations = [overlay('Object{spec: Object.spec{version: object.apiVersion}}')]
      await mutating(place, {
        a: { spec: { matchConstraints: rules('widgets', { group: widgets.group }), mutations } },
      })
      const body = { apiVersion: `${widgets.group}/v2`, kind: 'Widget', metadata: { name: 'a' }, spec: { own: true } }
      const made = ok(
        await served(() =>
          place.client.request('POST', `/apis/${widgets.group}/v2/namespaces/${place.namespace}/widgets`, { body }),
        ),
        201,
      )
      expectMatch(made, { apiVersion: `${widgets.group}/v2`, spec: { own: true, version: `${widgets.group}/v1` } })
    },
  },
]

const failing: readonly ServerCase[] = [
  ...(
    [
      [
        'misplaced',
        'Types whose names do not match their position',
        'Object{data: Object.spec{}}',
        'type mismatch: unexpected type name "Object.spec", expected "Object.data", which matches field name path from root Object type',
      ],
      [
        'undeclared',
        'Unknown fields',
        'Object{nothing: 1}',
        'error applying patch: failed to convert patch object to typed object: .nothing: field not declared in schema',
      ],
      [
        'mistyped',
        'Values of another type',
        'Object{data: {"a": 1}}',
        /^policy .* error applying patch: failed to convert patch object to typed object: .data.a: expected string, got &/,
      ],
      [
        'error',
        'Expressions that fail to evaluate',
        'Object{data: {"a": string(object.none)}}',
        'expression \'Object{data: {"a": string(object.none)}}\' resulted in error: no such key: none',
      ],
    ] as const
  ).map(([name, what, expression, message]): ServerCase => ({
    id: `server/mutating-policies/${name}`,
    rule: `${what} in an apply configuration reject the object with 403.`,
    async run(place) {
      await mutating(place, {
        a: {
          spec: {
            matchConditions: [{ name: 'n', expression: 'object.metadata.name == "a"' }],
            mutations: [overlay(expression)],
          },
        },
      })
      const expected = typeof message === 'string' ? failed(place, message) : { code: 403, reason: 'Invalid', message }
      expectStatus(await place.post('configmaps', configMap('a')), expected)
    },
  })),
  {
    id: 'server/mutating-policies/atomic',
    rule: 'An apply configuration cannot change an atomic list.',
    async run(place) {
      await mutating(place, {
        a: {
          spec: {
            matchConstraints: rules('pods'),
            mutations: [
              overlay('Object{spec: Object.spec{containers: [Object.spec.containers{name: "main", args: ["x"]}]}}'),
            ],
          },
        },
      })
      expectStatus(
        await place.post('pods', sample('pods', 'a')),
        failed(
          place,
          'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args',
        ),
      )
    },
  },
  {
    id: 'server/mutating-policies/patch-fails',
    rule: 'A JSON patch that does not apply rejects the object, unless failures are ignored.',
    async run(place) {
      const matchConditions = [{ name: 'n', expression: 'object.metadata.name == "a"' }]
      await mutating(place, {
        a: { spec: { matchConditions, mutations: [patch('[JSONPatch{op: "remove", path: "/data/none"}]')] } },
        i: {
          spec: {
            failurePolicy: 'Ignore',
            matchConditions: [{ name: 'n', expression: 'object.metadata.name == "i"' }],
            mutations: [
              patch('[JSONPatch{op: "remove", path: "/data/none"}]'),
              overlay('Object{data: {"after": "yes"}}'),
            ],
          },
        },
      })
      expectStatus(await place.post('configmaps', configMap('a', { data: { x: '1' } })), {
        code: 403,
        reason: 'Invalid',
        message: new RegExp(
          `^policy '${place.unique('a')}' with binding '${place.unique('a-b')}' denied request: JSON Patch: `,
        ),
      })
      expectMatch(ok(await place.post('configmaps', configMap('i', { data: { x: '1' } })), 201), {
        data: { x: '1', after: 'yes' },
      })
    },
  },
  {
    id: 'server/mutating-policies/patch-unknown',
    rule: 'A JSON patch that adds an unknown field to a built-in kind is an internal error.',
    async run(place) {
      await mutating(place, {
        a: {
          spec: {
            matchConditions: [{ name: 'n', expression: 'object.metadata.name == "a"' }],
            mutations: [patch('[JSONPatch{op: "add", path: "/nothing", value: 1}]')],
          },
        },
      })
      expectStatus(await place.post('configmaps', configMap('a')), {
        code: 500,
        reason: 'InternalError',
        message: /strict decoding error: unknown field "nothing"/,
      })
    },
  },
]

export const mutatingPolicyCases: readonly ServerCase[] = [...changing, ...failing]
