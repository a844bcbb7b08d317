import { describe, expect, test } from 'vitest'
import { declareKind, defineKind, forbidden } from '#api'
import type { ControllerDeclaration, Verb } from '#controller'
import { dependsOn, type DependsOnOptions } from './depends-on.ts'
import { app, route, TestInformers } from './informers.fixture.ts'
import { GatewayReferenceGrant } from './reference-grants.ts'

const App = declareKind({ group: 'app.test.dev', version: 'v1', kind: 'App' })
const Route = defineKind({
  group: 'route.test.dev',
  version: 'v1',
  kind: 'Route',
  spec: { type: 'object' },
  status: { type: 'object', properties: {} },
  reports: ['dependencies'],
})
const Plain = defineKind({
  group: 'route.test.dev',
  version: 'v1',
  kind: 'Plain',
  spec: { type: 'object' },
  status: { type: 'object', properties: {} },
})
const none = (): undefined => undefined

function rulesOf(verb: Verb, more: object = {}): string[] {
  const declaration = { for: Route, verbs: [verb], ...more } as unknown as ControllerDeclaration
  return (verb.adds?.(declaration).rbac ?? []).map(
    ({ apiGroups, resources, verbs }) => `${apiGroups.join()}/${resources.join()}: ${verbs.join()}`,
  )
}

describe('the permissions of dependsOn', () => {
  test('are to read what is depended on, and nothing more', () => {
    expect(rulesOf(dependsOn(App, none))).toEqual(['app.test.dev/apps: get,list,watch'])
    expect(rulesOf(dependsOn({ group: 'app.test.dev', kind: 'Proxy' }, none))).toEqual([
      'app.test.dev/proxies: get,list,watch',
    ])
    expect(rulesOf(dependsOn('any', none))).toEqual([])
  })

  test('include what annotations, grants and Usages need', () => {
    expect(rulesOf(dependsOn(App, none, { annotate: true }))).toEqual(['app.test.dev/apps: get,list,watch,patch'])
    expect(rulesOf(dependsOn(App, none, { protect: 'finalizer' }))).toEqual(['app.test.dev/apps: get,list,watch,patch'])
    expect(rulesOf(dependsOn(App, none, { protect: 'whileInUse' }))).toEqual([
      'app.test.dev/apps: get,list,watch',
      'evenkeel.dev/usages: get,list,watch,create,patch,delete',
      'route.test.dev/routes/finalizers: update',
    ])
    expect(rulesOf(dependsOn(App, none, { crossNamespace: 'granted', grants: GatewayReferenceGrant }))).toEqual([
      'app.test.dev/apps: get,list,watch',
      'gateway.networking.k8s.io/referencegrants: get,list,watch',
    ])
  })
})

describe('dependsOn', () => {
  test('needs a cleanup only where it writes on other objects, and one for all declarations of a controller', () => {
    const [plain, marking, holding] = [
      dependsOn(App, none),
      dependsOn(App, none, { annotate: true }),
      dependsOn(App, none, { protect: 'finalizer' }),
    ]
    const declaration = { for: Route, verbs: [plain, marking, holding] } as unknown as ControllerDeclaration
    expect(
      [plain, marking, holding].map((verb) => verb.adds?.(declaration).cleanup?.map(({ finalizer }) => finalizer)),
    ).toEqual([undefined, ['route.test.dev/dependencies'], undefined])
  })

  test.each([
    ['gate', { gate: 'oncePerGeneration' }],
    ['annotate or protect', { annotate: true }],
    ['annotate or protect', { protect: 'finalizer' }],
  ] as const)('refuses %s where the status has no room for a record', (what, options) => {
    const verb = dependsOn(App, none, options)
    expect(() => verb.adds?.({ for: Plain, verbs: [verb] } as unknown as ControllerDeclaration)).toThrow(
      `dependsOn: ${what} needs status.dependencies of Plain`,
    )
  })

  test('refuses what cannot be', () => {
    expect(() => dependsOn(App, none, { keepLastGood: true })).toThrow('keepLastGood needs a contract')
    expect(() => dependsOn([], none)).toThrow('dependsOn needs at least one kind')
    expect(() => rulesOf(dependsOn(App, none), { reconcileKey: none })).toThrow('use reconcile instead of reconcileKey')
  })

  test('says what to do when it is asked by a controller that does not have it', async () => {
    await expect(dependsOn(App, none).resolve({ signal: new AbortController().signal })).rejects.toThrow(
      'dependsOn(...) is not a verb of this controller',
    )
  })
})

test('dependsOn brings the kind of its grants where they are ours, and the kinds of usages', () => {
  const kinds = (options: object): unknown[] => (dependsOn(App, none, options).kinds ?? []).map(({ kind }) => kind)
  expect(kinds({})).toEqual([])
  expect(kinds({ crossNamespace: 'granted' })).toEqual(['ReferenceGrant'])
  expect(kinds({ crossNamespace: 'granted', grants: GatewayReferenceGrant })).toEqual([])
  expect(kinds({ protect: 'whileInUse' })).toEqual(['Usage', 'ClusterUsage'])
})

/** One run of a Route on a cache with these Apps: its conditions, what resolve says, and when it runs again. */
async function runOf(
  names: readonly string[],
  { options = {}, client = {} }: { options?: DependsOnOptions<never>; client?: object } = {},
): Promise<{ conditions: unknown[]; error: unknown; result: unknown }> {
  const object = route('r', ...names.map((name) => ({ name })))
  const verb = dependsOn(App, () => object.spec.to, options as never)
  const informers = new TestInformers()
  const { cache, clock } = informers
  informers.of(App).objects.push(app())
  const declaration = { for: Route, verbs: [verb] } as unknown as ControllerDeclaration
  for (const source of verb.adds?.(declaration).sources ?? []) source.start(informers.context)
  const conditions: unknown[] = []
  const status = { set: () => undefined, condition: (...condition: unknown[]) => conditions.push(condition) }
  const base = { clock, client, signal: new AbortController().signal } as never
  const run = { controller: 'route', kind: Route, declaration, object, isCleanup: false, cache, status }
  const { start, finish } = verb.extend(base, run as never)
  await start?.({ closed: undefined })
  const error: unknown = await verb.resolve(base).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { conditions, error, result: await finish?.() }
}

describe('a run with dependsOn', () => {
  test('stops with the first five of the problems', async () => {
    const { error } = await runOf(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(String(error).split('; ')).toHaveLength(5)
    expect((await runOf(['web'])).error).toBeUndefined()
    expect(String((await runOf(['web', 'a'])).error)).toContain('App a/a: NotFound: there is no such object')
  })

  const annotating = (apply: () => Promise<unknown>): Parameters<typeof runOf>[1] => ({
    options: { annotate: true },
    client: { apply, subresource: () => ({ patch: () => Promise.resolve() }) },
  })

  test('says that it has annotated its dependencies, and waits for nothing', async () => {
    const { conditions, result } = await runOf(
      ['web'],
      annotating(() => Promise.resolve()),
    )
    expect(conditions).toContainEqual(['DependenciesAnnotated', true, {}])
    expect(result).toBeUndefined()
  })

  test('says why it cannot annotate a dependency, and tries again after five minutes', async () => {
    const refused = forbidden(undefined, 'not for you')
    const { conditions, result, error } = await runOf(
      ['web'],
      annotating(() => Promise.reject(refused)),
    )
    const message = 'App a/web: forbidden: not for you'
    expect(conditions).toContainEqual(['DependenciesAnnotated', false, { reason: 'AnnotateFailed', message }])
    expect([result, error]).toEqual([{ afterMs: 300_000 }, undefined])
  })

  test('says nothing about annotations when it only protects', async () => {
    const client = {
      patch: () => Promise.resolve(),
      subresource: () => ({ patch: () => Promise.resolve() }),
    }
    const { conditions } = await runOf(['web'], { options: { protect: 'finalizer' }, client })
    expect(conditions).toEqual([['DependenciesReady', true, { reason: 'AllReady', message: '' }]])
  })
})
