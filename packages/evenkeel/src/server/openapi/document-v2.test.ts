import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '#api'
import { builtinCatalog, customResource } from '../discovery/resource.fixture.ts'
import { OpenApi } from './openapi.ts'

const openApi = new OpenApi(builtinCatalog())
const bytes = Buffer.from(openApi.document('/openapi/v2')?.bytes ?? [])
const document = JSON.parse(bytes.toString()) as Readonly<
  Record<'definitions' | 'parameters' | 'paths', Readonly<Record<string, JsonObject>>>
>

interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly description?: string
}

const used = Object.values(document.paths).flatMap((item) =>
  Object.entries(item).flatMap(([key, value]) => parametersIn(key === 'parameters' ? { parameters: value } : value)),
)

function parametersIn(value: JsonValue | undefined): Parameter[] {
  return ((value as JsonObject)['parameters'] ?? []) as unknown as Parameter[]
}

test('a parameter is a reference to its definition', () => {
  const references = used.flatMap(({ $ref }) => $ref ?? [])
  expect(references.length).toBeGreaterThan(1000)
  const unknown = references.filter((ref) => !Object.hasOwn(document.parameters, ref.replace('#/parameters/', '')))
  expect(unknown).toEqual([])
  expect(document.parameters['limit']).toMatchObject({ name: 'limit', in: 'query', type: 'integer' })
})

test('parameters of the same name and another meaning have definitions of their own', () => {
  const { path, 'path-2': other } = document.parameters
  expect([path?.['in'], other?.['in']].sort()).toEqual(['path', 'query'])
})

test('kubectl finds dryRun and fieldValidation in the operation, not behind a reference', () => {
  const patch = document.paths['/api/v1/namespaces/{namespace}/pods/{name}']?.['patch']
  const names = parametersIn(patch).map(({ name, $ref }) => name ?? $ref)
  expect(names).toEqual(['body', 'dryRun', '#/parameters/fieldManager', 'fieldValidation', '#/parameters/force'])
})

test('every definition, field, operation and parameter has a description', () => {
  const operations = Object.values(document.paths).flatMap(({ parameters: _, ...rest }) => Object.values(rest))
  const fields = Object.values(document.definitions).flatMap((one) =>
    Object.values((one['properties'] ?? {}) as object),
  )
  const all = [
    ...Object.values(document.definitions),
    ...Object.values(document.parameters),
    ...fields,
    ...operations,
    ...used.filter(({ $ref }) => $ref === undefined),
  ] as readonly { readonly description?: string }[]
  expect(all.length).toBeGreaterThan(3500)
  expect(all.filter(({ description = '' }) => !description.endsWith('.'))).toEqual([])
})

test('the texts that the tests of kubectl look for are there, in JSON and in protobuf', () => {
  const protobuf = Buffer.from(openApi.document('/openapi/v2', { protobuf: true })?.bytes ?? [])
  for (const text of [
    'list of returned',
    'List of services',
    'Watch for changes to the described resources',
    'Replaces status of one Pod.',
  ]) {
    expect(bytes.includes(text), text).toBe(true)
    expect(protobuf.includes(text), text).toBe(true)
  }
})

test('discovery is described too, and the list of custom resources is not', () => {
  expect(document.paths['/apis/apps/v1/']?.['get']).toMatchObject({
    operationId: 'getAppsV1APIResources',
    produces: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
    responses: { 200: { schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList' } } },
  })
  expect(document.paths['/version/']?.['get']).toMatchObject({ operationId: 'getCodeVersion' })
  const custom = customResource({ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things' })
  const { paths } = JSON.parse(
    Buffer.from(new OpenApi([custom]).document('/openapi/v2')?.bytes ?? []).toString(),
  ) as JsonObject
  expect(Object.keys(paths as JsonObject).filter((path) => path.endsWith('/'))).not.toContain('/apis/example.com/v1/')
})
