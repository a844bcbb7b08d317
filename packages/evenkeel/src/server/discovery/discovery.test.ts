import { expect, test } from 'vitest'
import type { Resource } from '@evenkeel/builtins'
import { Discovery } from './discovery.ts'
import { builtinCatalog, customResource } from './resource.fixture.ts'

const builtin = new Discovery(builtinCatalog(), { serverAddress: '127.0.0.1:6443' })

function read(discovery: Discovery, path: string, aggregated = false): unknown {
  const document = discovery.document(path, { aggregated })
  return document && JSON.parse(Buffer.from(document.bytes).toString())
}

interface Listed {
  readonly resources: readonly { readonly name: string }[]
}
interface Aggregated {
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly resources: readonly { readonly resource: string }[]
    }[]
  }[]
}

test('Discovery names the version of the core group and the address of the server at /api', () => {
  expect(read(builtin, '/api')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  })
  expect(read(new Discovery([]), '/api')).toEqual({ kind: 'APIVersions', versions: [], serverAddressByClientCIDRs: [] })
})

test('Discovery lists resources and subresources of the core group as upstream does', () => {
  const document = read(builtin, '/api/v1') as Listed
  expect(document).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
  expect(document).not.toHaveProperty('apiVersion')
  const byName = new Map(document.resources.map((resource) => [resource.name, resource]))
  expect(byName.get('pods')).toEqual({
    name: 'pods',
    singularName: 'pod',
    namespaced: true,
    kind: 'Pod',
    shortNames: ['po'],
    categories: ['all'],
    storageVersionHash: 'xPOwRZ+Yhw8=',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  })
  expect(byName.get('pods/eviction')).toEqual({
    name: 'pods/eviction',
    singularName: '',
    namespaced: true,
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    verbs: ['create'],
  })
  expect(byName.get('pods/exec')).toEqual({
    name: 'pods/exec',
    singularName: '',
    namespaced: true,
    kind: 'PodExecOptions',
    verbs: ['create', 'get'],
  })
  expect(byName.get('namespaces/finalize')).toEqual({
    name: 'namespaces/finalize',
    singularName: '',
    namespaced: false,
    kind: 'Namespace',
    verbs: ['update'],
  })
  expect(byName.get('bindings')).not.toHaveProperty('storageVersionHash')
})

test('Discovery hashes the stored form, not the served one', () => {
  const [served] = (read(builtin, '/apis/autoscaling/v1') as Listed).resources
  const [stored] = (read(builtin, '/apis/autoscaling/v2') as Listed).resources
  expect(served).toHaveProperty('storageVersionHash', 'qwQve8ut294=')
  expect(stored).toHaveProperty('storageVersionHash', 'qwQve8ut294=')
})

test('Discovery describes a group with its preferred version first', () => {
  expect(read(builtin, '/apis/autoscaling')).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'autoscaling',
    versions: [
      { groupVersion: 'autoscaling/v2', version: 'v2' },
      { groupVersion: 'autoscaling/v1', version: 'v1' },
    ],
    preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
  })
})

test('Discovery lists built-in groups by priority and added ones after them by name', () => {
  const added = ['zebra.example.com', 'ant.example.com'].map((group) =>
    customResource({ group, version: 'v1', kind: 'Thing', plural: 'things' }),
  )
  const { groups } = read(new Discovery([...added, ...builtinCatalog()]), '/apis') as { groups: { name: string }[] }
  const names = groups.map(({ name }) => name)
  expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io'])
  expect(names.slice(-2)).toEqual(['ant.example.com', 'zebra.example.com'])
  expect(names).not.toContain('')
})

test('Discovery puts everything into one document per root, core apart from the rest', () => {
  const core = read(builtin, '/api', true) as Aggregated
  expect(core).toMatchObject({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: [{ metadata: {}, versions: [{ version: 'v1', freshness: 'Current' }] }],
  })
  const apis = read(builtin, '/apis', true) as Aggregated
  const apps = apis.items.find(({ metadata }) => metadata.name === 'apps')
  expect(apps?.versions[0]?.resources.find(({ resource }) => resource === 'deployments')).toEqual({
    resource: 'deployments',
    responseKind: { group: '', version: '', kind: 'Deployment' },
    scope: 'Namespaced',
    singularResource: 'deployment',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: [
      {
        subresource: 'scale',
        responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        verbs: ['get', 'patch', 'update'],
      },
      {
        subresource: 'status',
        responseKind: { group: '', version: '', kind: 'Deployment' },
        verbs: ['get', 'patch', 'update'],
      },
    ],
  })
})

test('Discovery spells out the kind of a custom resource in the one-document form', () => {
  const discovery = new Discovery([
    customResource({ group: 'stable.example.com', version: 'v1', kind: 'CronTab', plural: 'crontabs' }),
  ])
  const { items } = read(discovery, '/apis', true) as Aggregated
  expect(items[0]?.versions[0]?.resources[0]).toMatchObject({
    responseKind: { group: 'stable.example.com', version: 'v1', kind: 'CronTab' },
    scope: 'Namespaced',
  })
})

test('Discovery orders the versions of an added group and the resources of a version', () => {
  const make = (version: string, plural: string): Resource =>
    customResource({ group: 'example.com', version, kind: plural.toUpperCase(), plural })
  const discovery = new Discovery([make('v1alpha1', 'b'), make('v1', 'b'), make('v1', 'a'), make('v1beta1', 'b')])
  const { items } = read(discovery, '/apis', true) as Aggregated
  expect(items[0]?.versions.map(({ version }) => version)).toEqual(['v1', 'v1beta1', 'v1alpha1'])
  expect((read(discovery, '/apis/example.com/v1') as Listed).resources.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('Discovery has a strong hash per document that changes with what is served', () => {
  const etag = builtin.document('/apis', { aggregated: true })?.etag
  expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
  expect(builtin.document('/apis', { aggregated: true })?.etag).toBe(etag)
  const more = new Discovery([
    ...builtinCatalog(),
    customResource({ group: 'example.com', version: 'v1', kind: 'A', plural: 'as' }),
  ])
  expect(more.document('/apis', { aggregated: true })?.etag).not.toBe(etag)
  expect(more.document('/api/v1')?.etag).toBe(builtin.document('/api/v1')?.etag)
})

test('Discovery says which form a document has', () => {
  expect(builtin.document('/apis')?.contentType).toBe('application/json')
  expect(builtin.document('/apis', { aggregated: true })?.contentType).toBe(
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  )
})

test('Discovery takes a slash at the end, and knows no other paths', () => {
  expect(builtin.document('/api/v1/')).toBe(builtin.document('/api/v1'))
  expect(builtin.document('/apis/apps/v1/')).toBe(builtin.document('/apis/apps/v1'))
  for (const path of [
    '',
    '/',
    '/api/v2',
    '/api/v1/pods',
    '/apis/none',
    '/apis/apps/v2',
    '/apis/apps/v1/deployments',
    '/apis//v1',
    '/apis/constructor',
  ]) {
    expect(builtin.document(path), path).toBeUndefined()
  }
  expect(builtin.document('/apis/apps', { aggregated: true })).toBeUndefined()
})

test('Discovery has the versions of other servers, in the order of their priorities', () => {
  const entry = (group: string, groupPriorityMinimum: number, versionPriority = 15) => ({
    group,
    version: 'v1',
    groupPriorityMinimum,
    versionPriority,
    discovery: { version: 'v1', freshness: 'Stale' },
  })
  const local = [
    ...builtinCatalog(),
    customResource({ group: 'mid.example.com', version: 'v1', kind: 'A', plural: 'as' }),
    customResource({ group: 'mid.example.com', version: 'v2', kind: 'A', plural: 'as' }),
  ]
  const discovery = new Discovery(local, {
    remote: [
      entry('first.example.com', 19_000),
      entry('a.example.com', 1000),
      entry('z.example.com', 1000),
      entry('last.example.com', 10),
      entry('mid.example.com', 1000, 200),
    ],
  })
  const { groups } = read(discovery, '/apis') as { groups: { name: string; versions: { version: string }[] }[] }
  const names = groups.map(({ name }) => name)
  expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', 'first.example.com', 'apps'])
  expect(names.slice(-4)).toEqual(['a.example.com', 'mid.example.com', 'z.example.com', 'last.example.com'])
  const mid = groups.find(({ name }) => name === 'mid.example.com')
  expect(mid?.versions.map(({ version }) => version)).toEqual(['v1', 'v2'])
  const { items } = read(discovery, '/apis', true) as Aggregated
  const versions = items.find(({ metadata: { name } }) => name === 'mid.example.com')?.versions ?? []
  expect(versions[0]).toEqual({ version: 'v1', freshness: 'Stale' })
  expect(versions[1]?.resources.map(({ resource }) => resource)).toEqual(['as'])
})
