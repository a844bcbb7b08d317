import { expect, test } from 'vitest'
import { makeCatalog } from './catalog.ts'
import type { TableColumns } from './columns/column.ts'
import type { ResourceStrategy } from './resource.ts'
import { builtinSchemas, publishedSchemaName, schemaName } from './schemas.ts'

const asked: string[] = []
const catalog = makeCatalog({
  strategyFor: (group, kind) => {
    asked.push(`${group}/${kind}`)
    return {} as ResourceStrategy
  },
  columnsFor: () => ({ definitions: [], cells: () => [] }) satisfies TableColumns,
})

function find(group: string, version: string, plural: string) {
  const found = catalog.find((one) => one.group === group && one.version === version && one.plural === plural)
  expect(found, `${group}/${version} ${plural}`).toBeDefined()
  return found!
}

test('makeCatalog describes Pods as upstream serves them', () => {
  const pods = find('', 'v1', 'pods')
  expect(pods).toMatchObject({
    kind: 'Pod',
    listKind: 'PodList',
    singular: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    scope: 'Namespaced',
    custom: false,
  })
  expect(pods.verbs).toEqual(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'])
  expect(pods.storage).toEqual({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' })
  expect(pods.subresources.map(({ name }) => name)).toEqual([
    'attach',
    'binding',
    'ephemeralcontainers',
    'eviction',
    'exec',
    'log',
    'portforward',
    'proxy',
    'resize',
    'status',
  ])
  expect(pods.subresources.find(({ name }) => name === 'eviction')).toEqual({
    name: 'eviction',
    role: 'eviction',
    verbs: ['create'],
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
  })
  expect(pods.subresources.find(({ name }) => name === 'status')).toEqual({
    name: 'status',
    role: 'part',
    verbs: ['get', 'patch', 'update'],
    group: '',
    version: 'v1',
    kind: 'Pod',
  })
  expect(pods.virtual).toBeUndefined()
})

test('makeCatalog leaves out verbs that a resource lacks', () => {
  expect(find('', 'v1', 'namespaces').verbs).not.toContain('deletecollection')
  expect(find('', 'v1', 'namespaces').subresources.map(({ name }) => name)).toEqual(['finalize', 'status'])
  expect(find('', 'v1', 'bindings').verbs).toEqual(['create'])
})

test('makeCatalog lets resources that show the same objects share their storage', () => {
  expect(find('events.k8s.io', 'v1', 'events').storage).toEqual(find('', 'v1', 'events').storage)
  expect(find('autoscaling', 'v1', 'horizontalpodautoscalers').storage).toEqual({
    group: 'autoscaling',
    version: 'v2',
    plural: 'horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
  })
})

test('makeCatalog marks what is answered without being stored', () => {
  expect(catalog.filter(({ virtual }) => virtual).map(({ plural }) => plural)).toEqual([
    'bindings',
    'componentstatuses',
    'selfsubjectreviews',
    'tokenreviews',
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ])
})

test('makeCatalog serves stable versions only and asks for rules by group and kind', () => {
  expect(catalog.every(({ version }) => /^v\d+$/.test(version))).toBe(true)
  expect(asked).toContain('coordination.k8s.io/Lease')
})

test('makeCatalog gives every resource a schema that says its own kind', () => {
  for (const { group, version, kind, schema } of catalog) {
    expect(schema.root['x-kubernetes-group-version-kind'], kind).toContainEqual({ group, version, kind })
  }
})

test('builtinDefinitions know every name that a definition refers to', () => {
  const seen = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) {
      if (key === '$ref' && typeof child === 'string') visitName(child)
      else visit(child)
    }
  }
  const visitName = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    const definition = builtinSchemas(name)
    expect(definition, name).toBeDefined()
    visit(definition)
  }
  for (const resource of catalog) visitName(schemaName(resource))
  expect(seen.size).toBeGreaterThan(300)
})

test('builtinDefinitions know nothing of names that are no definitions', () => {
  for (const name of [
    '',
    'Pod',
    'core.v1.',
    'core.v1.constructor',
    '__proto__.Pod',
    'constructor.name',
    'core.v2.Pod',
  ]) {
    expect(builtinSchemas(name), name).toBeUndefined()
  }
})

test('publishedName gives the names that clients look up', () => {
  expect(publishedSchemaName('core.v1.Pod')).toBe('io.k8s.api.core.v1.Pod')
  expect(publishedSchemaName('meta.v1.ObjectMeta')).toBe('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  expect(publishedSchemaName('quantity.Quantity')).toBe('io.k8s.apimachinery.pkg.api.resource.Quantity')
  expect(publishedSchemaName('apiextensions.v1.CustomResourceDefinition')).toBe(
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  )
})

test('definitionName is the first word of the group, then version and kind', () => {
  expect(schemaName({ group: '', version: 'v1', kind: 'Pod' })).toBe('core.v1.Pod')
  expect(schemaName({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' })).toBe('rbac.v1.Role')
})
