/**
 * Access reviews (179 and related).
 */
import type { Answer } from '../../answer.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { Place, ServerCase } from '../../target.ts'
import { Person } from './person.ts'

const reviews = '/apis/authorization.k8s.io/v1'
const getPods = { verb: 'get', resource: 'pods' }

function self(place: Place, body: object): Promise<Answer> {
  return place.client.request('POST', `${reviews}/selfsubjectaccessreviews`, { body })
}

/** Metadata contains managedFields, so only the end is compared. */
function isInvalid(answer: Answer, message: string | RegExp): void {
  const text = typeof message === 'string' ? `.authorization.k8s.io "" is invalid: ${message}` : message
  expectStatus(answer, {
    code: 422,
    reason: 'Invalid',
    message: text,
    details: { group: 'authorization.k8s.io', kind: undefined, name: undefined },
  })
}

export const reviewCases: readonly ServerCase[] = [
  {
    id: 'server/permission/reviews-self',
    rule: 'Every user can review their own access; the reason names the binding that allows it.',
    async run(place) {
      const ann = new Person(place)
      const ask = async (attributes: object): Promise<unknown> =>
        ok(
          await ann.request('POST', `${reviews}/selfsubjectaccessreviews`, {
            body: { spec: { resourceAttributes: attributes } },
          }),
          201,
        ).status
      expectMatch(await ask({ ...getPods, namespace: place.namespace }), {
        allowed: false,
        denied: undefined,
        reason: undefined,
      })
      await ann.may({ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] })
      expectMatch(await ask({ ...getPods, namespace: place.namespace, name: 'a' }), {
        allowed: true,
        reason: new RegExp(
          `^RBAC: allowed by RoleBinding "for-${ann.name}-\\d+/${place.namespace}" of Role "for-${ann.name}-\\d+" to User "${ann.name}"$`,
        ),
      })
      expectMatch(await ask({ ...getPods, namespace: place.namespace }), { allowed: false })
      expectMatch(await ask({ ...getPods, name: 'a' }), { allowed: false })
    },
  },
  {
    id: 'server/permission/reviews-others',
    rule: 'A review of another subject needs a user or a group, and permission.',
    async run(place) {
      const ask = (spec: object): Promise<Answer> =>
        place.client.request('POST', `${reviews}/subjectaccessreviews`, { body: { spec } })
      expectMatch(ok(await ask({ groups: ['system:masters'], resourceAttributes: getPods }), 201), {
        status: { allowed: true },
      })
      expectMatch(ok(await ask({ user: 'x', resourceAttributes: getPods }), 201), {
        spec: { user: 'x', resourceAttributes: getPods },
        status: { allowed: false },
      })
      isInvalid(
        await ask({ resourceAttributes: getPods }),
        'spec.user: Invalid value: "": at least one of user or group must be specified',
      )
      expectStatus(
        await new Person(place).request('POST', `${reviews}/subjectaccessreviews`, {
          body: { spec: { user: 'x', resourceAttributes: getPods } },
        }),
        { code: 403 },
      )
      expectStatus(await place.client.request('GET', `${reviews}/subjectaccessreviews`), { code: 405 })
    },
  },
  {
    id: 'server/permission/reviews-one-question',
    rule: 'A review is about either a resource or a path, and has no metadata.',
    async run(place) {
      isInvalid(
        await self(place, { spec: {} }),
        'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      )
      isInvalid(
        await self(place, {
          spec: { resourceAttributes: getPods, nonResourceAttributes: { path: '/x', verb: 'get' } },
        }),
        'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
      )
      isInvalid(
        await self(place, { metadata: { name: 'x' }, spec: { resourceAttributes: getPods } }),
        /is invalid: metadata: Invalid value: \{"name":"x".*\}: must be empty$/,
      )
    },
  },
  {
    id: 'server/permission/reviews-metadata',
    rule: 'Empty texts in the metadata of a review are no metadata, and a review without a namespace ignores one.',
    async run(place) {
      const spec = { resourceAttributes: getPods }
      for (const metadata of [{ name: '' }, { name: '', namespace: '' }, { namespace: 'other' }]) {
        const answer = ok(await self(place, { metadata, spec }), 201)
        expectMatch(answer, { metadata: { name: undefined, namespace: undefined }, status: { allowed: true } })
      }
    },
  },
  {
    id: 'server/permission/reviews-local',
    rule: 'A local review is about its own namespace.',
    async run(place) {
      const ask = (body: object): Promise<Answer> =>
        place.client.request('POST', `${reviews}/namespaces/${place.namespace}/localsubjectaccessreviews`, { body })
      expectMatch(
        ok(await ask({ spec: { user: 'x', resourceAttributes: { ...getPods, namespace: place.namespace } } }), 201),
        { metadata: { namespace: place.namespace }, status: { allowed: false } },
      )
      isInvalid(
        await ask({ spec: { user: 'x', resourceAttributes: getPods } }),
        'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
      )
      isInvalid(
        await ask({ metadata: { name: 'n' }, spec: { user: 'x', nonResourceAttributes: { verb: 'get', path: '/x' } } }),
        /is invalid: \[metadata: Invalid value: \{.*\}: must be empty except for namespace, spec\.nonResourceAttributes: Invalid value: \{"Path":"\/x","Verb":"get"\}: disallowed on this kind of request\]$/,
      )
      expectStatus(
        await ask({
          metadata: { namespace: 'other' },
          spec: { user: 'x', resourceAttributes: { ...getPods, namespace: 'other' } },
        }),
        { code: 400, message: 'the namespace of the provided object does not match the namespace sent on the request' },
      )
    },
  },
  {
    id: 'server/permission/reviews-selectors',
    rule: 'Selectors of a review are checked; invalid requirements are ignored and reported.',
    async run(place) {
      const ask = (attributes: object): Promise<Answer> =>
        self(place, { spec: { resourceAttributes: { ...getPods, ...attributes } } })
      const at = 'spec.resourceAttributes'
      isInvalid(
        await ask({
          fieldSelector: {
            rawSelector: 'a=b',
            requirements: [
              { key: '', operator: 'In', values: [] },
              { key: 'x', operator: 'Exists', values: ['a'] },
              { key: 'x', operator: 'Foo', values: ['a'] },
            ],
          },
          labelSelector: {},
        }),
        `[${at}.fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements, ${at}.fieldSelector.requirements[0].key: Required value: must be specified, ` +
          `${at}.fieldSelector.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn', ${at}.fieldSelector.requirements[1].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist', ` +
          `${at}.labelSelector.requirements: Required value: when ${at}.labelSelector is specified, requirements or rawSelector is required]`,
      )
      const partly = await ask({
        fieldSelector: {
          requirements: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'In', values: ['x'] },
          ],
        },
        labelSelector: { requirements: [{ key: 'a', operator: 'Foo', values: ['x'] }] },
      })
      expectMatch(ok(partly, 201).status, {
        evaluationError: `${at}.fieldSelector partially ignored due to parse error; ${at}.labelSelector ignored due to parse error`,
      })
      expectMatch(ok(await ask({ fieldSelector: { rawSelector: 'a~b' } }), 201).status, {
        evaluationError: `${at}.fieldSelector ignored due to parse error`,
      })
      isInvalid(
        await ask({ labelSelector: { requirements: [{ key: 'a b', operator: 'Foo' }] } }),
        /labelSelector\.requirements\[0\]\.key: Invalid value: "a b": name part must consist of/,
      )
    },
  },
  {
    id: 'server/permission/reviews-rules',
    rule: 'A SelfSubjectRulesReview is for one namespace, which must be given (179).',
    async run(place) {
      const ann = new Person(place)
      await ann.may({ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] })
      const ask = (spec: object): Promise<Answer> =>
        ann.request('POST', `${reviews}/selfsubjectrulesreviews`, { body: { spec } })
      expectStatus(await ask({}), { code: 400, reason: 'BadRequest', message: 'no namespace on request' })
      const { spec, status } = ok(await ask({ namespace: place.namespace }), 201)
      expectMatch({ spec, status }, { spec: {}, status: { incomplete: false, evaluationError: undefined } })
      const rules = JSON.stringify(status)
      for (const rule of [
        '{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}',
        '"selfsubjectaccessreviews","selfsubjectrulesreviews"',
        '"/openapi/*"',
      ]) {
        if (!rules.includes(rule)) throw new Error(`${rule} is not among the rules: ${rules}`)
      }
    },
  },
]
