/** Policies through the whole server, and what only whoever keeps the audit log can see. Most of what they do is judged in the conformance suite. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '#api'
import { TestServer } from '../client.fixture.ts'
import { AuditAnnotations } from './validating-policies.ts'

const root = '/apis/admissionregistration.k8s.io/v1'
const maps = '/api/v1/namespaces/default/configmaps'
const matchConstraints = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
}

let tested: TestServer
beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(() => tested.server.stop())

type Answer = Awaited<ReturnType<TestServer['ask']>>
const post = (path: string, body: JsonObject): Promise<Answer> => tested.ask('POST', path, { body })
const map = (name: string, data: JsonObject = {}): JsonObject => ({ metadata: { name }, data })

async function bind(
  kind: 'Validating' | 'Mutating',
  name: string,
  { binding = {}, ...spec }: JsonObject & { readonly binding?: JsonObject },
): Promise<void> {
  const [policies, bindings] = [
    `${root}/${kind.toLowerCase()}admissionpolicies`,
    `${root}/${kind.toLowerCase()}admissionpolicybindings`,
  ]
  const made = await post(policies, {
    metadata: { name },
    spec: { matchConstraints, ...(kind === 'Mutating' && { reinvocationPolicy: 'Never' }), ...spec },
  })
  expect(made.text).toContain(`"name":"${name}"`)
  expect(
    (
      await post(bindings, {
        metadata: { name },
        spec: { policyName: name, ...(kind === 'Validating' && { validationActions: ['Deny'] }), ...binding },
      })
    ).status,
  ).toBe(201)
}

describe('policies in force', () => {
  test('are so with the next request, and no longer once they or their bindings are gone', async () => {
    expect((await post(maps, map('a'))).status).toBe(201)
    await bind('Validating', 'p', { validations: [{ expression: 'false' }] })
    expect(await post(maps, map('b'))).toMatchObject({
      status: 422,
      json: {
        message:
          "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression: false",
      },
    })
    await tested.ask('DELETE', `${root}/validatingadmissionpolicybindings/p`)
    expect((await post(maps, map('b'))).status).toBe(201)
  })

  test('change with their objects', async () => {
    await bind('Validating', 'p', { validations: [{ expression: 'false' }] })
    await tested.ask('PATCH', `${root}/validatingadmissionpolicies/p`, {
      type: 'application/merge-patch+json',
      body: { spec: { validations: [{ expression: 'object.metadata.name == "a"' }] } },
    })
    expect((await post(maps, map('a'))).status).toBe(201)
    expect((await post(maps, map('b'))).status).toBe(422)
  })

  test('tell of the first refusal in the order of names, and warn all the same', async () => {
    await bind('Validating', 'b', { validations: [{ expression: 'false', message: 'second' }] })
    await bind('Validating', 'a', { validations: [{ expression: 'false', message: 'first' }] })
    await bind('Validating', 'c', {
      validations: [{ expression: 'false', message: 'careful' }],
      binding: { validationActions: ['Warn'] },
    })
    const { json, headers } = await post(maps, map('x'))
    expect(json).toMatchObject({ message: expect.stringMatching(/first$/) as string, reason: 'Invalid', code: 422 })
    expect(String(headers['warning'])).toContain('careful')
  })

  test('are told what cannot be computed, and stop at what costs too much', async () => {
    await bind('Validating', 'p', { validations: [{ expression: 'object.data.n < 5' }] })
    expect((await post(maps, map('a', { n: 'x' }))).json).toMatchObject({
      message: expect.stringContaining('no such overload') as string,
    })
  })

  test.each([
    ['Fail', 422, /: failed messageExpression: validation failed due to running out of cost budget/],
    ['Ignore', 201, /"kind":"ConfigMap"/],
  ])('whose messages cost too much: %s', async (failurePolicy, status, text) => {
    const validation = { expression: 'false', messageExpression: 'string(object.data.a.contains(object.data.b))' }
    await bind('Validating', 'p', { failurePolicy, validations: Array<typeof validation>(11).fill(validation) })
    const answer = await post(maps, map('x', { a: 'a'.repeat(10_000), b: 'b'.repeat(9_900) }))
    expect(answer).toMatchObject({ status, text: expect.stringMatching(text) as string })
  })

  test('are not asked about what the server writes itself', async () => {
    const everything = {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
    }
    await bind('Validating', 'p', {
      matchConstraints: everything,
      validations: [{ expression: 'request.name == "widgets.example.com"' }],
    })
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    expect((await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).status).toBe(201)
    expect((await tested.ask('GET', '/apis/example.com/v1/namespaces/default/widgets')).status).toBe(200)
  })

  test('change webhook configurations, but no policies and bindings', async () => {
    const expression = 'Object{metadata: Object.metadata{labels: {"team": "blue"}}}'
    await bind('Mutating', 'm', {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    })
    expect((await post(maps, map('a'))).json['metadata']?.['labels']).toEqual({ team: 'blue' })
    const webhook = await post(`${root}/mutatingwebhookconfigurations`, { metadata: { name: 'w' } })
    expect(webhook.json['metadata']?.['labels']).toEqual({ team: 'blue' })
    const binding = await post(`${root}/mutatingadmissionpolicybindings`, {
      metadata: { name: 'other' },
      spec: { policyName: 'other' },
    })
    expect({ status: binding.status, labels: binding.json['metadata']?.['labels'] }).toEqual({ status: 201 })
  })

  test('have conditions that wait for an authorizer that decides later', async () => {
    await tested.server.stop()
    tested = await TestServer.start({
      authorization: ({ user }) => Promise.resolve({ allowed: user.name.endsWith(':yes'), reason: '' }),
    })
    for (const name of ['yes', 'no']) {
      const check = `authorizer.serviceAccount('default', '${name}').group('').resource('configmaps').check('create')`
      await bind('Validating', name, {
        matchConditions: [{ name: 'may', expression: `${check}.allowed()` }],
        validations: [{ expression: `object.metadata.name != '${name}'` }],
      })
    }
    expect((await post(maps, map('yes'))).status).toBe(422)
    expect((await post(maps, map('no'))).status).toBe(201)
  })

  test('keep keys that objects have by nature', async () => {
    await bind('Mutating', 'm', {
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"constructor": "1"}}' } },
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/data/toString", value: "2"}]' },
        },
      ],
    })
    const { text } = await post(maps, map('a'))
    expect(JSON.parse(text)).toMatchObject({ data: { constructor: '1', toString: '2' } })
  })

  test('change objects before others judge them, and whoever wrote them manages what they changed', async () => {
    await bind('Mutating', 'm', {
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"team": "blue"}}}' },
        },
      ],
    })
    await bind('Validating', 'v', { validations: [{ expression: 'object.metadata.labels.team == "blue"' }] })
    const { status, json } = await tested.ask('PATCH', `${maps}/a?fieldManager=me`, {
      type: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    })
    expect({ status, labels: json['metadata']?.['labels'] }).toEqual({ status: 201, labels: { team: 'blue' } })
  })
})

test('AuditNotes joins what several bindings note, drops what is said twice and cuts what is long', () => {
  const notes = new AuditAnnotations()
  const published: Record<string, string> = {}
  notes.add('p/a', 'x')
  notes.add('p/a', 'x')
  notes.add('p/a', 'y')
  notes.add('p/long', 'z'.repeat(20_000))
  notes.publish({
    annotate: (key, value) => {
      published[key] = value
    },
  })
  expect(published['p/a']).toBe('x, y')
  expect(published['p/long']).toHaveLength(10_240)
})
