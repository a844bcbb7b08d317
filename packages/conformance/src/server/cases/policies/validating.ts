/**
 * ValidatingAdmissionPolicy: the variables of expressions, rejections, and their messages.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { validating } from './bound.ts'

/** The message of a rejection, by the suffix of the policy. */
function denied(place: Place, suffix: string, message: string): string {
  return `ValidatingAdmissionPolicy '${place.unique(suffix)}' with binding '${place.unique(`${suffix}-b`)}' denied request: ${message}`
}

const refusing: readonly ServerCase[] = [
  {
    id: 'server/policies/reserved-name',
    rule: 'A name that is reserved for configuration in files is accepted with a warning.',
    async run(place) {
      const name = `${place.unique('reserved')}.static.k8s.io`
      const body = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
      const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
      const answer = await place.client.request('POST', path, {
        body: { ...body, metadata: { name } },
        query: { dryRun: 'All' },
      })
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer), [
        'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
      ])
    },
  },
  {
    id: 'server/policies/denied',
    rule: 'An object for which an expression is false is rejected with 422 Invalid; the expression is the message.',
    async run(place) {
      await validating(place, { a: { spec: { validations: [{ expression: ' size(object.data) < 2 ' }] } } })
      ok(await place.post('configmaps', configMap('one', { data: { a: '1' } })), 201)
      const message = denied(place, 'a', 'failed expression: size(object.data) < 2')
      expectStatus(await place.post('configmaps', configMap('two', { data: { a: '1', b: '2' } })), {
        code: 422,
        reason: 'Invalid',
        message: `configmaps "two" is forbidden: ${message}`,
        details: { name: 'two', kind: 'configmaps', causes: [{ message }] },
      })
    },
  },
  {
    id: 'server/policies/messages',
    rule: 'A message replaces the expression, and a computed message replaces both, unless it is empty, too long, has several lines or fails to evaluate.',
    async run(place) {
      const validations = [
        { expression: 'object.metadata.name != "plain"', message: ' keep out ' },
        {
          expression: 'object.metadata.name != "made"',
          message: 'keep out',
          messageExpression: '"not " + object.metadata.name',
        },
        { expression: 'object.metadata.name != "lines"', message: 'keep out', messageExpression: '"a\\nb"' },
        { expression: 'object.metadata.name != "empty"', messageExpression: '" "' },
        {
          expression: 'object.metadata.name != "error"',
          message: 'keep out',
          messageExpression: 'object.nothing.here',
        },
      ]
      await validating(place, {
        a: {
          spec: {
            validations: validations.map((one) => ({
              ...one,
              ...(one.messageExpression !== undefined && { messageExpression: `string(${one.messageExpression})` }),
            })),
          },
        },
      })
      const texts = {
        plain: 'keep out',
        made: 'not made',
        lines: 'keep out',
        empty: 'failed expression: object.metadata.name != "empty"',
        error: 'keep out',
      }
      for (const [name, text] of Object.entries(texts)) {
        expectStatus(await place.post('configmaps', configMap(name)), {
          code: 422,
          message: `configmaps "${name}" is forbidden: ${denied(place, 'a', text)}`,
        })
      }
    },
  },
  {
    id: 'server/policies/reasons',
    rule: 'A validation can set a reason: Forbidden is 403, RequestEntityTooLarge is 413.',
    async run(place) {
      await validating(place, {
        a: {
          spec: {
            validations: [
              { expression: 'object.metadata.name != "f"', reason: 'Forbidden' },
              { expression: 'object.metadata.name != "t"', reason: 'RequestEntityTooLarge' },
            ],
          },
        },
      })
      expectStatus(await place.post('configmaps', configMap('f')), { code: 403, reason: 'Forbidden' })
      expectStatus(await place.post('configmaps', configMap('t')), { code: 413, reason: 'RequestEntityTooLarge' })
    },
  },
  {
    id: 'server/policies/errors',
    rule: 'An expression that fails to evaluate rejects the object, with the expression and the error.',
    async run(place) {
      await validating(place, { a: { spec: { validations: [{ expression: 'object.data.missing == "x"' }] } } })
      const message = denied(
        place,
        'a',
        'expression \'object.data.missing == "x"\' resulted in error: no such key: missing',
      )
      expectStatus(await place.post('configmaps', configMap('a', { data: { a: '1' } })), {
        code: 422,
        reason: 'Invalid',
        message: `configmaps "a" is forbidden: ${message}`,
      })
    },
  },
  {
    id: 'server/policies/errors-ignored',
    rule: 'With the failure policy Ignore, an expression that fails to evaluate admits the object; a false one does not.',
    async run(place) {
      await validating(place, {
        a: {
          spec: {
            failurePolicy: 'Ignore',
            validations: [{ expression: 'object.data.missing == "x"' }, { expression: 'object.metadata.name != "b"' }],
          },
        },
      })
      ok(await place.post('configmaps', configMap('a', { data: { a: '1' } })), 201)
      expectStatus(await place.post('configmaps', configMap('b', { data: { a: '1' } })), {
        code: 422,
        message: /failed expression: object.metadata.name != "b"$/,
      })
    },
  },
  {
    id: 'server/policies/budget',
    rule: 'Expressions that exceed the cost budget reject the object.',
    async run(place) {
      const costly =
        '[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f >= 0))))))'
      await validating(place, {
        a: { spec: { validations: [{ expression: `object.metadata.name != "dear" || ${costly}` }] } },
      })
      ok(await place.post('configmaps', configMap('cheap')), 201)
      expectStatus(await place.post('configmaps', configMap('dear')), {
        code: 422,
        message: /resulted in error: operation cancelled: actual cost limit exceeded$/,
      })
    },
  },
  {
    id: 'server/policies/generated-name',
    rule: 'The rejection of an object with a generated name contains the generated name.',
    async run(place) {
      await validating(place, {
        a: { spec: { validations: [{ expression: 'object.metadata.generateName != "web-"' }] } },
      })
      expectStatus(await place.post('configmaps', { metadata: { generateName: 'web-' } }), {
        code: 422,
        message: /^configmaps "web-[a-z0-9]{5}" is forbidden/,
      })
    },
  },
]

const acting: readonly ServerCase[] = [
  {
    id: 'server/policies/warn',
    rule: 'A binding with the action Warn admits the object with a warning.',
    async run(place) {
      await validating(place, {
        a: {
          spec: { validations: [{ expression: 'false', message: 'hm' }] },
          bindings: { b: { validationActions: ['Warn', 'Audit'] } },
        },
      })
      const answer = await place.post('configmaps', configMap('a'))
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer), [
        `Validation failed for ValidatingAdmissionPolicy '${place.unique('a')}' with binding '${place.unique('a-b')}': hm`,
      ])
    },
  },
  {
    id: 'server/policies/audit',
    rule: 'A binding with only the action Audit admits the object without a warning.',
    async run(place) {
      await validating(place, {
        a: {
          spec: { validations: [{ expression: 'false' }], auditAnnotations: [{ key: 'k', valueExpression: '"v"' }] },
          bindings: { b: { validationActions: ['Audit'] } },
        },
      })
      const answer = await place.post('configmaps', configMap('a'))
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer), [])
    },
  },
  {
    id: 'server/policies/warn-and-deny',
    rule: 'One binding can warn where another binding of the same policy denies.',
    async run(place) {
      await validating(place, {
        a: {
          spec: { validations: [{ expression: 'false' }] },
          bindings: { b: {}, c: { validationActions: ['Warn'] } },
        },
      })
      const answer = await place.post('configmaps', configMap('a'))
      expectStatus(answer, { code: 422, message: new RegExp(`with binding '${place.unique('a-b')}'`) })
      assert.equal(warningsOf(answer).length, 1)
    },
  },
  {
    id: 'server/policies/annotation-error',
    rule: 'An audit annotation that fails to evaluate rejects the object even if the binding only warns.',
    async run(place) {
      await validating(place, {
        a: {
          spec: { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.nothing)' }] },
          bindings: { b: { validationActions: ['Warn'] } },
        },
      })
      expectStatus(await place.post('configmaps', configMap('a')), {
        code: 422,
        message: `configmaps "a" is forbidden: ${denied(place, 'a', "expression 'string(object.nothing)' resulted in error: no such key: nothing")}`,
      })
    },
  },
  {
    id: 'server/policies/dry-run',
    rule: 'Policies apply to dry runs, and the request says that it is one.',
    async run(place) {
      await validating(place, { a: { spec: { validations: [{ expression: 'request.dryRun' }] } } })
      ok(await place.post('configmaps', configMap('a'), { query: { dryRun: 'All' } }), 201)
      expectStatus(await place.post('configmaps', configMap('a')), { code: 422 })
    },
  },
]

const seeing: readonly ServerCase[] = [
  {
    id: 'server/policies/update',
    rule: 'On update, oldObject is the old object; on create it is null.',
    async run(place) {
      await validating(place, {
        a: {
          spec: {
            validations: [
              { expression: 'oldObject == null || object.data.n >= oldObject.data.n', message: 'no way back' },
            ],
          },
        },
      })
      ok(await place.post('configmaps', configMap('a', { data: { n: '5' } })), 201)
      ok(await place.patch('configmaps', 'a', { body: { data: { n: '6' } } }), 200)
      expectStatus(await place.patch('configmaps', 'a', { body: { data: { n: '4' } } }), {
        code: 422,
        message: /no way back$/,
      })
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a', { data: { n: '4' } }) }), { code: 422 })
      expectMatch(ok(await place.get('configmaps', 'a')), { data: { n: '6' } })
    },
  },
  {
    id: 'server/policies/delete',
    rule: 'On delete, oldObject is the deleted object and object is null; a collection is evaluated object by object.',
    async run(place) {
      const matchConstraints = {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
      }
      await validating(place, {
        a: {
          spec: {
            matchConstraints,
            validations: [
              { expression: 'request.operation != "DELETE" || (object == null && oldObject.metadata.name != "kept")' },
            ],
          },
        },
      })
      for (const name of ['gone', 'kept'])
        ok(await place.post('configmaps', configMap(name, { metadata: { labels: { app: name } } })), 201)
      ok(await place.delete('configmaps', 'gone'), 200)
      expectStatus(await place.delete('configmaps', 'kept'), { code: 422, message: /^configmaps "kept" is forbidden/ })
      expectStatus(await place.delete('configmaps', undefined, { query: { labelSelector: 'app=kept' } }), { code: 422 })
      ok(await place.get('configmaps', 'kept'), 200)
    },
  },
  {
    id: 'server/policies/request',
    rule: 'The request contains the operation, the resource and the user; namespaceObject has the labels of the namespace.',
    async run(place) {
      const validations = [
        'request.operation == "CREATE" && request.kind.kind == "ConfigMap" && request.kind.group == "" && request.resource.resource == "configmaps" && request.resource.version == "v1"',
        `request.namespace == "${place.namespace}" && request.name == object.metadata.name`,
        'request.requestKind == request.kind && request.requestResource == request.resource',
        'request.userInfo.username != "" && size(request.userInfo.groups) > 0',
        'request.options.kind == "CreateOptions" && !has(request.options.fieldManager)',
        `namespaceObject.metadata.name == "${place.namespace}" && namespaceObject.metadata.labels["kubernetes.io/metadata.name"] == "${place.namespace}"`,
        'has(object.metadata.uid) && object.metadata.creationTimestamp != "" && object.kind == "ConfigMap" && object.apiVersion == "v1"',
        '!has(request.subResource) || request.subResource == ""',
      ]
      await validating(place, { a: { spec: { validations: validations.map((expression) => ({ expression })) } } })
      ok(await place.post('configmaps', configMap('a')), 201)
    },
  },
  {
    id: 'server/policies/variables',
    rule: 'Variables are evaluated on use and can use earlier ones; a failing variable is an error only where it is used.',
    async run(place) {
      const variables = [
        { name: 'keys', expression: 'object.data.map(k, k)' },
        { name: 'count', expression: 'size(variables.keys)' },
        { name: 'broken', expression: 'object.nothing.here' },
      ]
      await validating(place, {
        a: {
          spec: {
            variables,
            validations: [
              { expression: 'variables.count < 3', messageExpression: '"too many: " + string(variables.count)' },
              { expression: 'object.metadata.name != "b" || variables.broken == 1' },
            ],
          },
        },
      })
      ok(await place.post('configmaps', configMap('a', { data: { a: '1', b: '2' } })), 201)
      expectStatus(await place.post('configmaps', configMap('a3', { data: { a: '1', b: '2', c: '3' } })), {
        code: 422,
        message: /denied request: too many: 3$/,
      })
      expectStatus(await place.post('configmaps', configMap('b', { data: { a: '1' } })), {
        code: 422,
        message: /resulted in error: composited variable "broken" fails to evaluate: no such key: nothing$/,
      })
    },
  },
  {
    id: 'server/policies/authorizer',
    rule: 'Expressions can check the rights of the caller or of a service account.',
    async run(place) {
      const validations = [
        {
          expression:
            'authorizer.group("").resource("configmaps").namespace(object.metadata.namespace).check("create").allowed()',
        },
        { expression: 'authorizer.requestResource.check("create").allowed()' },
        {
          expression:
            'object.metadata.name != "b" || authorizer.serviceAccount("default", "nobody").group("apps").resource("deployments").check("delete").allowed()',
          message: 'nobody may not',
        },
        { expression: '!authorizer.path("/healthz").check("get").errored()' },
      ]
      await validating(place, { a: { spec: { validations } } })
      ok(await place.post('configmaps', configMap('a')), 201)
      expectStatus(await place.post('configmaps', configMap('b')), { code: 422, message: /nobody may not$/ })
    },
  },
  {
    id: 'server/policies/status',
    rule: 'A subresource is matched only by rules that name it.',
    async run(place) {
      const rule = {
        apiGroups: ['apps'],
        apiVersions: ['v1'],
        operations: ['UPDATE'],
        resources: ['deployments/status'],
      }
      await validating(place, {
        a: {
          spec: {
            matchConstraints: { resourceRules: [rule] },
            validations: [{ expression: 'request.subResource != "status"' }],
          },
        },
      })
      ok(await place.post('deployments', sample('deployments', 'a')), 201)
      ok(await place.patch('deployments', 'a', { body: { spec: { replicas: 2 } } }), 200)
      expectStatus(await place.patch('deployments', 'a/status', { body: { status: { replicas: 1 } } }), {
        code: 422,
        message: /^deployments.apps "a" is forbidden/,
      })
    },
  },
  {
    id: 'server/policies/scale',
    rule: 'A policy on the scale of an object gets a Scale.',
    async run(place) {
      const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['*/scale'] }
      await validating(place, {
        a: {
          spec: {
            matchConstraints: { resourceRules: [rule] },
            validations: [
              {
                expression:
                  'object.kind == "Scale" && object.spec.replicas <= 5 && oldObject.kind == "Scale" && request.kind.kind == "Scale"',
              },
            ],
          },
        },
      })
      ok(await place.post('deployments', sample('deployments', 'a')), 201)
      ok(await place.patch('deployments', 'a/scale', { body: { spec: { replicas: 5 } } }), 200)
      expectStatus(await place.patch('deployments', 'a/scale', { body: { spec: { replicas: 6 } } }), { code: 422 })
    },
  },
]

export const validatingPolicyCases: readonly ServerCase[] = [...refusing, ...acting, ...seeing]
