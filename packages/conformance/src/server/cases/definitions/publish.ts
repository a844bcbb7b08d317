/**
 * What a CRD adds to discovery and OpenAPI, without a restart.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Answer, Loose } from '../../answer.ts'
import { anything, defineCustom, eventually } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { expectMatch, ok } from '../../expect.ts'
import type { Place, ServerCase } from '../../target.ts'

const everything = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const parts = { subresources: { status: {}, scale } }

/** Polls until the response contains the text: publishing may take a moment. */
async function published(
  place: Place,
  [path, has]: readonly [path: string, has: string],
  accept?: string,
): Promise<Loose> {
  const answer = await eventually(
    () => place.client.request('GET', path, accept === undefined ? {} : { accept }),
    ({ status, text }: Answer) => status === 200 && text.includes(has),
  )
  return answer.json
}

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly [field: string]: unknown
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly definitions: Readonly<Record<string, Schema>>
}
interface Operation {
  readonly operationId?: string
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
  readonly 'x-kubernetes-group-version-kind'?: unknown
  readonly 'x-kubernetes-action'?: string
}

const groupVersionKind = (custom: Custom): readonly object[] => [{ group: custom.group, kind: 'Widget', version: 'v1' }]

/** The schema of the widgets in a set of schemas, found by its group, version and kind. */
function schemaIn(schemas: Readonly<Record<string, Schema>>, custom: Custom): Schema {
  return (
    Object.values(schemas).find((one) =>
      isDeepStrictEqual(one['x-kubernetes-group-version-kind'], groupVersionKind(custom)),
    ) ?? assert.fail(`no schema of ${custom.group}`)
  )
}

const discovery: readonly ServerCase[] = [
  {
    id: 'server/definition-published/group',
    rule: 'The group of a CRD is in discovery, with its versions.',
    async run(place) {
      const widgets = await defineCustom(place)
      const version = { groupVersion: `${widgets.group}/v1`, version: 'v1' }
      expectMatch(await published(place, [`/apis/${widgets.group}`, 'v1']), {
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: widgets.group,
        versions: [version],
        preferredVersion: version,
      })
      const { groups } = (await published(place, ['/apis', widgets.group])) as unknown as {
        groups: readonly { name: string }[]
      }
      assert.ok(groups.some(({ name }) => name === widgets.group))
    },
  },
  {
    id: 'server/definition-published/resources',
    rule: 'The resource is in discovery with its names, verbs, short names, categories and subresources.',
    async run(place) {
      const widgets = await defineCustom(place, {
        names: { shortNames: ['wd', 'wdg'], categories: ['all', 'judge'] },
        version: parts,
      })
      const list = await published(place, [`/apis/${widgets.group}/v1`, 'widgets/scale'])
      expectMatch(list, { kind: 'APIResourceList', groupVersion: `${widgets.group}/v1` })
      const resources = list['resources'] as readonly { name: string }[]
      expectMatch(
        resources.find(({ name }) => name === 'widgets'),
        {
          singularName: 'widget',
          namespaced: true,
          kind: 'Widget',
          verbs: (verbs: string[]) => verbs.toSorted().join() === everything.join(),
          shortNames: ['wd', 'wdg'],
          categories: ['all', 'judge'],
          storageVersionHash: /./,
        },
      )
      expectMatch(
        resources.find(({ name }) => name === 'widgets/status'),
        { singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      )
      expectMatch(
        resources.find(({ name }) => name === 'widgets/scale'),
        { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
      )
    },
  },
  {
    id: 'server/definition-published/aggregated',
    rule: 'Aggregated discovery has the resource, and its ETag changes.',
    async run(place) {
      const before = await place.client.request('GET', '/apis', { accept: aggregated })
      const widgets = await defineCustom(place, { names: { shortNames: ['wd'], categories: ['all'] }, version: parts })
      const list = await published(place, ['/apis', widgets.group], aggregated)
      const group = list.items.find(({ metadata }) => metadata.name === widgets.group) as unknown as {
        versions: readonly object[]
      }
      expectMatch(group.versions, [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'widgets',
              responseKind: { group: widgets.group, version: 'v1', kind: 'Widget' },
              scope: 'Namespaced',
              singularResource: 'widget',
              shortNames: ['wd'],
              categories: ['all'],
              subresources: [
                { subresource: 'status', verbs: ['get', 'patch', 'update'] },
                { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
              ],
            },
          ],
        },
      ])
      const after = await place.client.request('GET', '/apis', { accept: aggregated })
      assert.notEqual(before.header('etag'), after.header('etag'))
    },
  },
  {
    id: 'server/definition-published/gone',
    rule: 'Deleting the CRD removes its group from discovery.',
    async run(place) {
      const widgets = await defineCustom(place)
      await published(place, [`/apis/${widgets.group}`, 'v1'])
      ok(await place.delete('customresourcedefinitions', widgets.name))
      await eventually(
        () => place.client.request('GET', `/apis/${widgets.group}`),
        ({ status }) => status === 404,
      )
      await eventually(
        () => place.client.request('GET', '/apis', { accept: aggregated }),
        ({ text }) => !text.includes(widgets.group),
      )
    },
  },
]

const spec = {
  type: 'object',
  description: 'What is wanted.',
  required: ['a'],
  properties: {
    a: { type: 'string', description: 'The first.', maxLength: 5, default: 'x' },
    list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    either: { 'x-kubernetes-int-or-string': true },
  },
}
const schema = { type: 'object', description: 'A thing to judge.', properties: { spec } }

const openApi: readonly ServerCase[] = [
  {
    id: 'server/definition-published/openapi-v3',
    rule: 'OpenAPI v3 has the schema of a custom kind with metadata, lists and extensions.',
    async run(place) {
      const widgets = await defineCustom(place, { schema, version: parts })
      const index = (await published(place, ['/openapi/v3', `apis/${widgets.group}/v1`])) as unknown as {
        paths: Readonly<Record<string, { serverRelativeURL: string }>>
      }
      const { serverRelativeURL } = index.paths[`apis/${widgets.group}/v1`] ?? assert.fail()
      assert.match(serverRelativeURL, /\?hash=[0-9A-Fa-f]+/)
      const document = (await published(place, [serverRelativeURL, 'A thing to judge.'])) as unknown as Document
      const widget = schemaIn(document.components.schemas, widgets)
      expectMatch(widget, {
        type: 'object',
        description: 'A thing to judge.',
        'x-kubernetes-group-version-kind': groupVersionKind(widgets),
      })
      expectMatch(widget.properties, {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: (metadata: unknown) =>
          JSON.stringify(metadata).includes('#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
        spec: {
          type: 'object',
          description: 'What is wanted.',
          required: ['a'],
          properties: {
            a: { type: 'string', description: 'The first.', maxLength: 5, default: 'x' },
            list: { 'x-kubernetes-list-type': 'set' },
            either: { 'x-kubernetes-int-or-string': true },
          },
        },
      })
      assert.ok(Object.keys(document.components.schemas).some((name) => name.endsWith('.v1.WidgetList')))
    },
  },
  {
    id: 'server/definition-published/openapi-operations',
    rule: 'OpenAPI v3 has the operations of a custom kind, with the parameters and patch types that clients look for.',
    async run(place) {
      const widgets = await defineCustom(place, { schema, version: parts })
      const document = (await published(place, [
        `/openapi/v3/apis/${widgets.group}/v1`,
        'widgets',
      ])) as unknown as Document
      const at = `/apis/${widgets.group}/v1/namespaces/{namespace}/widgets`
      for (const path of [
        at,
        `${at}/{name}`,
        `${at}/{name}/status`,
        `${at}/{name}/scale`,
        `/apis/${widgets.group}/v1/widgets`,
      ])
        assert.ok(document.paths[path], path)
      const { patch } = document.paths[`${at}/{name}`] ?? {}
      expectMatch(patch, {
        'x-kubernetes-action': 'patch',
        'x-kubernetes-group-version-kind': { group: widgets.group, kind: 'Widget', version: 'v1' },
      })
      const names = patch?.parameters?.map(({ name }) => name) ?? []
      for (const name of ['dryRun', 'fieldManager', 'fieldValidation', 'force']) assert.ok(names.includes(name), name)
      const types = Object.keys(patch?.requestBody?.content ?? {})
      for (const type of [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/apply-patch+yaml',
      ])
        assert.ok(types.includes(type), type)
      assert.ok(!types.includes('application/strategic-merge-patch+json'))
    },
  },
  {
    id: 'server/definition-published/openapi-descriptions',
    rule: 'Fields that every object has, operations and parameters of a custom kind have descriptions.',
    async run(place) {
      const inner = {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      }
      const properties = { spec: { type: 'object', properties: { inner } } }
      const widgets = await defineCustom(place, { schema: { type: 'object', properties } })
      const { paths, components } = (await published(place, [
        `/openapi/v3/apis/${widgets.group}/v1`,
        'widgets',
      ])) as unknown as Document
      const metadata = { description: /^Standard object's metadata/, allOf: [{ $ref: /ObjectMeta$/ }] }
      const widget = schemaIn(components.schemas, widgets)
      assert.equal(widget.description, undefined)
      expectMatch(widget.properties, {
        apiVersion: { description: /^APIVersion defines/ },
        kind: { description: /./ },
        metadata,
        spec: { properties: { inner: { properties: { apiVersion: { description: /./ }, metadata } } } },
      })
      expectMatch(components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']?.properties, {
        creationTimestamp: { description: /^CreationTimestamp is a timestamp/ },
      })
      const { put } = paths[`/apis/${widgets.group}/v1/namespaces/{namespace}/widgets/{name}`] ?? {}
      expectMatch(put, { description: /./, parameters: [{ description: /./ }, {}, {}] })
      assert.deepEqual(Object.keys(put?.requestBody?.content ?? {}).toSorted(), [
        'application/json',
        'application/yaml',
      ])
    },
  },
  {
    id: 'server/definition-published/openapi-changes',
    rule: 'A changed schema is published without a restart.',
    async run(place) {
      const widgets = await defineCustom(place, { schema })
      await published(place, [`/openapi/v3/apis/${widgets.group}/v1`, 'A thing to judge.'])
      await widgets.change((draft) => {
        for (const one of draft.versions) one.schema.openAPIV3Schema['description'] = 'Another thing.'
      })
      await published(place, [`/openapi/v3/apis/${widgets.group}/v1`, 'Another thing.'])
    },
  },
  {
    id: 'server/definition-published/openapi-v2',
    rule: 'OpenAPI v2 has the custom kind too, without the keywords that v2 does not support.',
    async run(place) {
      const widgets = await defineCustom(place, {
        schema: {
          ...schema,
          properties: {
            spec: {
              ...spec,
              properties: {
                ...spec.properties,
                n: { type: 'string', nullable: true },
                o: { type: 'string', oneOf: [{ maxLength: 1 }, { minLength: 3 }] },
              },
            },
          },
        },
      })
      const document = (await published(place, ['/openapi/v2', widgets.group])) as unknown as Document
      const widget = schemaIn(document.definitions, widgets)
      expectMatch(widget.properties, {
        spec: {
          description: 'What is wanted.',
          properties: { a: { type: 'string' }, o: { type: 'string', oneOf: undefined }, n: { nullable: undefined } },
        },
      })
    },
  },
  {
    id: 'server/definition-published/openapi-selectable-fields',
    rule: 'OpenAPI v3 and v2 list the selectable fields, at the kind and at its list; in the protobuf of v2 as YAML.',
    async run(place) {
      const widgets = await defineCustom(place, {
        schema: { type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } } },
        version: { selectableFields: [{ jsonPath: '.spec.color' }] },
      })
      const keyword = { 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }] }
      const v3 = await published(place, [`/openapi/v3/apis/${widgets.group}/v1`, 'selectable-fields'])
      const v2 = await published(place, ['/openapi/v2', widgets.group])
      for (const schemas of [
        (v3 as unknown as Document).components.schemas,
        (v2 as unknown as Document).definitions,
      ] as readonly Readonly<Record<string, unknown>>[]) {
        const own = Object.keys(schemas).filter((name) => /\.v1\.Widget(?:List)?$/.test(name))
        const ours = own.filter((name) => name.includes(place.namespace))
        for (const name of ours) expectMatch(schemas[name], keyword)
        assert.equal(ours.length, 2)
      }
      const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
      const { text } = await place.client.request('GET', '/openapi/v2', { accept })
      assert.ok(text.includes('- fieldPath: spec.color\n'))
    },
  },
  {
    id: 'server/definition-published/openapi-preserve',
    rule: 'A root that preserves unknown fields is published as such.',
    async run(place) {
      const widgets = await defineCustom(place, { schema: anything })
      const document = (await published(place, [
        `/openapi/v3/apis/${widgets.group}/v1`,
        'Widget',
      ])) as unknown as Document
      expectMatch(schemaIn(document.components.schemas, widgets), { 'x-kubernetes-preserve-unknown-fields': true })
    },
  },
]

export const definitionPublishCases: readonly ServerCase[] = [...discovery, ...openApi]
