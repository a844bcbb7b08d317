import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openMemoryStore } from '#store'
import { TestServer } from '../client.fixture.ts'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = '/apis/demo.example.com/v1/namespaces/default/widgets'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
})

const spec = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 1 },
    color: { type: 'string', default: 'red', pattern: '^[a-z]+$' },
    replicas: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  },
}
const status = {
  type: 'object',
  properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' }, selector: { type: 'string' } },
}

interface Wanted {
  readonly plural?: string
  readonly kind?: string
  readonly shortNames?: readonly string[]
  readonly properties?: object
  readonly version?: object
  readonly more?: readonly object[]
}

function definition({
  plural = 'widgets',
  kind = 'Widget',
  shortNames = ['wd'],
  properties = { spec, status },
  version = {},
  more = [],
}: Wanted = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.demo.example.com` },
    spec: {
      group: 'demo.example.com',
      scope: 'Namespaced',
      names: { plural, kind, shortNames, categories: ['all'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          selectableFields: [{ jsonPath: '.spec.color' }],
          ...version,
        },
        ...more,
      ],
    },
  }
}

const widget = (name: string, rest: object = {}): object => ({
  apiVersion: 'demo.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size: 1 },
  ...rest,
})
const post = (path: string, body: unknown): ReturnType<TestServer['ask']> => tested.ask('POST', path, { body })

describe('a definition', () => {
  test('is served as soon as its creation is answered: discovery, objects, tables, OpenAPI', async () => {
    expect((await post(crds, definition())).status).toBe(201)
    expect((await tested.ask('GET', `${crds}/widgets.demo.example.com`)).json).toMatchObject({
      status: {
        acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        storedVersions: ['v1'],
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
      },
    })
    expect(await post(widgets, widget('a'))).toMatchObject({
      status: 201,
      json: { metadata: { generation: 1 }, spec: { size: 1, color: 'red' } },
    })
    expect((await tested.ask('GET', '/apis/demo.example.com/v1')).json['resources']).toMatchObject([
      { name: 'widgets', shortNames: ['wd'], categories: ['all'] },
      { name: 'widgets/status' },
      { name: 'widgets/scale', kind: 'Scale' },
    ])
    expect(
      (await tested.ask('GET', widgets, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })).json[
        'rows'
      ],
    ).toMatchObject([{ cells: ['a', 1] }])
    expect((await tested.ask('GET', '/openapi/v3/apis/demo.example.com/v1')).status).toBe(200)
  })

  test('whose names are taken waits, and is served when they are free', async () => {
    await post(crds, definition())
    await post(crds, definition({ plural: 'gadgets', kind: 'Gadget' }))
    const gadgets = '/apis/demo.example.com/v1/namespaces/default/gadgets'
    expect((await tested.ask('GET', `${crds}/gadgets.demo.example.com`)).json).toMatchObject({
      status: {
        conditions: [
          { type: 'NamesAccepted', status: 'False', reason: 'ShortNamesConflict', message: '"wd" is already in use' },
          { type: 'Established', status: 'False' },
        ],
      },
    })
    expect((await tested.ask('GET', gadgets)).status).toBe(404)
    expect((await tested.ask('DELETE', `${crds}/widgets.demo.example.com`)).status).toBe(200)
    expect((await tested.ask('GET', gadgets)).status).toBe(200)
    expect((await tested.ask('GET', widgets)).status).toBe(404)
  })

  test.each([
    [{ plural: 'gadgets', kind: 'Widget' }, 'ListKindConflict', '"WidgetList" is already in use'],
    [{ plural: 'wd', kind: 'Gadget' }, 'PluralConflict', '"wd" is already in use'],
  ])('says which of its names is taken: %j', async (names, reason, message) => {
    await post(crds, definition())
    await post(crds, definition({ ...names, shortNames: [] }))
    const { json } = await tested.ask('GET', `${crds}/${names.plural}.demo.example.com`)
    expect(json['status']?.['conditions']).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason, message },
      { type: 'Established', status: 'False' },
    ])
  })

  test('that is deleted takes its instances along, and waits for those with finalizers', async () => {
    await post(crds, definition())
    await post(widgets, widget('a'))
    await post(widgets, widget('b', { metadata: { name: 'b', finalizers: ['example.com/wait'] } }))
    expect(await tested.ask('DELETE', `${crds}/widgets.demo.example.com`)).toMatchObject({
      status: 200,
      json: { metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } },
    })
    expect((await tested.ask('GET', `${widgets}/a`)).status).toBe(404)
    expect((await post(widgets, widget('c'))).status).toBe(403)
    await tested.ask('PATCH', `${widgets}/b`, {
      type: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    })
    await tested.clock.advance(2000)
    expect((await tested.ask('GET', `${crds}/widgets.demo.example.com`)).status).toBe(404)
    expect((await tested.ask('GET', widgets)).status).toBe(404)
  })

  test('that changes ends the watches of its objects, and shows old objects as it is now', async () => {
    await post(crds, definition())
    await post(widgets, widget('a', { spec: { size: 1, tags: ['x'] } }))
    const before = (await tested.ask('GET', `${widgets}/a`)).json
    const events = await tested.watch(`${widgets}?watch=true`)
    expect(await events.take(1)).toEqual(['ADDED a'])
    const changed = {
      ...spec,
      properties: { size: spec.properties.size, color: spec.properties.color, weight: { type: 'integer', default: 7 } },
    }
    const patch = {
      spec: {
        versions: (definition({ properties: { spec: changed, status } }) as { spec: { versions: unknown } }).spec
          .versions,
      },
    }
    expect(
      (
        await tested.ask('PATCH', `${crds}/widgets.demo.example.com`, {
          type: 'application/merge-patch+json',
          body: patch,
        })
      ).status,
    ).toBe(200)
    expect(await events.take(1)).toEqual(['END'])
    const after = (await tested.ask('GET', `${widgets}/a`)).json
    expect(after).toMatchObject({
      metadata: { resourceVersion: before['metadata']?.['resourceVersion'] },
      spec: { size: 1, weight: 7 },
    })
    expect(after['spec']?.['tags']).toBeUndefined()
    expect((await tested.ask('GET', widgets)).json['items']).toMatchObject([{ spec: { weight: 7 } }])
  })

  test('is served again after a restart', async () => {
    const store = openMemoryStore()
    for (let start = 0; start < 2; start++) {
      const server = await TestServer.start({ store })
      if (start === 0) {
        await server.ask('POST', crds, { body: definition() })
        await server.ask('POST', widgets, { body: widget('a') })
      }
      expect((await server.ask('GET', `${widgets}/a`)).status).toBe(200)
      await server.server.stop()
    }
    await store.close()
  })

  test('with several versions keeps objects in one and shows them in each', async () => {
    const second = {
      name: 'v2',
      served: true,
      storage: false,
      deprecated: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { ...spec, properties: { ...spec.properties, extra: { type: 'string', default: 'e' } } },
          },
        },
      },
    }
    await post(crds, definition({ more: [second] }))
    await post(widgets, widget('a'))
    const read = await tested.ask('GET', widgets.replace('/v1/', '/v2/').concat('/a'))
    // Defaults of the version it is kept in, not of the one it is read in.
    expect(read.json['spec']).toEqual({ size: 1, color: 'red' })
    expect(read.headers['warning']).toBe(
      '299 - "demo.example.com/v2 Widget is deprecated; use demo.example.com/v1 Widget"',
    )
  })
})

describe('a custom object', () => {
  beforeEach(async () => {
    await post(crds, definition())
  })

  test('is pruned, checked and counted', async () => {
    const made = await post(widgets, widget('a', { spec: { size: 1, unknown: true }, status: { ready: true } }))
    expect(made.headers['warning']).toBe('299 - "unknown field \\"spec.unknown\\""')
    expect(made.json['spec']).toEqual({ size: 1, color: 'red' })
    expect(made.json['status']).toBeUndefined()
    expect(await post(widgets, widget('b', { spec: { size: 0, color: 'R2' } }))).toMatchObject({
      status: 422,
      json: { details: { causes: [{ field: 'spec.size' }, { field: 'spec.color' }] } },
    })
    expect(
      (await tested.ask('PATCH', `${widgets}/a`, { type: 'application/merge-patch+json', body: { spec: { size: 2 } } }))
        .json,
    ).toMatchObject({ metadata: { generation: 2 } })
    expect(
      (
        await tested.ask('PATCH', `${widgets}/a`, {
          type: 'application/merge-patch+json',
          body: { metadata: { labels: { l: '1' } } },
        })
      ).json,
    ).toMatchObject({ metadata: { generation: 2 } })
  })

  test('wants its version for an update, its type in a body, and no strategic patch', async () => {
    await post(widgets, widget('a'))
    expect((await tested.ask('PUT', `${widgets}/a`, { body: widget('a') })).status).toBe(422)
    expect((await post(widgets, { metadata: { name: 'x' } })).status).toBe(400)
    expect(
      (await tested.ask('PATCH', `${widgets}/a`, { type: 'application/strategic-merge-patch+json', body: {} })).status,
    ).toBe(415)
  })

  test('has a status and a scale of its own, and can be selected by its fields', async () => {
    await post(widgets, widget('a', { spec: { size: 1, replicas: 2 } }))
    const put = await tested.ask('PATCH', `${widgets}/a/status`, {
      type: 'application/merge-patch+json',
      body: {
        metadata: { labels: { l: '1' } },
        spec: { size: 9 },
        status: { ready: true, replicas: 1, selector: 'a=b' },
      },
    })
    expect(put.json).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } })
    expect(put.json['metadata']?.['labels']).toBeUndefined()
    expect((await tested.ask('GET', `${widgets}/a/scale`)).json).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    })
    expect(
      (
        await tested.ask('PATCH', `${widgets}/a/scale`, {
          type: 'application/merge-patch+json',
          body: { spec: { replicas: 5 } },
        })
      ).json,
    ).toMatchObject({ spec: { replicas: 5 } })
    expect((await tested.ask('GET', `${widgets}/a`)).json).toMatchObject({
      spec: { replicas: 5 },
      metadata: { generation: 2 },
    })
    expect((await tested.ask('GET', `${widgets}?fieldSelector=spec.color%3Dred`)).json['items']).toHaveLength(1)
    expect((await tested.ask('GET', `${widgets}?fieldSelector=spec.color%3Dblue`)).json['items']).toHaveLength(0)
    expect((await tested.ask('GET', `${widgets}?fieldSelector=spec.size%3D1`)).status).toBe(400)
  })

  test('may stay wrong where it was wrong before', async () => {
    const loose = { spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } } }
    await post(crds, definition({ plural: 'things', kind: 'Thing', shortNames: [], properties: loose }))
    const things = '/apis/demo.example.com/v1/namespaces/default/things'
    await post(things, {
      apiVersion: 'demo.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a' },
      spec: { size: -5, color: 'x' },
    })
    const strict = {
      spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string' } } },
    }
    const patch = {
      spec: {
        versions: (
          definition({ plural: 'things', kind: 'Thing', shortNames: [], properties: strict }) as {
            spec: { versions: unknown }
          }
        ).spec.versions,
      },
    }
    await tested.ask('PATCH', `${crds}/things.demo.example.com`, { type: 'application/merge-patch+json', body: patch })
    const merge = (body: object): ReturnType<TestServer['ask']> =>
      tested.ask('PATCH', `${things}/a`, { type: 'application/merge-patch+json', body })
    expect((await merge({ spec: { color: 'y' } })).status).toBe(200)
    expect((await merge({ spec: { size: -6 } })).status).toBe(422)
  })
})
