import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { nextTurn, SystemClock } from '#base'
import { TestServer } from '../client.fixture.ts'
import {
  configuration,
  configurationsPath,
  label,
  patchOf,
  webhookFor,
  WebhookServer,
} from './webhook-server.fixture.ts'

const clock = new SystemClock()
const path = '/api/v1/namespaces/default/configmaps'
let hooks: WebhookServer
let tested: TestServer

beforeAll(async () => {
  hooks = await WebhookServer.start()
})
afterAll(() => hooks.stop())
beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
  hooks.reset()
})

async function configure(
  kind: 'Mutating' | 'Validating',
  name: string,
  webhooks: readonly JsonObject[],
): Promise<void> {
  const { status, text } = await tested.ask('POST', configurationsPath(kind), {
    body: configuration(kind, name, webhooks),
  })
  expect([status, status === 201 ? '' : text]).toEqual([201, ''])
}

const map = (name: string, rest: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...rest },
})
const create = (name: string, rest: object = {}, query = ''): ReturnType<TestServer['ask']> =>
  tested.ask('POST', path + query, { body: map(name, rest) })

describe('a webhook is told', () => {
  test('what is created, by whom, and how', async () => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v')])
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    expect(
      (
        await tested.ask('POST', `${path}?fieldManager=me&fieldValidation=Strict`, {
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { generateName: 'x-', uid: 'mine' },
            data: { a: '1' },
          },
        })
      ).status,
    ).toBe(201)
    const [mutating, validating] = hooks.asked
    expect(mutating?.target).toBe('/m?timeout=10s')
    expect(mutating?.review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' })
    const { uid, object, ...rest } = mutating?.request ?? {}
    expect(uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(rest).toEqual({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      namespace: 'default',
      operation: 'CREATE',
      userInfo: expect.objectContaining({ username: 'evenkeel-admin' }) as object,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', fieldValidation: 'Strict' },
    })
    expect(object).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'x-', namespace: 'default', managedFields: [{ manager: 'me' }] },
      data: { a: '1' },
    })
    expect(object?.['metadata']).not.toHaveProperty('uid')
    expect(object?.['metadata']).not.toHaveProperty('name')
    expect(validating?.request).toMatchObject({
      name: expect.stringMatching(/^x-/) as string,
      object: { metadata: { uid: expect.any(String) as string, name: expect.stringMatching(/^x-/) as string } },
    })
  })

  test.each([
    ['/doubled', '/doubled'],
    ['ended/', '/ended'],
    ['a//b', '/a/b'],
  ])('at /%s by the path that Go makes of it', async (written, called) => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v', { path: written })])
    await create('a')
    expect(hooks.asked.map(({ target }) => target)).toEqual([`${called}?timeout=10s`])
  })

  test('what takes the place of what, and what is deleted', async () => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v')])
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    await create('a')
    await tested.ask('PUT', `${path}/a`, { body: { ...map('a'), data: { n: '1' } } })
    await tested.ask('PATCH', `${path}/a?fieldManager=p`, {
      body: { data: { n: '2' } },
      type: 'application/merge-patch+json',
    })
    await tested.ask('DELETE', `${path}/a`, { body: { propagationPolicy: 'Background' } })
    expect(
      hooks.asked
        .slice(2)
        .map(({ path: at, request: { operation, name, options, object, oldObject } }) => [
          at,
          operation,
          name,
          options?.['kind'],
          object?.['data'],
          oldObject?.['data'],
        ]),
    ).toEqual([
      ['m', 'UPDATE', 'a', 'UpdateOptions', { n: '1' }, undefined],
      ['v', 'UPDATE', 'a', 'UpdateOptions', { n: '1' }, undefined],
      ['m', 'UPDATE', 'a', 'UpdateOptions', { n: '2' }, { n: '1' }],
      ['v', 'UPDATE', 'a', 'UpdateOptions', { n: '2' }, { n: '1' }],
      ['m', 'DELETE', 'a', 'DeleteOptions', undefined, { n: '2' }],
      ['v', 'DELETE', 'a', 'DeleteOptions', undefined, { n: '2' }],
    ])
    expect(hooks.asked.at(-1)?.request).toMatchObject({ object: null, options: { propagationPolicy: 'Background' } })
  })

  test('each object of a collection that is deleted', async () => {
    await configure('Validating', 'a', [
      webhookFor(hooks, 'v', {
        rules: [{ operations: ['DELETE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['configmaps'] }],
      }),
    ])
    for (const name of ['a', 'b', 'c']) await create(name)
    await tested.ask('DELETE', path)
    expect(
      hooks.asked.map(({ request: { name, oldObject } }) => [name, oldObject?.['metadata']?.['name']]).sort(),
    ).toEqual([
      [undefined, 'a'],
      [undefined, 'b'],
      [undefined, 'c'],
    ])
  })

  test('parts of objects by their own names: status, scale, eviction, binding', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]
    await tested.ask('POST', '/apis/apps/v1/namespaces/default/deployments', {
      body: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
    })
    await tested.ask('POST', '/api/v1/namespaces/default/pods', {
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    })
    await configure('Validating', 'a', [webhookFor(hooks, 'v', { rules })])
    await configure('Mutating', 'a', [webhookFor(hooks, 'm', { rules })])
    hooks.answers.set('m', ({ request }) =>
      (request['subResource'] as unknown) === 'scale'
        ? patchOf({ op: 'replace', path: '/spec/replicas', value: 7 })
        : {},
    )
    const scaled = await tested.ask('PATCH', '/apis/apps/v1/namespaces/default/deployments/d/scale', {
      body: { spec: { replicas: 3 } },
      type: 'application/merge-patch+json',
    })
    expect(scaled.json).toMatchObject({ kind: 'Scale', spec: { replicas: 7 } })
    await tested.ask('POST', '/api/v1/namespaces/default/pods/p/binding', {
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
    })
    await tested.ask('PATCH', '/api/v1/namespaces/default/pods/p/status', {
      body: { status: { phase: 'Running' } },
      type: 'application/merge-patch+json',
    })
    await tested.ask('POST', '/api/v1/namespaces/default/pods/p/eviction', {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } },
    })
    const seen = hooks.asked.map(({ path: at, request: { operation, subResource, kind, object, oldObject } }) => [
      at,
      operation,
      subResource,
      kind?.['kind'],
      object?.['kind'],
      oldObject?.['kind'],
    ])
    expect(seen).toEqual([
      ['m', 'UPDATE', 'scale', 'Scale', 'Scale', 'Scale'],
      ['v', 'UPDATE', 'scale', 'Scale', 'Scale', 'Scale'],
      ['m', 'CREATE', 'binding', 'Binding', 'Binding', undefined],
      ['v', 'CREATE', 'binding', 'Binding', 'Binding', undefined],
      ['m', 'UPDATE', 'status', 'Pod', 'Pod', 'Pod'],
      ['v', 'UPDATE', 'status', 'Pod', 'Pod', 'Pod'],
      ['m', 'CREATE', 'eviction', 'Eviction', 'Eviction', undefined],
      ['v', 'CREATE', 'eviction', 'Eviction', 'Eviction', undefined],
    ])
  })

  test('what PUT makes where nothing was: a creation', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l', namespace: 'default' },
      spec: {},
    }
    await configure('Mutating', 'a', [
      webhookFor(hooks, 'm', {
        rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['leases'] }],
      }),
    ])
    expect(
      (await tested.ask('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { body: lease })).status,
    ).toBe(201)
    expect(
      (
        await tested.ask('PATCH', '/apis/coordination.k8s.io/v1/namespaces/default/leases/k?fieldManager=x', {
          body: { ...lease, metadata: { name: 'k' } },
          type: 'application/apply-patch+yaml',
        })
      ).status,
    ).toBe(201)
    expect(
      hooks.asked.map(({ request: { operation, options, oldObject } }) => [operation, options?.['kind'], oldObject]),
    ).toEqual([
      ['CREATE', 'CreateOptions', null],
      ['CREATE', 'CreateOptions', null],
    ])
  })
})

describe('a mutating webhook', () => {
  test('changes what is stored, is defaulted and pruned after, and is seen by the next', async () => {
    await configure('Mutating', 'b', [webhookFor(hooks, 'second')])
    await configure('Mutating', 'a', [webhookFor(hooks, 'zero'), webhookFor(hooks, 'first')])
    hooks.answers.set('first', () =>
      patchOf({ op: 'add', path: '/data', value: { a: '1' } }, { op: 'add', path: '/unknown', value: { x: 1 } }),
    )
    const { status, json, headers } = await create('a')
    expect([status, json['data'], json['unknown'], headers['warning']]).toEqual([201, { a: '1' }, undefined, undefined])
    expect(hooks.asked.map(({ path: at, request }) => [at, request['object']?.['data']])).toEqual([
      ['zero', undefined],
      ['first', undefined],
      ['second', { a: '1' }],
    ])
    expect(hooks.asked[2]?.request['object']).not.toHaveProperty('unknown')
  })

  test('165: is asked exactly once more when a later one changed something, if it wants that', async () => {
    await configure('Mutating', 'a', [
      webhookFor(hooks, 'never'),
      webhookFor(hooks, 'again', { reinvocationPolicy: 'IfNeeded' }),
    ])
    await configure('Mutating', 'b', [webhookFor(hooks, 'last', { reinvocationPolicy: 'IfNeeded' })])
    let count = 0
    hooks.answers.set('last', () =>
      patchOf({ op: 'add', path: '/metadata/annotations', value: { last: String(++count) } }),
    )
    await create('a')
    expect(hooks.taken()).toEqual(['never', 'again', 'last', 'again'])
    // What is changed in the second round is seen by those after it, and that is the end of it.
    hooks.answers.set('again', () =>
      patchOf({ op: 'add', path: '/metadata/annotations', value: { again: String(++count) } }),
    )
    await create('b')
    expect(hooks.taken()).toEqual(['never', 'again', 'last', 'again', 'last'])
  })

  test('is not asked again when nothing changed after it', async () => {
    await configure('Mutating', 'a', [
      webhookFor(hooks, 'one', { reinvocationPolicy: 'IfNeeded' }),
      webhookFor(hooks, 'two', { reinvocationPolicy: 'IfNeeded' }),
    ])
    hooks.answers.set('one', () => label('x'))
    await create('a')
    expect(hooks.taken()).toEqual(['one', 'two'])
  })

  test('cannot spoil who manages what', async () => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    hooks.answers.set('m', () =>
      patchOf({ op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'evil', operation: 'Nonsense' }] }),
    )
    const { json, headers } = await create('a', { labels: { a: 'b' } }, '?fieldManager=me')
    expect(json['metadata']?.['managedFields']).toMatchObject([{ manager: 'me' }])
    expect(headers['warning']).toContain('.metadata.managedFields was in an invalid state after admission')
  })

  test('may not change what is deleted', async () => {
    await create('a')
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    hooks.answers.set('m', () => label('x'))
    expect((await tested.ask('DELETE', `${path}/a`)).json).toMatchObject({
      code: 500,
      message: expect.stringContaining(
        'admission webhook "m.test.example.com" attempted to modify the object, which is not supported for this operation',
      ) as string,
    })
  })

  test.each([
    [
      { patch: Buffer.from('[]').toString('base64') },
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      { patchType: 'JSONPatch' },
      'received invalid webhook response: webhook returned response.patchType but not response.patch',
    ],
    [
      { patchType: 'Merge', patch: Buffer.from('[{"op":"remove","path":"/data"}]').toString('base64') },
      'unsupported patch type "Merge"',
    ],
    [
      { patchType: 'JSONPatch', patch: Buffer.from('{"a":1}').toString('base64') },
      'received undecodable patch in webhook response',
    ],
    [{ patchType: 'JSONPatch', patch: '%%%' }, 'received undecodable patch in webhook response'],
    [{ uid: 'other' }, /received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"/],
  ])('166: that answers %j has failed', async (answer, message) => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    hooks.answers.set('m', () => answer)
    const { status, json } = await create('a')
    expect([status, json['reason']]).toEqual([500, 'InternalError'])
    expect(json['message']).toMatch(
      typeof message === 'string'
        ? `Internal error occurred: failed calling webhook "m.test.example.com": ${message}`
        : message,
    )
  })

  test('whose patch does not fit refuses the write, whatever its failure policy', async () => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm', { failurePolicy: 'Ignore' })])
    hooks.answers.set('m', () => patchOf({ op: 'remove', path: '/spec/nothing' }))
    expect((await create('a')).status).toBe(500)
    hooks.answers.set('m', () => patchOf({ op: 'replace', path: '/data', value: 'text' }))
    expect((await create('a')).status).toBe(500)
  })

  test('speaks the older protocol, which is checked less', async () => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm', { admissionReviewVersions: ['v1beta1', 'v1'] })])
    hooks.answers.set('m', () => ({
      uid: 'other',
      patch: Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { old: 'yes' } }])).toString('base64'),
    }))
    expect((await create('a')).json['data']).toEqual({ old: 'yes' })
    expect(hooks.asked[0]?.review['apiVersion']).toBe('admission.k8s.io/v1beta1')
  })
})

describe('a webhook that says no', () => {
  test.each([
    [
      {},
      { code: 400, reason: undefined },
      'admission webhook "v.test.example.com" denied the request without explanation',
    ],
    [
      { status: { message: 'too small' } },
      { code: 400, reason: undefined },
      'admission webhook "v.test.example.com" denied the request: too small',
    ],
    [
      { status: { code: 200, reason: 'Silly', status: 'Success' } },
      { code: 400, reason: 'Silly' },
      'admission webhook "v.test.example.com" denied the request: Silly',
    ],
    [
      { status: { code: 403, reason: 'Forbidden', message: 'no' } },
      { code: 403, reason: 'Forbidden' },
      'admission webhook "v.test.example.com" denied the request: no',
    ],
    [
      {
        status: {
          code: 422,
          reason: 'Invalid',
          message: 'bad',
          details: { causes: [{ field: 'data', message: 'm' }] },
        },
      },
      { code: 422, reason: 'Invalid' },
      'admission webhook "v.test.example.com" denied the request: bad',
    ],
  ])('162: %j', async (answer, { code, reason }, message) => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v', { failurePolicy: 'Ignore' })])
    hooks.answers.set('v', () => ({ allowed: false, ...answer }))
    const { status, json } = await create('a')
    expect([status, json['reason'], json['message'], json['code'], json['status']]).toEqual([
      code,
      reason,
      message,
      code,
      'Failure',
    ])
  })

  test('says it before anything is stored, and with warnings', async () => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    hooks.answers.set('m', () => ({ allowed: false, warnings: ['mind the gap'], status: { message: 'no' } }))
    expect((await create('a')).headers['warning']).toBe('299 - "mind the gap"')
    expect((await tested.ask('GET', `${path}/a`)).status).toBe(404)
  })

  test('167: a validating webhook that wants to change something has failed', async () => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v')])
    hooks.answers.set('v', () => label('x'))
    expect((await create('a')).json['message']).toBe(
      'Internal error occurred: failed calling webhook "v.test.example.com": received invalid webhook response: validating webhook may not return response.patch',
    )
  })

  test('all validating webhooks are asked at once, and the first refusal is told', async () => {
    await tested.server.stop()
    const asked: string[] = []
    const answer = async (target: string, body: Uint8Array): Promise<JsonObject> => {
      const name = target.slice(1).split('?')[0] ?? ''
      asked.push(name)
      if (name === 'slow') await nextTurn(clock)
      const {
        request: { uid },
      } = JSON.parse(Buffer.from(body).toString()) as { request: { uid: string } }
      return {
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { uid, allowed: name === 'fine', status: { message: name } },
      }
    }
    tested = await TestServer.start({
      webhooks: {
        connect: () => ({
          close: () => undefined,
          transport: async ({ target, body }) => ({
            status: 200,
            headers: {},
            body: Buffer.from(JSON.stringify(await answer(target, body as Uint8Array))),
          }),
        }),
      },
    })
    await configure('Validating', 'a', [
      webhookFor(hooks, 'slow'),
      webhookFor(hooks, 'quick'),
      webhookFor(hooks, 'fine'),
    ])
    expect((await create('a')).json['message']).toContain('denied the request: quick')
    expect(asked).toEqual(['slow', 'quick', 'fine'])
  })
})

describe('which writes a webhook hears of', () => {
  test('164: none that is not meant, when it has side effects', async () => {
    await configure('Validating', 'a', [webhookFor(hooks, 'v', { sideEffects: 'NoneOnDryRun' })])
    expect((await create('a', {}, '?dryRun=All')).status).toBe(201)
    expect(hooks.asked[0]?.request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } })
    expect((await tested.ask('GET', `${path}/a`)).status).toBe(404)
  })

  test('169: selectors look at the object as it was, too, and at its namespace', async () => {
    await configure('Validating', 'a', [
      webhookFor(hooks, 'v', { objectSelector: { matchLabels: { guarded: 'yes' } } }),
    ])
    await create('a', { labels: { guarded: 'yes' } })
    await create('b')
    await tested.ask('PATCH', `${path}/a`, {
      body: { metadata: { labels: null } },
      type: 'application/merge-patch+json',
    })
    await tested.ask('PATCH', `${path}/a`, { body: { data: { x: 'y' } }, type: 'application/merge-patch+json' })
    expect(hooks.asked.map(({ request: { operation, name } }) => [operation, name])).toEqual([
      ['CREATE', 'a'],
      ['UPDATE', 'a'],
    ])
    hooks.reset()
    await configure('Validating', 'b', [
      webhookFor(hooks, 'n', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }),
    ])
    await tested.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    await create('c')
    await tested.ask('POST', '/api/v1/namespaces/other/configmaps', { body: map('d') })
    expect(hooks.taken()).toEqual(['n'])
  })

  test('170: conditions decide, and one that cannot be evaluated refuses unless failures are ignored', async () => {
    const conditions = (...expressions: string[]): { matchConditions: object[] } => ({
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    })
    await configure('Validating', 'a', [
      webhookFor(hooks, 'v', conditions('request.operation == "CREATE"', 'object.metadata.name.startsWith("x")')),
    ])
    for (const name of ['x1', 'y1']) await create(name)
    await tested.ask('DELETE', `${path}/x1`)
    expect(hooks.taken()).toEqual(['v'])
    await configure('Validating', 'b', [
      webhookFor(hooks, 'false-wins', conditions('object.nothing == 1', 'false')),
      webhookFor(hooks, 'ignored', { ...conditions('object.nothing == 1'), failurePolicy: 'Ignore' }),
    ])
    expect((await create('y2')).status).toBe(201)
    await configure('Validating', 'c', [webhookFor(hooks, 'fails', conditions('object.nothing == 1'))])
    const { status, json } = await create('y3')
    expect([status, json['message']]).toEqual([
      403,
      'configmaps "y3" is forbidden: expression \'object.nothing == 1\' resulted in error: no such key: nothing',
    ])
    expect(hooks.taken()).toEqual([])
  })

  test('173: none about the configuration of admission', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]
    await configure('Validating', 'a', [webhookFor(hooks, 'v', { rules })])
    await configure('Mutating', 'a', [webhookFor(hooks, 'm', { rules })])
    hooks.answers.set('v', () => ({ allowed: false }))
    expect((await create('x')).status).toBe(400)
    for (const kind of ['Validating', 'Mutating'] as const)
      expect((await tested.ask('DELETE', `${configurationsPath(kind)}/a`)).status).toBe(200)
    expect((await create('x')).status).toBe(201)
  })

  test('nothing that has no place to be', async () => {
    await configure('Mutating', 'a', [webhookFor(hooks, 'm')])
    expect((await tested.ask('POST', '/api/v1/namespaces/nowhere/configmaps', { body: map('a') })).status).toBe(404)
    expect(hooks.taken()).toEqual([])
  })

  test('168: one about another version is shown that version, and its changes come back', async () => {
    const rules = [
      { operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] },
    ]
    await configure('Mutating', 'a', [
      webhookFor(hooks, 'm', { rules }),
      webhookFor(hooks, 'exact', { rules, matchPolicy: 'Exact' }),
    ])
    hooks.answers.set('m', () => patchOf({ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 33 }))
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    }
    const { json } = await tested.ask('POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      body: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec },
    })
    expect(
      hooks.asked.map(({ request: { kind, resource, requestKind, requestResource, object } }) => [
        kind?.['version'],
        resource?.['version'],
        requestKind?.['version'],
        requestResource?.['version'],
        object?.['apiVersion'],
        object?.['spec']?.['targetCPUUtilizationPercentage'],
      ]),
    ).toEqual([['v1', 'v1', 'v2', 'v2', 'autoscaling/v1', 50]])
    expect(json).toMatchObject({
      apiVersion: 'autoscaling/v2',
      spec: { metrics: [{ resource: { target: { averageUtilization: 33 } } }] },
    })
  })
})
