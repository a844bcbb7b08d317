/**
 * Discovery, aggregated and not, OpenAPI and version.
 */
import assert from 'node:assert/strict'
import type { Loose } from '../../answer.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { groupOf } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

interface Group {
  readonly name: string
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[]
  readonly preferredVersion: object
}
interface Resource {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}
interface Aggregate {
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly freshness: string
      readonly resources: readonly AggregateResource[]
    }[]
  }[]
}
interface AggregateResource {
  readonly resource: string
  readonly scope: string
  readonly verbs: readonly string[]
  readonly responseKind: { readonly kind: string }
  readonly singularResource: string
  readonly shortNames?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[] }[]
}

async function get(place: Place, path: string, accept?: string): Promise<Loose> {
  return ok(await place.client.request('GET', path, accept === undefined ? {} : { accept }), 200)
}

async function resourcesOf(place: Place, path: string): Promise<readonly Resource[]> {
  return ((await get(place, path)) as unknown as { resources: readonly Resource[] }).resources
}

const everything = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const legacy: readonly ServerCase[] = [
  {
    id: 'server/discovery/core',
    rule: '`/api` lists the versions of the core group.',
    async run(place) {
      expectMatch(await get(place, '/api'), { kind: 'APIVersions', versions: ['v1'] })
    },
  },
  {
    id: 'server/discovery/groups',
    rule: '`/apis` lists the groups with their versions and the preferred version.',
    async run(place) {
      const list = await get(place, '/apis')
      expectMatch(list, { kind: 'APIGroupList', apiVersion: 'v1' })
      const groups = list['groups'] as readonly Group[]
      const wanted: readonly ResourceName[] = [
        'deployments',
        'jobs',
        'leases',
        'ingresses',
        'poddisruptionbudgets',
        'roles',
        'horizontalpodautoscalers',
      ]
      for (const name of wanted.map(groupOf))
        assert.ok(
          groups.some((group) => group.name === name),
          `no ${name}`,
        )
      expectMatch(
        groups.find(({ name }) => name === 'apps'),
        {
          versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
          preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
        },
      )
    },
  },
  {
    id: 'server/discovery/group',
    rule: '`/apis/G` describes one group.',
    async run(place) {
      expectMatch(await get(place, '/apis/apps'), {
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: 'apps',
        versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
        preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
      })
    },
  },
  {
    id: 'server/discovery/core-resources',
    rule: '`/api/v1` lists the resources with kind, scope, verbs and short names.',
    async run(place) {
      expectMatch(await get(place, '/api/v1'), { kind: 'APIResourceList', groupVersion: 'v1' })
      const resources = await resourcesOf(place, '/api/v1')
      const named = (wanted: string): Resource =>
        resources.find(({ name }) => name === wanted) ?? assert.fail(`no ${wanted}`)
      expectMatch(named('configmaps'), {
        singularName: 'configmap',
        namespaced: true,
        kind: 'ConfigMap',
        verbs: everything,
        shortNames: ['cm'],
        storageVersionHash: /./,
      })
      expectMatch(named('namespaces'), {
        singularName: 'namespace',
        namespaced: false,
        kind: 'Namespace',
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['ns'],
      })
      expectMatch(named('namespaces/finalize'), {
        singularName: '',
        namespaced: false,
        kind: 'Namespace',
        verbs: ['update'],
      })
      expectMatch(named('pods'), { shortNames: ['po'], categories: ['all'] })
      expectMatch(named('pods/status'), {
        singularName: '',
        namespaced: true,
        kind: 'Pod',
        verbs: ['get', 'patch', 'update'],
      })
    },
  },
  {
    id: 'server/discovery/group-resources',
    rule: '`/apis/G/V` lists the resources of a group with their subresources; a scale names its own group and kind.',
    async run(place) {
      const resources = await resourcesOf(place, '/apis/apps/v1')
      const named = (wanted: string): Resource =>
        resources.find(({ name }) => name === wanted) ?? assert.fail(`no ${wanted}`)
      expectMatch(named('deployments'), {
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: everything,
        shortNames: ['deploy'],
        categories: ['all'],
      })
      expectMatch(named('deployments/scale'), {
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      })
      expectMatch(named('deployments/status'), { kind: 'Deployment', verbs: ['get', 'patch', 'update'] })
      assert.deepEqual(
        resources.map(({ name }) => name),
        resources.map(({ name }) => name).sort(),
      )
    },
  },
  {
    id: 'server/discovery/yaml',
    rule: 'Discovery can be YAML.',
    async run(place) {
      const answer = await place.client.request('GET', '/apis/apps/v1', { accept: 'application/yaml' })
      assert.match(answer.text, /^kind: APIResourceList$/m)
    },
  },
  {
    id: 'server/discovery/root',
    rule: '`/` lists the available paths.',
    async run(place) {
      const { paths } = (await get(place, '/')) as unknown as { paths: readonly string[] }
      for (const path of [
        '/api',
        '/api/v1',
        '/apis',
        '/apis/apps',
        '/apis/apps/v1',
        '/healthz',
        '/livez',
        '/readyz',
        '/metrics',
        '/openapi/v2',
        '/openapi/v3',
        '/version',
      ])
        assert.ok(paths.includes(path), `no ${path}`)
    },
  },
]

const modern: readonly ServerCase[] = [
  {
    id: 'server/discovery/aggregated',
    rule: 'Aggregated `/apis` lists all groups, versions and resources in one document; the content type repeats the format.',
    async run(place) {
      const answer = await place.client.request('GET', '/apis', { accept: aggregated })
      expectMatch(ok(answer, 200), { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
      assert.equal(answer.header('content-type'), aggregated)
      assert.match(answer.header('vary'), /Accept/)
      const apps = (answer.json as unknown as Aggregate).items.find(({ metadata }) => metadata.name === 'apps')
      expectMatch(apps?.versions[0], { version: 'v1', freshness: 'Current' })
      expectMatch(
        apps?.versions[0]?.resources.find(({ resource }) => resource === 'deployments'),
        {
          scope: 'Namespaced',
          singularResource: 'deployment',
          verbs: everything,
          shortNames: ['deploy'],
          categories: ['all'],
          responseKind: { kind: 'Deployment' },
          subresources: (all: { subresource: string }[]) =>
            ['scale', 'status'].every((name) => all.some(({ subresource }) => subresource === name)),
        },
      )
    },
  },
  {
    id: 'server/discovery/aggregated-core',
    rule: 'Aggregated `/api` describes the core group, whose name is empty.',
    async run(place) {
      const { items } = (await get(place, '/api', aggregated)) as unknown as Aggregate
      assert.equal(items.length, 1)
      assert.ok(!items[0]?.metadata.name)
      const namespaces = items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'namespaces')
      expectMatch(namespaces, { scope: 'Cluster', responseKind: { kind: 'Namespace' }, shortNames: ['ns'] })
    },
  },
  {
    id: 'server/discovery/aggregated-fallback',
    rule: 'A request for an obsolete discovery format gets the unaggregated one, if acceptable.',
    async run(place) {
      const old = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
      expectMatch(await get(place, '/apis', `${old},application/json`), { kind: 'APIGroupList' })
      expectMatch(await get(place, '/api', `${old},application/json`), { kind: 'APIVersions' })
      expectMatch(await get(place, '/apis', `${aggregated},${old},application/json`), { kind: 'APIGroupDiscoveryList' })
    },
  },
  {
    id: 'server/discovery/etag',
    rule: 'Aggregated discovery has an ETag; a request with a matching If-None-Match gets a 304 without a body.',
    async run(place) {
      const first = await place.client.request('GET', '/apis', { accept: aggregated })
      assert.match(first.header('etag'), /^"[0-9A-F]+"$/)
      const again = await place.client.request('GET', '/apis', {
        accept: aggregated,
        headers: { 'if-none-match': first.header('etag') },
      })
      assert.equal(again.status, 304)
      assert.equal(again.bytes.length, 0)
      ok(
        await place.client.request('GET', '/apis', { accept: aggregated, headers: { 'if-none-match': '"other"' } }),
        200,
      )
    },
  },
  {
    id: 'server/discovery/not-acceptable',
    rule: 'Discovery in an unknown type is a 406.',
    async run(place) {
      expectStatus(await place.client.request('GET', '/api', { accept: 'text/html' }), {
        code: 406,
        reason: 'NotAcceptable',
      })
    },
  },
  {
    id: 'server/discovery/agree',
    rule: 'Both discovery formats list the same resources.',
    async run(place) {
      const { items } = (await get(place, '/apis', aggregated)) as unknown as Aggregate
      for (const group of ['apps', 'coordination.k8s.io', 'rbac.authorization.k8s.io']) {
        const modernNames = items
          .find(({ metadata }) => metadata.name === group)
          ?.versions.find(({ version }) => version === 'v1')
          ?.resources.map(({ resource }) => resource)
        const names = (await resourcesOf(place, `/apis/${group}/v1`))
          .map(({ name }) => name)
          .filter((name) => !name.includes('/'))
        assert.deepEqual(modernNames, names)
      }
    },
  },
]

interface OpenApi {
  readonly openapi?: string
  readonly swagger?: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
  readonly definitions: Readonly<Record<string, object>>
}

interface Described {
  readonly name?: string
  readonly description?: string
}
interface DescribedDocument {
  readonly paths: Readonly<
    Record<
      string,
      { readonly parameters?: readonly Described[] } & Readonly<
        Record<string, Described & { readonly parameters?: readonly Described[] }>
      >
    >
  >
  readonly components: {
    readonly schemas: Readonly<
      Record<string, Described & { readonly properties?: Readonly<Record<string, Described>> }>
    >
  }
}

const openApi: readonly ServerCase[] = [
  {
    id: 'server/openapi/index',
    rule: '`/openapi/v3` lists a document for every group and version, with a hash.',
    async run(place) {
      const { paths } = (await get(place, '/openapi/v3')) as unknown as {
        paths: Readonly<Record<string, { serverRelativeURL: string }>>
      }
      for (const path of ['api/v1', 'apis/apps/v1', 'apis/coordination.k8s.io/v1', 'version'])
        expectMatch(paths[path], { serverRelativeURL: new RegExp(`^/openapi/v3/${path}\\?hash=[0-9A-F]+$`) })
    },
  },
  {
    id: 'server/openapi/document',
    rule: 'A document describes every PATCH with its kind, its content types and `fieldValidation`, where kubectl looks for them.',
    async run(place) {
      const document = (await get(place, '/openapi/v3/apis/apps/v1')) as unknown as OpenApi
      assert.match(document.openapi ?? '', /^3\.0/)
      const operation = document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch']
      expectMatch(operation, {
        'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
        'x-kubernetes-action': 'patch',
      })
      assert.ok(
        (operation?.['parameters'] as readonly { name?: string; in?: string }[]).some(
          ({ name, in: where }) => name === 'fieldValidation' && where === 'query',
        ),
      )
      const { content } = operation?.['requestBody'] as { content: object }
      for (const type of [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
      ])
        assert.ok(type in content, `no ${type}`)
    },
  },
  {
    id: 'server/openapi/schemas',
    rule: 'The schemas carry kinds, merge keys and list types.',
    async run(place) {
      const {
        components: { schemas },
      } = (await get(place, '/openapi/v3/apis/apps/v1')) as unknown as OpenApi
      expectMatch(schemas['io.k8s.api.apps.v1.Deployment'], {
        'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
        properties: { metadata: {}, spec: {}, status: {} },
      })
      expectMatch(schemas['io.k8s.api.core.v1.PodSpec'], {
        properties: {
          containers: {
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            'x-kubernetes-patch-merge-key': 'name',
            'x-kubernetes-patch-strategy': 'merge',
          },
        },
      })
    },
  },
  {
    id: 'server/openapi/descriptions',
    rule: 'Kinds, fields, operations and parameters have descriptions, and fields with fixed values list them.',
    async run(place) {
      const {
        paths,
        components: { schemas },
      } = (await get(place, '/openapi/v3/apis/apps/v1')) as unknown as DescribedDocument
      const own = Object.entries(schemas).filter(([name]) => name.startsWith('io.k8s.api.'))
      for (const [name, { description, properties = {} }] of own) {
        assert.ok(description, name)
        for (const [key, field] of Object.entries(properties)) assert.ok(field.description, `${name}.${key}`)
      }
      for (const [path, { parameters = [], ...operations }] of Object.entries(paths)) {
        for (const parameter of [...parameters, ...Object.values(operations).flatMap((one) => one.parameters ?? [])])
          assert.ok(parameter.description, `${path} ${parameter.name}`)
        for (const one of Object.values(operations)) assert.ok(one.description, path)
      }
      expectMatch(schemas['io.k8s.api.core.v1.PodSpec']?.properties, {
        affinity: { description: /./, allOf: [{ $ref: /Affinity$/ }] },
        restartPolicy: { description: /./, enum: ['Always', 'Never', 'OnFailure'] },
      })
    },
  },
  {
    id: 'server/openapi/v2-descriptions',
    rule: 'The v2 document has the texts that the tests of kubectl look for.',
    async run(place) {
      const { text } = await place.client.request('GET', '/openapi/v2', { accept: 'application/json' })
      for (const part of ['list of returned', 'List of services', 'Watch for changes to the described resources'])
        assert.ok(text.includes(part), part)
    },
  },
  {
    id: 'server/openapi/v2-inline-parameters',
    rule: 'A patch in the v2 document has `dryRun` and `fieldValidation` in place, where old kubectl looks for them.',
    async run(place) {
      const { paths } = (await get(place, '/openapi/v2')) as unknown as DescribedDocument
      const { patch } = paths['/api/v1/namespaces/{namespace}/pods/{name}'] ?? {}
      const names = patch?.parameters?.map(({ name }) => name) ?? []
      for (const name of ['dryRun', 'fieldValidation']) assert.ok(names.includes(name), name)
    },
  },
  {
    id: 'server/openapi/watch-paths',
    rule: 'The deprecated paths of watches are described as such.',
    async run(place) {
      const { paths } = (await get(place, '/openapi/v3/api/v1')) as unknown as OpenApi
      expectMatch(paths['/api/v1/watch/namespaces/{namespace}/pods/{name}']?.['get'], {
        operationId: 'watchCoreV1NamespacedPod',
        'x-kubernetes-action': 'watch',
      })
      expectMatch(paths['/api/v1/watch/pods']?.['get'], {
        operationId: 'watchCoreV1PodListForAllNamespaces',
        'x-kubernetes-action': 'watchlist',
      })
    },
  },
  {
    id: 'server/openapi/v3-etag',
    rule: 'A document has an ETag and supports 304; a URL with the hash is cacheable for long, and an outdated hash redirects.',
    async run(place) {
      const first = await place.client.request('GET', '/openapi/v3/apis/coordination.k8s.io/v1')
      assert.match(first.header('etag'), /^"[0-9A-F]+"$/)
      assert.equal(
        (
          await place.client.request('GET', '/openapi/v3/apis/coordination.k8s.io/v1', {
            headers: { 'if-none-match': first.header('etag') },
          })
        ).status,
        304,
      )
      const { paths } = (await get(place, '/openapi/v3')) as unknown as {
        paths: Readonly<Record<string, { serverRelativeURL: string }>>
      }
      const current = paths['apis/coordination.k8s.io/v1']?.serverRelativeURL ?? ''
      assert.match((await place.client.request('GET', current)).header('cache-control'), /immutable/)
      const stale = await place.client.request('GET', '/openapi/v3/apis/coordination.k8s.io/v1?hash=OLD')
      assert.equal(stale.status, 301)
      assert.equal(stale.header('location'), current)
    },
  },
  {
    id: 'server/openapi/v3-missing',
    rule: 'A document of a group that does not exist is a 404.',
    async run(place) {
      assert.equal((await place.client.request('GET', '/openapi/v3/apis/judge.example.com/v1')).status, 404)
    },
  },
  {
    id: 'server/openapi/v2',
    rule: '`/openapi/v2` is one JSON document with an ETag that supports 304.',
    async run(place) {
      const answer = await place.client.request('GET', '/openapi/v2', { accept: 'application/json' })
      const document = ok(answer, 200) as unknown as OpenApi
      assert.equal(document.swagger, '2.0')
      assert.ok('io.k8s.api.core.v1.ConfigMap' in document.definitions)
      assert.ok('/api/v1/namespaces/{namespace}/configmaps/{name}' in document.paths)
      assert.match(answer.header('etag'), /^"[0-9A-F]+"$/)
      assert.equal(
        (await place.client.request('GET', '/openapi/v2', { headers: { 'if-none-match': answer.header('etag') } }))
          .status,
        304,
      )
    },
  },
]

export const discoveryCases: readonly ServerCase[] = [...legacy, ...modern, ...openApi]
