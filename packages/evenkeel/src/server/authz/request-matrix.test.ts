/**
 * Row 9 as a matrix: scopes, paths and verbs. What storage touches for a call is what the authorizer was asked about,
 * never another group, resource, namespace or name. The authorizer allows everything, and both are overheard.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { openMemoryStore, type Store } from '#store'
import type { AuthorizationAttributes } from './authorizer.ts'
import { startCompany, type Company } from './users.fixture.ts'

interface Touched {
  readonly how: 'read' | 'write'
  readonly key: string
}

const heard = { questions: [] as AuthorizationAttributes[], touched: [] as Touched[], isOn: false }
let company: Company
let inner: Store

/** A store that is overheard while a call is under way. */
function overheard(store: Store): Store {
  const note = (how: Touched['how'], key: string): void => {
    if (heard.isOn) heard.touched.push({ how, key })
  }
  return new Proxy(store, {
    get(target, property: keyof Store) {
      const member = target[property] as (...parameters: unknown[]) => unknown
      return (...parameters: unknown[]) => {
        if (property === 'get' || property === 'range' || property === 'watch') note('read', String(parameters[0]))
        if (property === 'commit') note('write', (parameters[0] as { key: string }).key)
        return member.apply(target, parameters)
      }
    },
  })
}

function definition(plural: string, kind: string, scope: string): object {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  }
  return {
    metadata: { name: `${plural}.test.dev` },
    spec: {
      group: 'test.dev',
      scope,
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}

beforeAll(async () => {
  inner = openMemoryStore({ clock: new SimulatedClock() })
  company = await startCompany({
    store: overheard(inner),
    authorization(question) {
      if (heard.isOn) heard.questions.push(question)
      return { allowed: true, reason: '' }
    },
  })
  const { admin } = company
  for (const body of [definition('widgets', 'Widget', 'Namespaced'), definition('gadgets', 'Gadget', 'Cluster')])
    await admin('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body)
  for (const name of ['a', 'b']) await admin('POST', '/api/v1/namespaces', { metadata: { name } })
  for (const namespace of ['a', 'b']) {
    for (const name of ['x', 'y']) {
      await admin('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } })
      await admin('POST', `/apis/test.dev/v1/namespaces/${namespace}/widgets`, {
        apiVersion: 'test.dev/v1',
        kind: 'Widget',
        metadata: { name },
      })
    }
  }
  for (const name of ['x', 'a'])
    await admin('POST', '/apis/test.dev/v1/gadgets', { apiVersion: 'test.dev/v1', kind: 'Gadget', metadata: { name } })
})

afterAll(async () => {
  await company.server.server.stop()
  await inner.close()
})

const places = ['configmaps', 'widgets', 'gadgets', 'namespaces', 'nodes', 'clusterroles', 'roles'] as const
const roots: Readonly<Record<string, string>> = {
  widgets: '/apis/test.dev/v1',
  gadgets: '/apis/test.dev/v1',
  clusterroles: '/apis/rbac.authorization.k8s.io/v1',
  roles: '/apis/rbac.authorization.k8s.io/v1',
}
const forms = [
  '',
  '/x',
  '/x/status',
  '/',
  '//x',
  '/.',
  '/..',
  '/%2e%2e',
  '/a%2Fb',
  '/x%00',
  '?fieldSelector=metadata.name%3Dx',
  '?fieldSelector=metadata.name%3Dx,metadata.name%3Dy',
  '?fieldSelector=metadata.name!%3Dx',
  '?fieldSelector=metadata.namespace%3Db',
  '?fieldSelector=metadata.name%3Dx%2Fy',
]
const prefixes = [
  '',
  '/namespaces/a',
  '/namespaces/nowhere',
  '/namespaces/a%2Fb',
  '/namespaces/..',
  '/watch',
  '/watch/namespaces/a',
  '/namespaces/a/namespaces/b',
  '/namespaces//a',
]
const verbs = ['GET', 'HEAD', 'WATCH', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'OPTIONS']
const bodies: Readonly<Record<string, object>> = {
  POST: { metadata: { generateName: 'new-' } },
  PUT: { metadata: { name: 'x' } },
  PATCH: { metadata: { labels: { a: 'b' } } },
  APPLY: { metadata: { name: 'x' } },
}
const kinds: Readonly<Record<string, object>> = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap' },
  widgets: { apiVersion: 'test.dev/v1', kind: 'Widget' },
  gadgets: { apiVersion: 'test.dev/v1', kind: 'Gadget' },
  namespaces: { apiVersion: 'v1', kind: 'Namespace' },
  nodes: { apiVersion: 'v1', kind: 'Node' },
  clusterroles: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  roles: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
}

async function overhear(verb: string, plural: string, target: string): Promise<void> {
  Object.assign(heard, { questions: [], touched: [], isOn: true })
  const caller = company.as('u')
  const watching = `${target}${target.includes('?') ? '&' : '?'}watch=1&timeoutSeconds=1`
  const body = bodies[verb] && { ...kinds[plural], ...bodies[verb] }
  const path =
    verb === 'WATCH'
      ? watching
      : verb === 'APPLY'
        ? `${target}${target.includes('?') ? '&' : '?'}fieldManager=t`
        : target
  // A deletion for show: the world stays as it is for the next.
  await caller(
    verb === 'WATCH' ? 'GET' : verb,
    verb === 'DELETE' ? `${path}${path.includes('?') ? '&' : '?'}dryRun=All` : path,
    body,
  )
  heard.isOn = false
}

/** Namespace and name that a key is about. */
function partsOf(key: string): { readonly group: string; readonly plural: string; readonly rest: readonly string[] } {
  const [, , group = '', plural = '', ...rest] = key.split('/').map(decodeURIComponent)
  return { group: group === 'core' ? '' : group, plural, rest }
}

const clusterScoped: ReadonlySet<string> = new Set([
  'gadgets',
  'namespaces',
  'nodes',
  'clusterroles',
  'customresourcedefinitions',
])

function isAskedFor({ how, key }: Touched, questions: readonly AuthorizationAttributes[]): boolean {
  const { group, plural, rest } = partsOf(key)
  return questions.some(({ resourcePath: place, verb }) => {
    if (place === undefined) return false
    // Whether a namespace is there is looked at for who may create in it.
    if (how === 'read' && group === '' && plural === 'namespaces' && rest[0] === place.namespace && verb !== 'get')
      return true
    if (group !== place.group || plural !== place.resource) return false
    const isChange = !['get', 'list', 'watch'].includes(verb)
    if (how === 'write' && !isChange) return false
    if (clusterScoped.has(plural))
      return (place.namespace === '' || place.namespace === place.name) && fits(rest[0], place.name, verb)
    return (place.namespace === '' ? !isChange : rest[0] === place.namespace) && fits(rest[1], place.name, verb)
  })
}

/** A name is that name; a collection whose selector names one may be read as a whole and is filtered. */
function fits(key: string | undefined, name: string, verb: string): boolean {
  if (name === '' || verb === 'list' || verb === 'watch') return true
  return key === name || (verb === 'create' && key !== undefined)
}

test.each(places)(
  'row 9: storage touches what was asked about, and nothing else: %s',
  async (plural) => {
    const root = roots[plural] ?? '/api/v1'
    let touched = 0
    for (const prefix of prefixes) {
      for (const form of forms) {
        for (const verb of verbs) {
          const target = `${root}${prefix}/${plural}${form}`
          await overhear(verb, plural, target)
          touched += heard.touched.length
          const strayed = heard.touched.filter((one) => !isAskedFor(one, heard.questions))
          expect(
            strayed,
            `${verb} ${target}, asked ${JSON.stringify(heard.questions.map(({ verb: asked, resourcePath: place, path }) => ({ asked, place, path })))}`,
          ).toEqual([])
        }
      }
    }
    expect(touched).toBeGreaterThan(50)
  },
  30_000,
)

test('row 9: one object of another namespace, kind or scope is out of reach', async () => {
  const caller = company.as('u')
  const lost = [
    '/api/v1/namespaces/a/namespaces/b',
    '/apis/test.dev/v1/namespaces/a/gadgets/x',
    '/apis/test.dev/v1/widgets/x',
    '/api/v1/namespaces/a/nodes/x',
    '/api/v1/configmaps/x',
    '/api/v1/namespaces/a%2F..%2Fb/configmaps/x',
    '/api/v1/namespaces/a/configmaps/..%2F..%2Fb%2Fx',
    '/apis/test.dev/v1/namespaces/a/configmaps/x',
    '/api/v1/namespaces/a/widgets/x',
  ]
  for (const target of lost) expect((await caller('GET', target)).status, target).toBeGreaterThanOrEqual(400)
})
