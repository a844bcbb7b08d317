/**
 * Requests to admission webhooks: for which writes, with which objects, in which version.
 */
import assert from 'node:assert/strict'
import { defineCustom } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { about, patch, withWebhooks } from '../../hook/admission.ts'
import type { AskedHook } from '../../hook/admission.ts'
import { configMap, sample } from '../../samples.ts'
import { applyType } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const needs = ['callback'] as const
const both = { mutating: { a: { m: {} } }, validating: { a: { v: {} } } }

const brief = ({ hook, request: { operation, name, options, object, oldObject } }: AskedHook): unknown[] => [
  hook,
  operation,
  name,
  options?.['kind'],
  object?.['data'],
  oldObject?.['data'],
]

export const webhookRequestCases: readonly ServerCase[] = [
  {
    id: 'server/webhooks/create',
    rule: 'Mutating webhooks see a new object before it has a generated name or a uid; validating webhooks see the object to be stored.',
    needs,
    run: (place) =>
      withWebhooks(place, both, async (taken) => {
        const {
          metadata: { name, uid },
        } = ok(
          await place.post(
            'configmaps',
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'x-', uid: 'mine' }, data: { a: '1' } },
            { query: { fieldManager: 'me', fieldValidation: 'Strict' } },
          ),
          201,
        )
        const [mutating, validating, ...others] = taken()
        assert.deepEqual(others, [])
        const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
        const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
        assert.equal(mutating?.target, '/m?timeout=10s')
        expectMatch(mutating.review, {
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          request: {
            uid: /^[0-9a-f-]{36}$/,
            kind,
            resource: configMaps,
            subResource: undefined,
            requestKind: kind,
            requestResource: configMaps,
            requestSubResource: undefined,
            name: undefined,
            namespace: place.namespace,
            operation: 'CREATE',
            userInfo: { username: /./ },
            oldObject: null,
            dryRun: false,
            options: {
              apiVersion: 'meta.k8s.io/v1',
              kind: 'CreateOptions',
              fieldManager: 'me',
              fieldValidation: 'Strict',
              dryRun: undefined,
            },
            object: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: {
                name: undefined,
                uid: undefined,
                generateName: 'x-',
                namespace: place.namespace,
                managedFields: [{ manager: 'me' }],
              },
              data: { a: '1' },
            },
          },
        })
        expectMatch(validating?.request, { name, object: { metadata: { name, uid, creationTimestamp: /Z$/ } } })
      }),
  },
  {
    id: 'server/webhooks/update-and-delete',
    rule: 'A patch is an UPDATE for webhooks; they get the replaced or deleted object as oldObject.',
    needs,
    run: (place) =>
      withWebhooks(place, both, async (taken) => {
        ok(await place.post('configmaps', configMap('a')), 201)
        taken()
        ok(await place.put('configmaps', 'a', { body: configMap('a', { data: { n: '1' } }) }))
        ok(await place.patch('configmaps', 'a', { body: { data: { n: '2' } } }))
        ok(await place.delete('configmaps', 'a', { body: { propagationPolicy: 'Background' } }))
        const asked = taken()
        assert.deepEqual(
          asked.map(brief),
          ['m', 'v']
            .flatMap((hook) => [[hook, 'UPDATE', 'a', 'UpdateOptions', { n: '1' }, undefined]])
            .concat(
              ['m', 'v'].map((hook) => [hook, 'UPDATE', 'a', 'UpdateOptions', { n: '2' }, { n: '1' }]),
              ['m', 'v'].map((hook) => [hook, 'DELETE', 'a', 'DeleteOptions', undefined, { n: '2' }]),
            ),
        )
        expectMatch(asked.at(-1)?.request, { object: null, options: { propagationPolicy: 'Background' } })
      }),
  },
  {
    id: 'server/webhooks/delete-collection',
    rule: 'Deleting a collection calls webhooks for each object, without a name.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { validating: { a: { v: { rules: [{ ...about('configmaps'), operations: ['DELETE'] }] } } } },
        async (taken) => {
          for (const name of ['a', 'b']) ok(await place.post('configmaps', configMap(name)), 201)
          ok(
            await place.client.request('DELETE', place.path('configmaps'), {
              query: { fieldSelector: 'metadata.name!=kube-root-ca.crt' },
            }),
          )
          assert.deepEqual(
            taken()
              .map(({ request: { name, oldObject } }) => [name, oldObject?.['metadata']?.['name']])
              .sort(),
            [
              [undefined, 'a'],
              [undefined, 'b'],
            ],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/parts',
    rule: 'Webhooks match a subresource by name and get the object that is written there.',
    needs: ['callback', 'still'],
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: { rules: [{ ...about('*/*'), apiGroups: ['', 'apps'] }] } } },
          validating: { a: { v: { rules: [{ ...about('*/*'), apiGroups: ['', 'apps'] }] } } },
          answers: {
            m: ({ request: { subResource } }) =>
              (subResource as unknown) === 'scale' ? patch({ op: 'replace', path: '/spec/replicas', value: 7 }) : {},
          },
        },
        async (taken) => {
          ok(await place.post('deployments', sample('deployments', 'd')), 201)
          ok(await place.post('pods', sample('pods', 'p')), 201)
          ok(await place.post('serviceaccounts', sample('serviceaccounts', 's')), 201)
          taken()
          expectMatch(ok(await place.patch('deployments', 'd/scale', { body: { spec: { replicas: 3 } } })), {
            kind: 'Scale',
            spec: { replicas: 7 },
          })
          ok(
            await place.client.request('POST', place.path('pods', 'p/binding'), {
              body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
            }),
            201,
          )
          ok(await place.patch('pods', 'p/status', { body: { status: { phase: 'Running' } } }))
          ok(
            await place.client.request('POST', place.path('pods', 'p/eviction'), {
              body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } },
            }),
            201,
          )
          ok(
            await place.client.request('POST', place.path('serviceaccounts', 's/token'), {
              body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
            }),
            201,
          )
          const expected = [
            ['UPDATE', 'scale', 'Scale', 'Scale'],
            ['CREATE', 'binding', 'Binding', undefined],
            ['UPDATE', 'status', 'Pod', 'Pod'],
            ['CREATE', 'eviction', 'Eviction', undefined],
            ['CREATE', 'token', 'TokenRequest', undefined],
          ]
          assert.deepEqual(
            taken()
              .filter(({ request: { subResource } }) => (subResource as unknown) !== undefined)
              .map(({ hook, request: { operation, subResource, kind, object, oldObject } }) => [
                hook,
                operation,
                subResource,
                kind?.['kind'],
                object?.['kind'],
                oldObject?.['kind'],
              ]),
            expected.flatMap(([operation, part, kind, old]) =>
              ['m', 'v'].map((hook) => [hook, operation, part, kind, kind, old]),
            ),
          )
        },
      ),
  },
  {
    id: 'server/webhooks/create-by-put-and-apply',
    rule: 'A PUT or an apply of a missing object is a CREATE for webhooks.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { mutating: { a: { m: { rules: [{ ...about('leases'), apiGroups: ['coordination.k8s.io'] }] } } } },
        async (taken) => {
          ok(await place.put('leases', 'l', { body: sample('leases', 'l') }), 201)
          ok(
            await place.patch('leases', 'k', {
              body: sample('leases', 'k'),
              type: applyType,
              query: { fieldManager: 'x' },
            }),
            201,
          )
          assert.deepEqual(
            taken().map(({ request: { operation, options, oldObject } }) => [operation, options?.['kind'], oldObject]),
            [
              ['CREATE', 'CreateOptions', null],
              ['CREATE', 'CreateOptions', null],
            ],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/dry-run',
    rule: 'Webhooks without side effects are called for dry runs, with dryRun set.',
    needs,
    run: (place) =>
      withWebhooks(place, { mutating: { a: { m: { sideEffects: 'NoneOnDryRun' } } } }, async (taken) => {
        ok(await place.post('configmaps', configMap('a'), { query: { dryRun: 'All' } }), 201)
        expectMatch(
          taken().map(({ request }) => request),
          [{ dryRun: true, options: { dryRun: ['All'] } }],
        )
        expectStatus(await place.get('configmaps', 'a'), { code: 404 })
      }),
  },
  {
    id: 'server/webhooks/old-protocol',
    rule: 'The server uses the first listed review version that it knows; the older one checks less.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: { a: { m: { admissionReviewVersions: ['v1beta1', 'v1'] } } },
          answers: {
            m: () => ({
              ...patch({ op: 'add', path: '/data', value: { old: 'yes' } }),
              patchType: undefined,
              uid: 'other',
            }),
          },
        },
        async (taken) => {
          expectMatch(ok(await place.post('configmaps', configMap('a', { data: {} })), 201), { data: { old: 'yes' } })
          expectMatch(
            taken().map(({ review }) => review),
            [{ apiVersion: 'admission.k8s.io/v1beta1' }],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/object-selector',
    rule: 'A webhook with an object selector is called when the new or the old object matches.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        { validating: { a: { v: { objectSelector: { matchLabels: { guarded: 'yes' } } } } } },
        async (taken) => {
          ok(await place.post('configmaps', configMap('a', { metadata: { labels: { guarded: 'yes' } } })), 201)
          ok(await place.post('configmaps', configMap('b')), 201)
          ok(await place.patch('configmaps', 'a', { body: { metadata: { labels: null } } }))
          ok(await place.patch('configmaps', 'a', { body: { data: { x: 'y' } } }))
          assert.deepEqual(
            taken().map(({ request: { operation, name } }) => [operation, name]),
            [
              ['CREATE', 'a'],
              ['UPDATE', 'a'],
            ],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/namespaces',
    rule: 'A namespace is selected by its own labels, as if it were in itself.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              v: {
                rules: [{ ...about('namespaces'), scope: 'Cluster' }],
                namespaceSelector: { matchLabels: { case: place.namespace } },
              },
            },
          },
        },
        async (taken) => {
          const name = place.unique('n')
          ok(
            await place.post(
              'namespaces',
              sample('namespaces', name, { metadata: { labels: { case: place.namespace } } }),
            ),
            201,
          )
          ok(await place.patch('namespaces', name, { body: { metadata: { annotations: { a: 'b' } } } }))
          ok(await place.delete('namespaces', name))
          expectMatch(
            taken().map(({ request }) => request),
            ['CREATE', 'UPDATE', 'DELETE'].map((operation) => ({ operation, name, namespace: name })),
          )
        },
      ),
  },
  {
    id: 'server/webhooks/conditions',
    rule: 'A webhook is called when all its match conditions are true.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              v: {
                matchConditions: [
                  { name: 'a', expression: 'request.operation == "CREATE"' },
                  { name: 'b', expression: 'object.metadata.name.startsWith("x") && request.userInfo.username != ""' },
                ],
              },
            },
          },
        },
        async (taken) => {
          for (const name of ['x', 'y']) ok(await place.post('configmaps', configMap(name)), 201)
          ok(await place.delete('configmaps', 'x'))
          assert.deepEqual(
            taken().map(({ request: { name } }) => name),
            ['x'],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/condition-errors',
    rule: 'A match condition that fails to evaluate rejects the write, unless failures are ignored or another condition is false.',
    needs,
    async run(place) {
      const broken = { name: 'a', expression: 'object.nothing == 1' }
      await withWebhooks(
        place,
        {
          validating: {
            a: {
              ignored: { matchConditions: [broken], failurePolicy: 'Ignore' },
              settled: { matchConditions: [broken, { name: 'b', expression: 'false' }] },
            },
          },
        },
        async (taken) => {
          ok(await place.post('configmaps', configMap('a')), 201)
          assert.deepEqual(taken(), [])
        },
      )
      await withWebhooks(place, { validating: { a: { v: { matchConditions: [broken] } } } }, async (taken) => {
        expectStatus(await place.post('configmaps', configMap('b')), {
          code: 403,
          reason: 'Forbidden',
          message:
            'configmaps "b" is forbidden: expression \'object.nothing == 1\' resulted in error: no such key: nothing',
        })
        assert.deepEqual(taken(), [])
      })
    },
  },
  {
    id: 'server/webhooks/equivalent-versions',
    rule: 'A webhook registered for an equivalent version gets the object in that version, and its changes are converted back.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          mutating: {
            a: {
              m: { rules: [{ ...about('horizontalpodautoscalers'), apiGroups: ['autoscaling'] }] },
              b: {
                rules: [{ ...about('horizontalpodautoscalers'), apiGroups: ['autoscaling'] }],
                matchPolicy: 'Exact',
              },
            },
          },
          answers: { m: () => patch({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 33 }) },
        },
        async (taken) => {
          const metrics = [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ]
          expectMatch(
            ok(
              await place.post(
                'horizontalpodautoscalers',
                sample('horizontalpodautoscalers', 'h', { spec: { metrics } }),
              ),
              201,
            ),
            { apiVersion: 'autoscaling/v2', spec: { metrics: [{ resource: { target: { averageUtilization: 33 } } }] } },
          )
          expectMatch(
            taken().map(({ request }) => request),
            [
              {
                kind: { group: 'autoscaling', version: 'v1' },
                resource: { version: 'v1' },
                requestKind: { version: 'v2' },
                requestResource: { version: 'v2' },
                object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 50 } },
              },
            ],
          )
        },
      ),
  },
  {
    id: 'server/webhooks/equivalent-custom-versions',
    rule: 'Versions of a custom resource are equivalent too.',
    needs,
    async run(place) {
      const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1' }))
      const widgets = await defineCustom(place, { versions })
      await withWebhooks(
        place,
        {
          mutating: { a: { m: { rules: [{ ...about('widgets'), apiGroups: [widgets.group], apiVersions: ['v2'] }] } } },
          answers: { m: () => patch({ op: 'add', path: '/spec/seen', value: 'yes' }) },
        },
        async (taken) => {
          expectMatch(ok(await widgets.create('a', { spec: { x: 1 } }), 201), {
            apiVersion: `${widgets.group}/v1`,
            spec: { x: 1, seen: 'yes' },
          })
          expectMatch(
            taken().map(({ request }) => request),
            [
              {
                kind: { version: 'v2' },
                requestKind: { version: 'v1' },
                object: { apiVersion: `${widgets.group}/v2`, spec: { x: 1 } },
              },
            ],
          )
        },
      )
    },
  },
  {
    id: 'server/webhooks/own-configuration',
    rule: 'Webhooks are not called for webhook configurations and policies.',
    needs,
    run: (place) =>
      withWebhooks(
        place,
        {
          validating: {
            a: {
              v: {
                rules: [{ ...about('*/*'), apiGroups: ['admissionregistration.k8s.io'], apiVersions: ['*'] }],
                namespaceSelector: {},
                objectSelector: { matchLabels: { case: place.namespace } },
              },
            },
          },
          answers: { v: () => ({ allowed: false }) },
        },
        async (taken) => {
          const labels = { case: place.namespace }
          for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] as const) {
            ok(await place.post(kind, sample(kind, place.unique('own'), { metadata: { labels } })), 201)
            ok(await place.patch(kind, place.unique('own'), { body: { metadata: { annotations: { a: 'b' } } } }))
          }
          assert.deepEqual(taken(), [])
        },
      ),
  },
]
