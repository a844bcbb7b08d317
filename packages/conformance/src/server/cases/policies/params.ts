/**
 * Parameters of policies: objects selected by a binding, by name or by labels. They are custom objects, so that each
 * case has its own kind.
 */
import type { Answer } from '../../answer.ts'
import { defineCustom, eventually } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { expectStatus, ok } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { validating } from './bound.ts'

const data = (count: number): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))
const subject = (name: string, count: number): Fields => configMap(name, { data: data(count) })
const strictly = { objectSelector: { matchLabels: { strict: 'yes' } } }
const strict = configMap('strict', { metadata: { labels: { strict: 'yes' } } })

/** A policy that limits the number of data keys by its parameter. */
function limited({ group }: Custom): Fields {
  return {
    paramKind: { apiVersion: `${group}/v1`, kind: 'Widget' },
    validations: [
      { expression: 'size(object.data) <= params.spec.max', messageExpression: '"at most " + string(params.spec.max)' },
    ],
  }
}

async function limits(
  { group, place }: Custom,
  name: string,
  { max, labels = {}, namespace = place.namespace }: { max: number; labels?: Fields; namespace?: string },
): Promise<void> {
  const path = namespace === '' ? `/apis/${group}/v1/widgets` : `/apis/${group}/v1/namespaces/${namespace}/widgets`
  ok(
    await place.client.request('POST', path, {
      body: { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, labels }, spec: { max } },
    }),
    201,
  )
}

/** A server may take a while to make a new kind available to its policies. */
function post(place: Place, body: Fields): Promise<Answer> {
  return eventually(
    () => place.post('configmaps', body),
    ({ text }) => !text.includes('failed to find resource'),
  )
}

export const policyParamCases: readonly ServerCase[] = [
  {
    id: 'server/policies/param-by-name',
    rule: 'A parameter by name is read from the namespace of the object, and its current value applies.',
    async run(place) {
      const widgets = await defineCustom(place)
      await limits(widgets, 'limits', { max: 2 })
      await validating(place, {
        a: {
          spec: limited(widgets),
          bindings: { b: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } } },
        },
      })
      ok(await post(place, subject('a', 2)), 201)
      expectStatus(await post(place, subject('b', 3)), { code: 422, message: /denied request: at most 2$/ })
    },
  },
  {
    id: 'server/policies/param-elsewhere',
    rule: 'A binding can set the namespace of its parameter.',
    async run(place) {
      const [widgets, namespace] = [await defineCustom(place), place.unique('other')]
      ok(await place.post('namespaces', { metadata: { name: namespace } }), 201)
      await limits(widgets, 'limits', { max: 1, namespace })
      await validating(place, {
        a: {
          spec: limited(widgets),
          bindings: { b: { paramRef: { name: 'limits', namespace, parameterNotFoundAction: 'Deny' } } },
        },
      })
      ok(await post(place, subject('a', 1)), 201)
      expectStatus(await post(place, subject('b', 2)), { code: 422, message: /at most 1$/ })
    },
  },
  {
    id: 'server/policies/param-by-label',
    rule: 'With a label selector, an object must satisfy every matching parameter.',
    async run(place) {
      const widgets = await defineCustom(place)
      await limits(widgets, 'wide', { max: 5, labels: { role: 'limits' } })
      await limits(widgets, 'narrow', { max: 1, labels: { role: 'limits' } })
      await limits(widgets, 'other', { max: 0 })
      await validating(place, {
        a: {
          spec: limited(widgets),
          bindings: {
            b: { paramRef: { selector: { matchLabels: { role: 'limits' } }, parameterNotFoundAction: 'Deny' } },
          },
        },
      })
      ok(await post(place, subject('a', 1)), 201)
      expectStatus(await post(place, subject('b', 2)), { code: 422, message: /at most 1$/ })
    },
  },
  {
    id: 'server/policies/param-missing',
    rule: 'A missing parameter denies or allows, as the binding says.',
    async run(place) {
      const widgets = await defineCustom(place)
      await validating(place, {
        a: {
          spec: limited(widgets),
          bindings: { b: { paramRef: { name: 'none', parameterNotFoundAction: 'Allow' } } },
        },
        d: {
          spec: { ...limited(widgets), validations: [{ expression: 'true' }] },
          bindings: { b: { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' }, matchResources: strictly } },
        },
      })
      ok(await post(place, subject('a', 9)), 201)
      const message = `ValidatingAdmissionPolicy '${place.unique('d')}' with binding '${place.unique('d-b')}' denied request: failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`
      expectStatus(await post(place, strict), {
        code: 422,
        reason: 'Invalid',
        message: `configmaps "strict" is forbidden: ${message}`,
      })
    },
  },
  {
    id: 'server/policies/param-unwanted',
    rule: 'Without a paramRef, params is null; without a paramKind, a paramRef is ignored.',
    async run(place) {
      const widgets = await defineCustom(place)
      await validating(place, {
        a: { spec: { ...limited(widgets), validations: [{ expression: 'params == null' }] } },
        c: {
          spec: { validations: [{ expression: 'true' }] },
          bindings: { b: { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } } },
        },
      })
      ok(await post(place, subject('a', 1)), 201)
    },
  },
  {
    id: 'server/policies/param-kind-unknown',
    rule: 'A paramKind that is not served is a configuration error: the policy rejects everything it matches.',
    async run(place) {
      const matchConstraints = {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } },
      }
      const spec = {
        matchConstraints,
        paramKind: { apiVersion: 'judge.example.com/v1', kind: 'Limit' },
        validations: [{ expression: 'true' }],
      }
      await validating(place, {
        a: { spec, bindings: { b: { paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } } } },
      })
      const message = `ValidatingAdmissionPolicy '${place.unique('a')}' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'judge.example.com/v1, Kind=Limit'`
      expectStatus(await place.post('secrets', { metadata: { name: 's' } }), {
        code: 422,
        reason: 'Invalid',
        message: `secrets "s" is forbidden: ${message}`,
      })
    },
  },
  {
    id: 'server/policies/param-cluster-wide',
    rule: 'Parameters can be cluster-scoped; a namespace for them is then an error.',
    async run(place) {
      const widgets = await defineCustom(place, { scope: 'Cluster' })
      await limits(widgets, 'limits', { max: 1, namespace: '' })
      await validating(place, {
        a: {
          spec: limited(widgets),
          bindings: { b: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } } },
        },
        n: {
          spec: { ...limited(widgets), validations: [{ expression: 'true' }] },
          bindings: {
            b: {
              paramRef: { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' },
              matchResources: strictly,
            },
          },
        },
      })
      ok(await post(place, subject('a', 1)), 201)
      expectStatus(await post(place, subject('b', 2)), { code: 422, message: /at most 1$/ })
      expectStatus(await post(place, { ...strict, data: { a: '1' } }), {
        code: 422,
        message:
          /failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`$/,
      })
    },
  },
]
