/** Field management as clients see it, through every endpoint. All of it was seen on kube-apiserver 1.36, but for what becomes of emptied containers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, ManagedFieldsEntry } from '#api'
import { TestServer } from '../client.fixture.ts'

const applyType = 'application/apply-patch+yaml'
const mergeType = 'application/merge-patch+json'
const maps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

let tested: TestServer
beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(() => tested.server.stop())

type Answer = Awaited<ReturnType<TestServer['ask']>>

const map = (data: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', ...metadata },
  data,
})
const apply = (path: string, body: unknown): Promise<Answer> => tested.ask('PATCH', path, { type: applyType, body })
const merge = (path: string, body: unknown): Promise<Answer> => tested.ask('PATCH', path, { type: mergeType, body })
const deployment = (spec: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
    ...spec,
  },
  ...more,
})

function entriesIn({ json }: Answer): ManagedFieldsEntry[] {
  return (json['metadata']?.['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]
}

async function entriesAt(path: string): Promise<ManagedFieldsEntry[]> {
  return entriesIn(await tested.ask('GET', path))
}

const who = (entries: readonly ManagedFieldsEntry[]): string[] =>
  entries.map(
    ({ manager, operation, subresource }) =>
      `${operation} ${manager}${subresource === undefined ? '' : `/${subresource}`}`,
  )

describe('an apply where nothing is', () => {
  test('does not mind a version, but minds a uid', async () => {
    expect((await apply(`${maps}/m?fieldManager=a`, map({}, { resourceVersion: '7' }))).status).toBe(201)
    expect(await apply(`${maps}/n?fieldManager=a`, map({}, { name: 'n', uid: 'u' }))).toMatchObject({
      status: 409,
      json: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "n": uid mismatch: the provided object specified uid u, and no existing object was found',
      },
    })
  })
})

describe('the body of an apply', () => {
  test.each([
    ['', 'invalid object type: /, Kind='],
    [
      '[]',
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      '"x"',
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}',
    ],
    ['kind: ConfigMap', 'invalid object type: /, Kind=ConfigMap'],
  ])('%j is refused', async (body, message) => {
    expect(await apply(`${maps}/m?fieldManager=a`, Buffer.from(body))).toMatchObject({ status: 400, json: { message } })
  })

  test('with a key twice is refused if it is to be strict, and warned about if not', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: "1"\n  a: "2"\n'
    expect(await apply(`${maps}/m?fieldManager=a&fieldValidation=Strict`, text)).toMatchObject({
      status: 400,
      json: {
        message:
          'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "a" already set in map',
      },
    })
    const { status, headers } = await apply(`${maps}/m?fieldManager=a`, text)
    expect(status).toBe(201)
    expect(String(headers['warning'])).toContain('line 7: key \\"a\\" already set in map')
    expect((await apply(`${maps}/m?fieldManager=a&fieldValidation=Ignore`, text)).headers['warning']).toBeUndefined()
  })
})

describe('managed fields in a request', () => {
  const entry = (manager: string, more: object = {}): object => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
    ...more,
  })

  test('that cannot be read are not taken over', async () => {
    await apply(`${maps}/m?fieldManager=a`, map({ a: '1' }))
    for (const odd of [
      { manager: 'x' },
      entry('x', { operation: 'Nope' }),
      entry('x', { fieldsType: 'V2' }),
      entry('x', { fieldsV1: { bad: {} } }),
    ]) {
      expect(who(entriesIn(await merge(`${maps}/m`, { metadata: { managedFields: [odd] } })))).toEqual(['Apply a'])
    }
  })

  test('that can be read are, within limits', async () => {
    await apply(`${maps}/m?fieldManager=a`, map({ a: '1' }))
    expect(who(entriesIn(await merge(`${maps}/m`, { metadata: { managedFields: [entry('y')] } })))).toEqual([
      'Update y',
    ])
    expect(await merge(`${maps}/m`, { metadata: { managedFields: [entry('y'.repeat(129))] } })).toMatchObject({
      status: 422,
      json: {
        message:
          'ConfigMap "m" is invalid: metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
      },
    })
    expect(
      (await merge(`${maps}/m`, { metadata: { managedFields: [entry('y', { subresource: 's'.repeat(257) })] } }))
        .status,
    ).toBe(422)
  })

  test.each([[[]], [[{}]]])('%j ends tracking until somebody applies', async (managedFields) => {
    await apply(`${maps}/m?fieldManager=a`, map({ a: '1' }))
    expect(entriesIn(await merge(`${maps}/m`, { metadata: { managedFields } }))).toEqual([])
    expect(entriesIn(await merge(`${maps}/m`, { data: { b: '1' } }))).toEqual([])
    expect(who(entriesIn(await apply(`${maps}/m?fieldManager=b`, map({ a: '1' }))))).toEqual([
      'Apply b',
      'Update before-first-apply',
    ])
  })

  test('may be replaced where there are none, as anything may', async () => {
    await tested.ask('POST', maps, { body: map({ a: '1' }) })
    await merge(`${maps}/m`, { metadata: { managedFields: [{}] } })
    expect(
      (
        await tested.ask('PATCH', `${maps}/m`, {
          type: 'application/json-patch+json',
          body: [{ op: 'replace', path: '/metadata/managedFields', value: [entry('y')] }],
        })
      ).status,
    ).toBe(200)
    expect(who(await entriesAt(`${maps}/m`))).toEqual(['Update y'])
  })
})

describe('a write that changes nothing', () => {
  test('is no write, whoever makes it', async () => {
    const { json: first } = await tested.ask('POST', maps, { body: map({ a: '1' }) })
    await tested.clock.advance(5000)
    expect((await tested.ask('PUT', `${maps}/m?fieldManager=other`, { body: first })).json).toEqual(first)
    expect((await merge(`${maps}/m?fieldManager=other`, { data: { a: '1' } })).json).toEqual(first)
  })

  test('is none either when what it says is only written in another way', async () => {
    const spec = (cpu: unknown): JsonObject =>
      deployment({
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu: cpu as string } } }] },
        },
      })
    const { json: first } = await apply(`${deployments}/d?fieldManager=a`, spec('1'))
    await tested.clock.advance(5000)
    expect((await apply(`${deployments}/d?fieldManager=a`, spec('1000m'))).json).toEqual(first)
  })
})

test('writers beyond ten become one', async () => {
  await tested.ask('POST', maps, { body: map({ a: '1' }) })
  for (let index = 0; index < 14; index++) {
    await tested.clock.advance(1000)
    await merge(`${maps}/m?fieldManager=u${index}`, { data: { [`k${index}`]: '1' } })
  }
  const entries = await entriesAt(`${maps}/m`)
  expect(entries.length).toBe(10)
  expect(entries[0]).toMatchObject({ manager: 'ancient-changes', fieldsV1: { 'f:data': { 'f:k0': {}, 'f:k4': {} } } })
})

describe('the status', () => {
  test('of a built-in kind writes neither the spec nor what else it keeps', async () => {
    await apply(`${deployments}/d?fieldManager=a`, deployment({ replicas: 3 }, { status: { observedGeneration: 5 } }))
    const answer = await apply(
      `${deployments}/d/status?fieldManager=a`,
      deployment(
        { replicas: 7 },
        { metadata: { name: 'd', labels: { x: 'y' }, annotations: { x: 'y' } }, status: { observedGeneration: 5 } },
      ),
    )
    expect(answer).toMatchObject({ status: 200, json: { spec: { replicas: 3 }, status: { observedGeneration: 5 } } })
    const [main, status] = entriesIn(answer)
    expect(main?.fieldsV1).not.toHaveProperty('f:status')
    expect(status).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:x': {} } }, 'f:status': { 'f:observedGeneration': {} } },
    })
    expect(status?.fieldsV1).not.toHaveProperty('f:spec')
    expect(status?.fieldsV1?.['f:metadata']).not.toHaveProperty('f:labels')
  })
})

describe('the scale', () => {
  const scale = (replicas?: number): JsonObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'd' },
    spec: replicas === undefined ? {} : { replicas },
  })
  const replicasIn = async (): Promise<unknown> =>
    (await tested.ask('GET', `${deployments}/d`)).json['spec']?.['replicas']

  test('takes the count from who applied it, and gives it back', async () => {
    await apply(`${deployments}/d?fieldManager=a`, deployment({ replicas: 3 }))
    await merge(`${deployments}/d/scale?fieldManager=hpa`, { spec: { replicas: 5 } })
    const entries = await entriesAt(`${deployments}/d`)
    expect(who(entries)).toEqual(['Apply a', 'Update hpa/scale'])
    expect(entries[1]).toEqual({
      manager: 'hpa',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    })
    expect((await apply(`${deployments}/d?fieldManager=a`, deployment({ replicas: 3 }))).json['message']).toBe(
      'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas',
    )
    expect((await apply(`${deployments}/d?fieldManager=a`, deployment())).json['spec']).toMatchObject({ replicas: 5 })
  })

  test('can be applied', async () => {
    await apply(`${deployments}/d?fieldManager=a`, deployment({ replicas: 3 }))
    expect(await apply(`${deployments}/d/scale?fieldManager=s`, scale(9))).toMatchObject({
      status: 409,
      json: { message: 'Apply failed with 1 conflict: conflict with "a": .spec.replicas' },
    })
    expect(await apply(`${deployments}/d/scale?fieldManager=s&force=true`, scale(9))).toMatchObject({
      status: 200,
      json: { kind: 'Scale', spec: { replicas: 9 } },
    })
    expect(who(await entriesAt(`${deployments}/d`))).toEqual(['Apply s/scale', 'Apply a'])
    expect((await apply(`${deployments}/d/scale?fieldManager=s`, scale())).json['spec']).toEqual({})
    expect(await replicasIn()).toBe(0)
  })

  test('is refused what is no apply of a Scale', async () => {
    await apply(`${deployments}/d?fieldManager=a`, deployment())
    expect(await apply(`${deployments}/d/scale`, scale(1))).toMatchObject({ status: 422 })
    expect(await apply(`${deployments}/d/scale?fieldManager=s`, deployment())).toMatchObject({
      status: 400,
      json: { message: 'invalid object type: apps/v1, Kind=Deployment' },
    })
    expect(
      await apply(`${deployments}/none/scale?fieldManager=s`, { ...scale(1), metadata: { name: 'none' } }),
    ).toMatchObject({ status: 404 })
    expect(await merge(`${deployments}/d/scale?force=true`, {})).toMatchObject({ status: 422 })
  })
})

describe('a custom kind', () => {
  const things = '/apis/demo.example.com/v1/namespaces/default/things'
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const thing = (spec: JsonObject, version = 'v1'): JsonObject => ({
    apiVersion: `demo.example.com/${version}`,
    kind: 'Thing',
    metadata: { name: 't' },
    spec,
  })
  const version = (name: string, type: 'atomic' | 'map'): JsonObject => {
    const items = {
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, v: { type: 'integer' } } },
      'x-kubernetes-list-type': type,
      ...(type === 'map' && { 'x-kubernetes-list-map-keys': ['name'] }),
    }
    const schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { n: { type: 'integer' }, c: { type: 'object', properties: { a: { type: 'string' } } }, items },
        },
      },
    }
    return { name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: schema } }
  }
  const define = (...versions: readonly JsonObject[]): Promise<Answer> =>
    tested.ask('POST', definitions, {
      body: {
        metadata: { name: 'things.demo.example.com' },
        spec: { group: 'demo.example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
      },
    })
  const redefine = (...versions: readonly JsonObject[]): Promise<Answer> =>
    merge(`${definitions}/things.demo.example.com`, { spec: { versions } })

  test('whose list is taken apart keeps its owners; put together again, all own the whole', async () => {
    await define(version('v1', 'atomic'))
    await apply(`${things}/t?fieldManager=one`, thing({ items: [{ name: 'x', v: 1 }] }))
    expect((await apply(`${things}/t?fieldManager=two`, thing({ items: [{ name: 'y', v: 1 }] }))).status).toBe(409)
    await redefine(version('v1', 'map'))
    expect(await apply(`${things}/t?fieldManager=two`, thing({ items: [{ name: 'y', v: 1 }] }))).toMatchObject({
      status: 200,
      json: { spec: { items: [{ name: 'x' }, { name: 'y' }] } },
    })
    await redefine(version('v1', 'atomic'))
    await merge(`${things}/t?fieldManager=three`, { spec: { n: 1 } })
    const owned = new Map((await entriesAt(`${things}/t`)).map(({ manager, fieldsV1 }) => [manager, fieldsV1]))
    expect(owned.get('two')).toEqual({ 'f:spec': { 'f:items': {} } })
  })

  test('of two versions has managers of both, and an applier moves with its configuration', async () => {
    await define(version('v1', 'map'), version('v2', 'map'))
    await apply(`${things}/t?fieldManager=one`, thing({ n: 1 }))
    await apply(`${things.replace('/v1/', '/v2/')}/t?fieldManager=one`, thing({ n: 1 }, 'v2'))
    await merge(`${things}/t?fieldManager=upd`, { spec: { items: [{ name: 'x' }] } })
    expect((await entriesAt(`${things}/t`)).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ['one', 'demo.example.com/v2'],
      ['upd', 'demo.example.com/v1'],
    ])
  })

  test('keeps a container that lost everything, if somebody wants it', async () => {
    await define(version('v1', 'map'))
    await apply(`${things}/t?fieldManager=one`, thing({ n: 1, c: { a: 'x' }, items: [{ name: 'x' }] }))
    const emptied = await apply(`${things}/t?fieldManager=one`, thing({ c: {}, items: [] }))
    expect(emptied.json['spec']).toEqual({ c: {}, items: [] })
    expect((await apply(`${things}/t?fieldManager=one`, thing({ c: {}, items: [] }))).json).toEqual(emptied.json)
  })

  test('takes a null that is applied for a value, and judges it', async () => {
    await define(version('v1', 'map'))
    expect(await apply(`${things}/t?fieldManager=one`, thing({ n: null }))).toMatchObject({
      status: 422,
      json: {
        message:
          'Thing.demo.example.com "t" is invalid: spec.n: Invalid value: "null": spec.n in body must be of type integer: "null"',
      },
    })
  })

  test('needs [{}] to have its tracking ended, as upstream has it', async () => {
    await define(version('v1', 'map'))
    await apply(`${things}/t?fieldManager=one`, thing({ n: 1 }))
    expect(who(entriesIn(await merge(`${things}/t`, { metadata: { managedFields: [] } })))).toEqual(['Apply one'])
    expect(entriesIn(await merge(`${things}/t`, { metadata: { managedFields: [{}] } }))).toEqual([])
  })
})
