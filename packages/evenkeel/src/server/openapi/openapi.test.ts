import { expect, test } from 'vitest'
import type { JsonObject } from '#api'
import type { Resource, ResourceStrategy } from '@evenkeel/builtins'
import { builtinCatalog, customResource } from '../discovery/resource.fixture.ts'
import { OpenApi } from './openapi.ts'

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>>; readonly required?: boolean }
  readonly consumes?: readonly string[]
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Readonly<Record<string, { readonly schema: JsonObject }>>; readonly schema?: JsonObject }
    >
  >
  readonly 'x-kubernetes-action': string
  readonly 'x-kubernetes-group-version-kind': JsonObject
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> }
  readonly definitions: Readonly<Record<string, JsonObject>>
}

const builtin = new OpenApi(builtinCatalog())
const cronTab = customResource(
  { group: 'stable.example.com', version: 'v1', kind: 'CronTab', plural: 'crontabs' },
  {
    schema: {
      root: { type: 'object', properties: { spec: { type: 'object', properties: { cron: { type: 'string' } } } } },
      definitions: () => undefined,
    },
    subresources: [
      {
        name: 'scale',
        role: 'scale',
        verbs: ['get', 'patch', 'update'],
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
      },
    ],
  },
)

function read(openApi: OpenApi, path: string): Document {
  return JSON.parse(Buffer.from(openApi.document(path)?.bytes ?? []).toString()) as Document
}

function operation(document: Document, path: string, method: string): Operation {
  const found = document.paths[path]?.[method]
  expect(found, `${method} ${path}`).toBeDefined()
  return found!
}

const names = (found: Operation) => found.parameters?.map(({ name }) => name)

test('OpenApi lists every group version with the hash of its document', () => {
  const { paths } = read(builtin, '/openapi/v3') as unknown as { paths: Record<string, { serverRelativeURL: string }> }
  expect(Object.keys(paths)).toContain('apis/coordination.k8s.io/v1')
  const hash = builtin.document('/openapi/v3/api/v1')?.etag.slice(1, -1)
  expect(hash).toMatch(/^[0-9A-F]{128}$/)
  expect(paths['api/v1']).toEqual({ serverRelativeURL: `/openapi/v3/api/v1?hash=${hash}` })
})

test('OpenApi describes the patch of a Pod so that kubectl can make one', () => {
  const patch = operation(read(builtin, '/openapi/v3/api/v1'), '/api/v1/namespaces/{namespace}/pods/{name}', 'patch')
  expect(patch).toMatchObject({
    operationId: 'patchCoreV1NamespacedPod',
    tags: ['core_v1'],
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Pod' },
  })
  expect(patch.parameters).toContainEqual({
    name: 'fieldValidation',
    in: 'query',
    description: expect.any(String),
    schema: { type: 'string', uniqueItems: true },
  })
  expect(names(patch)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
  expect(Object.keys(patch.requestBody?.content ?? {}).sort()).toEqual([
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
  ])
})

test('OpenApi has all paths and methods of Leases and no others', () => {
  const { paths } = read(builtin, '/openapi/v3/apis/coordination.k8s.io/v1')
  const root = '/apis/coordination.k8s.io/v1'
  const methods = Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.keys(item)
        .filter((key) => key !== 'parameters')
        .sort(),
    ]),
  )
  expect(methods).toEqual({
    [`${root}/`]: ['get'],
    [`${root}/leases`]: ['get'],
    [`${root}/namespaces/{namespace}/leases`]: ['delete', 'get', 'post'],
    [`${root}/namespaces/{namespace}/leases/{name}`]: ['delete', 'get', 'patch', 'put'],
    [`${root}/watch/leases`]: ['get'],
    [`${root}/watch/namespaces/{namespace}/leases`]: ['get'],
    [`${root}/watch/namespaces/{namespace}/leases/{name}`]: ['get'],
  })
  expect(paths[`${root}/watch/leases`]?.['get']).toMatchObject({
    operationId: 'watchCoordinationV1LeaseListForAllNamespaces',
    'x-kubernetes-action': 'watchlist',
  })
  expect(paths[`${root}/watch/namespaces/{namespace}/leases/{name}`]?.['get']).toMatchObject({
    operationId: 'watchCoordinationV1NamespacedLease',
    'x-kubernetes-action': 'watch',
  })
  expect(paths[`${root}/leases`]?.['get']?.operationId).toBe('listCoordinationV1LeaseForAllNamespaces')
  expect(paths[`${root}/namespaces/{namespace}/leases`]?.['delete']?.operationId).toBe(
    'deleteCoordinationV1CollectionNamespacedLease',
  )
})

test('OpenApi says what is read and written below an object', () => {
  const apps = read(builtin, '/openapi/v3/apis/apps/v1')
  const scale = operation(apps, '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale', 'put')
  expect(scale).toMatchObject({
    operationId: 'replaceAppsV1NamespacedDeploymentScale',
    'x-kubernetes-group-version-kind': { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  })
  expect(scale.responses['200']?.content?.['application/json']?.schema).toEqual({
    $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale',
  })
  expect(apps.components.schemas).toHaveProperty(['io.k8s.api.autoscaling.v1.Scale'])

  const core = read(builtin, '/openapi/v3/api/v1')
  expect(Object.keys(core.paths['/api/v1/namespaces/{name}/finalize'] ?? {}).sort()).toEqual(['parameters', 'put'])
  const exec = operation(core, '/api/v1/namespaces/{namespace}/pods/{name}/exec', 'get')
  expect(exec).toMatchObject({
    operationId: 'connectCoreV1GetNamespacedPodExec',
    'x-kubernetes-action': 'connect',
    'x-kubernetes-group-version-kind': { kind: 'PodExecOptions' },
  })
  const item = core.paths['/api/v1/namespaces/{namespace}/pods/{name}/exec'] as unknown as Operation
  expect(names(item)).toEqual(['command', 'container', 'name', 'namespace', 'stderr', 'stdin', 'stdout', 'tty'])
  expect(operation(core, '/api/v1/nodes/{name}/proxy/{path}', 'options').operationId).toBe(
    'connectCoreV1OptionsNodeProxyWithPath',
  )
})

test('OpenApi says whether a deletion answers with the object', () => {
  const make = (returnsDeleted: boolean): Resource => ({ ...cronTab, strategy: { returnsDeleted } as ResourceStrategy })
  const answer = (resource: Resource) =>
    operation(
      read(new OpenApi([resource]), '/openapi/v3/apis/stable.example.com/v1'),
      '/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}',
      'delete',
    ).responses['200']?.content?.['application/json']?.schema['$ref']
  expect(answer(make(true))).toBe('#/components/schemas/com.example.stable.v1.CronTab')
  expect(answer(make(false))).toBe('#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status')
})

test('OpenApi publishes every schema that another one refers to', () => {
  for (const path of ['/openapi/v3/api/v1', '/openapi/v3/apis/apiextensions.k8s.io/v1']) {
    const document = read(builtin, path)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(references.length).toBeGreaterThan(100)
    for (const name of references) expect(document.components.schemas).toHaveProperty([name ?? ''])
  }
})

test('OpenApi gives the kinds of every group version the version at hand', () => {
  const { components } = read(builtin, '/openapi/v3/apis/apps/v1')
  expect(
    components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']?.['x-kubernetes-group-version-kind'],
  ).toEqual([
    { group: '', kind: 'DeleteOptions', version: 'v1' },
    { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
  ])
  expect(components.schemas['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind']).toEqual([
    { group: 'apps', kind: 'Deployment', version: 'v1' },
  ])
})

test('OpenApi publishes custom resources with metadata, a list, and no strategic merge', () => {
  const document = read(new OpenApi([cronTab]), '/openapi/v3/apis/stable.example.com/v1')
  const schema = document.components.schemas['com.example.stable.v1.CronTab']
  expect(schema).toMatchObject({
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
      spec: {},
    },
    'x-kubernetes-group-version-kind': [{ group: 'stable.example.com', version: 'v1', kind: 'CronTab' }],
  })
  expect(document.components.schemas['com.example.stable.v1.CronTabList']).toMatchObject({ required: ['items'] })
  const path = '/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}'
  expect(Object.keys(operation(document, path, 'patch').requestBody?.content ?? {})).not.toContain(
    'application/strategic-merge-patch+json',
  )
  expect(operation(document, `${path}/scale`, 'patch')['x-kubernetes-group-version-kind']).toMatchObject({
    kind: 'CronTab',
  })
})

test('OpenApi has one v2 document of everything', () => {
  const document = read(new OpenApi([...builtinCatalog(), cronTab]), '/openapi/v2')
  expect(document).toMatchObject({ swagger: '2.0' })
  const patch = operation(document, '/api/v1/namespaces/{namespace}/pods/{name}', 'patch')
  expect(patch.parameters?.[0]).toEqual({
    name: 'body',
    in: 'body',
    description: expect.any(String),
    required: true,
    schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch' },
  })
  expect(patch.consumes).toContain('application/strategic-merge-patch+json')
  expect(document.definitions['io.k8s.api.core.v1.Pod']).toMatchObject({
    properties: { spec: { $ref: '#/definitions/io.k8s.api.core.v1.PodSpec' } },
  })
  expect(document.definitions['io.k8s.apimachinery.pkg.api.resource.Quantity']).toEqual({
    type: 'string',
    description: expect.any(String),
  })
  expect(document.definitions).toHaveProperty(['com.example.stable.v1.CronTabList'])
})

test('OpenApi in v2 publishes an open custom resource without properties', () => {
  const open = customResource(
    { group: 'example.com', version: 'v1', kind: 'Open', plural: 'opens' },
    {
      schema: { root: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, definitions: () => undefined },
    },
  )
  expect(read(new OpenApi([open]), '/openapi/v2').definitions['com.example.v1.Open']).toEqual({
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Open' }],
  })
})

test('OpenApi has the v2 document as protobuf under the hash of the JSON form', () => {
  const small = new OpenApi([cronTab])
  const document = small.document('/openapi/v2', { protobuf: true })
  expect(document?.contentType).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  expect(document?.etag).toBe(small.document('/openapi/v2')?.etag)
  expect([...(document?.bytes.subarray(0, 5) ?? [])]).toEqual([0x0a, 3, 0x32, 0x2e, 0x30])
})

test('OpenApi takes over documents whose resources are the same, and no others', () => {
  const resources = builtinCatalog()
  const before = new OpenApi([...resources, cronTab])
  const kept = before.document('/openapi/v3/apis/apps/v1')
  const replaced = before.document('/openapi/v3/apis/stable.example.com/v1')
  const after = new OpenApi([...resources, { ...cronTab, subresources: [] }], { previous: before })
  expect(after.document('/openapi/v3/apis/apps/v1')).toBe(kept)
  expect(after.document('/openapi/v3/apis/stable.example.com/v1')?.etag).not.toBe(replaced?.etag)
})

test('OpenApi knows no other paths', () => {
  for (const path of [
    '',
    '/openapi',
    '/openapi/v3/',
    '/openapi/v3/index',
    '/openapi/v3/swagger',
    '/openapi/v3/apis/none/v1',
    '/openapi/v3/constructor',
    '/openapi/v2/',
  ]) {
    expect(builtin.document(path), path).toBeUndefined()
  }
  expect(builtin.document('/openapi/v3/api/v1', { protobuf: true })).toBeUndefined()
})

test('OpenApi encodes the v2 document also when another server has paths of another form', () => {
  const wrong = { get: { responses: 5, parameters: [{ name: {} }], tags: 1 } }
  const remote = ['v1', 'v2'].map((version) => ({
    group: 'other.example.com',
    version,
    openApiHash: undefined,
    swagger: { paths: { [`/apis/other.example.com/${version}/foos`]: version === 'v1' ? 5 : wrong }, definitions: {} },
  }))
  const document = new OpenApi([], { remote }).document('/openapi/v2', { protobuf: true })
  expect(document?.bytes.byteLength).toBeGreaterThan(0)
})
