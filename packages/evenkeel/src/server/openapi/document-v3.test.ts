import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '#api'
import { builtinCatalog, customResource } from '../discovery/resource.fixture.ts'
import { OpenApi } from './openapi.ts'

const cronTab = customResource(
  { group: 'stable.example.com', version: 'v1', kind: 'CronTab', plural: 'crontabs' },
  { schema: { root: { type: 'object' }, definitions: () => undefined } },
)
const openApi = new OpenApi([...builtinCatalog(), cronTab])
const index = read('/openapi/v3')['paths'] as JsonObject
const documents = new Map(Object.keys(index).map((path) => [path, read(`/openapi/v3/${path}`)]))

function read(path: string): JsonObject {
  return JSON.parse(Buffer.from(openApi.document(path)?.bytes ?? []).toString()) as JsonObject
}

interface Described {
  readonly place: string
  readonly text: unknown
}

const methods = new Set(['delete', 'get', 'head', 'options', 'patch', 'post', 'put'])

/** Everything in a document that needs a description, with the one it has. */
function describedIn(name: string, { paths, components }: JsonObject): Described[] {
  return [
    ...Object.entries(paths as JsonObject).flatMap(([path, item]) => describedInPath(`${name} ${path}`, item)),
    ...Object.entries(((components as JsonObject)['schemas'] ?? {}) as JsonObject).flatMap(([schema, node]) => [
      { place: `${name} ${schema}`, text: (node as JsonObject)['description'] },
      ...describedProperties(`${name} ${schema}`, node as JsonObject),
    ]),
  ]
}

function describedInPath(place: string, item: JsonValue | undefined): Described[] {
  return Object.entries(item as JsonObject).flatMap(([key, value]) => {
    if (key === 'parameters') return describedParameters(place, value)
    expect(methods).toContain(key)
    const { description, parameters } = value as JsonObject
    return [
      { place: `${place} ${key}`, text: description },
      ...describedParameters(`${place} ${key}`, parameters ?? []),
    ]
  })
}

function describedParameters(place: string, parameters: JsonValue | undefined): Described[] {
  return (parameters as readonly JsonObject[]).map(({ name, description }) => ({
    place: `${place} ?${String(name)}`,
    text: description,
  }))
}

function describedProperties(place: string, node: JsonObject): Described[] {
  return Object.entries((node['properties'] ?? {}) as JsonObject).map(([key, field]) => ({
    place: `${place}.${key}`,
    text: (field as JsonObject)['description'],
  }))
}

test('every schema, property, operation and parameter of every document has a description', () => {
  expect(documents.size).toBeGreaterThan(45)
  const all = [...documents].flatMap(([name, document]) => describedIn(name, document))
  // The root of a custom resource has only what its CRD says.
  const missing = all.filter(({ text, place }) => !isText(text) && !place.endsWith('com.example.stable.v1.CronTab'))
  expect(missing.map(({ place }) => place)).toEqual([])
})

function isText(text: unknown): boolean {
  return typeof text === 'string' && /^\S.{6,}\.$/s.test(text)
}

/** How many descriptions documents of kube-apiserver 1.36.4 have, without those of `shardSelector`, an alpha feature. */
const upstreamCounts = {
  'api/v1': 3690,
  'apis/admissionregistration.k8s.io/v1': 885,
  'apis/apps/v1': 1692,
  'apis/batch/v1': 1095,
  'apis/networking.k8s.io/v1': 832,
  'apis/rbac.authorization.k8s.io/v1': 612,
  'apis/storage.k8s.io/v1': 1035,
  'apis/apps': 17,
  version: 11,
}

test('documents have as many descriptions as those of kube-apiserver', () => {
  const few = Object.entries(upstreamCounts).filter(([path, count]) => countTexts(documents.get(path)) < count)
  expect(few).toEqual([])
})

function countTexts(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [key, child]) => sum + (key === 'description' && typeof child === 'string' ? 1 : countTexts(child)),
    0,
  )
}

test('a parameter of all operations of a path is written once, for the path', () => {
  const pod = pathIn('api/v1', '/api/v1/namespaces/{namespace}/pods/{name}')
  expect(namesOf(pod['parameters'])).toEqual(['name', 'namespace', 'pretty'])
  expect((pod['get'] as JsonObject)['parameters']).toBeUndefined()
  expect(namesOf((pod['put'] as JsonObject)['parameters'])).toEqual(['dryRun', 'fieldManager', 'fieldValidation'])
  const pods = pathIn('api/v1', '/api/v1/pods')
  expect(namesOf(pods['parameters'])).toContain('watch')
})

test('a description of an operation names its kind and its subresource', () => {
  const text = (path: string, method: string) => (pathIn('api/v1', path)[method] as JsonObject)['description']
  expect(text('/api/v1/pods', 'get')).toBe('Lists Pod objects in all namespaces, or watches them.')
  expect(text('/api/v1/namespaces/{namespace}/pods/{name}/status', 'put')).toBe('Replaces status of one Pod.')
  expect(text('/api/v1/namespaces/{namespace}/pods/{name}/exec', 'post')).toBe(
    'Connects POST requests to exec of one Pod.',
  )
})

test('custom resources have the forms of upstream: JSON and YAML bodies, no group document, no discovery path', () => {
  const path = '/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}'
  const { get, put, patch } = pathIn('apis/stable.example.com/v1', path) as Record<string, JsonObject>
  expect(namesOf(get?.['parameters'])).toEqual(['resourceVersion'])
  expect(Object.keys((put?.['requestBody'] as JsonObject)['content'] as JsonObject)).toEqual([
    'application/json',
    'application/yaml',
  ])
  expect(Object.keys(patch?.['responses'] as JsonObject)).toEqual(['200', '401'])
  expect(index).not.toHaveProperty(['apis/stable.example.com'])
  expect(documents.get('apis/stable.example.com/v1')?.['paths']).not.toHaveProperty(['/apis/stable.example.com/v1/'])
})

test('the log of a Pod is text, and a connection has any type', () => {
  const typesOf = (path: string) => {
    const { responses } = pathIn('api/v1', path)['get'] as { responses: { 200: { content: JsonObject } } }
    return Object.keys(responses[200].content)
  }
  expect(typesOf('/api/v1/namespaces/{namespace}/pods/{name}/log')).toContain('text/plain')
  expect(typesOf('/api/v1/namespaces/{namespace}/pods/{name}/exec')).toEqual(['*/*'])
})

function pathIn(document: string, path: string): JsonObject {
  const item = (documents.get(document)?.['paths'] as JsonObject)[path]
  expect(item, path).toBeDefined()
  return item as JsonObject
}

function namesOf(parameters: JsonValue | undefined): unknown[] {
  return (parameters as readonly JsonObject[]).map(({ name }) => name)
}
