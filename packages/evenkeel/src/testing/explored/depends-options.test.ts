/** What dependencies can be told: optional, gates, what was last good, kinds by reference, many referers. */
import { describe, expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ObjectOf } from '#api'
import type { ControllerDeclaration } from '#controller'
import { dependsOn } from '#verbs'
import {
  App,
  createApp,
  createRoute,
  makeReady,
  namespace,
  refsOf,
  Route,
  startWorld,
  verdictOn,
} from './depends.fixture.ts'
import type { AppObject, RouteObject } from './depends.fixture.ts'
import { ProgramWorld } from './program.fixture.ts'

const contract = {
  path: 'status.address',
  schema: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } },
} as const
const at = (name: string): { name: string; namespace: string } => ({ name, namespace })

describe('dependsOn', () => {
  test('goes on without what is optional, and says that it is missing', async () => {
    const seen: string[] = []
    const app = dependsOn(App, refsOf, { optional: true })
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [app],
      async reconcile(_, context) {
        const found = await app.find(context)
        seen.push(
          `${(await app.resolve(context)).length} of ${found.map(({ isReady, reason = 'fine' }) => `${isReady} ${reason}`).join()}`,
        )
      },
    }
    await using world = await startWorld([route])
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await verdictOn(world.client)) === 'True AllReady')
    expect(seen.at(-1)).toBe('0 of false NotFound')
    expect((await world.client.get(Route, at('r'))).status?.dependencies).toMatchObject([{ state: 'Missing' }])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await world.until(() => seen.at(-1) === '1 of true fine')
  })

  test('oncePerGeneration: who was ready once may be unready until the spec changes', async () => {
    const seen: string[] = []
    const app = dependsOn(App, refsOf, { gate: 'oncePerGeneration' })
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [app],
      async reconcile({ metadata }, context) {
        await app.resolve(context)
        seen.push(`went on with generation ${metadata.generation}`)
      },
    }
    await using world = await startWorld([route])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await verdictOn(world.client)) === 'True AllReady')
    seen.length = 0
    await makeReady(world.client, 'web', { isReady: false })
    await world.until(async () => (await verdictOn(world.client)) === 'False NotReady')
    expect(new Set(seen)).toEqual(new Set(['went on with generation 1']))
    seen.length = 0
    await world.client.patch(await world.client.get(Route, at('r')), { spec: { to: [{ name: 'web', namespace }] } })
    await world.advance(5000)
    expect(seen).toEqual([])
    await makeReady(world.client, 'web')
    await world.until(() => seen.includes('went on with generation 2'))
  })

  test('keepLastGood: a reconcile goes on with the contract as it last was, also when the object has gone', async () => {
    const app = dependsOn(App, refsOf, { contract, keepLastGood: true })
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [app],
      async reconcile(_, context) {
        const [found] = await app.resolve(context)
        context.status.set({ host: `${found?.contract.host ?? ''} ${found?.object === undefined ? 'kept' : 'seen'}` })
      },
    }
    await using world = await startWorld([route])
    const host = async (): Promise<string | undefined> => (await world.client.get(Route, at('r'))).status?.host
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web', { address: { host: 'old' } })
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await host()) === 'old seen')
    await world.client.delete(await world.client.get(App, at('web')))
    await world.until(async () => (await host()) === 'old kept')
    expect(await verdictOn(world.client)).toBe('False NotFound')
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web', { address: { host: 'new' } })
    await world.until(async () => (await host()) === 'new seen')
  })

  test.each([
    ['an expression', 'object.status.address.host.startsWith("web")'],
    [
      'a function',
      (app: AppObject) => (app.status?.address as { host?: string } | undefined)?.host?.startsWith('web') === true,
    ],
  ] as const)('ready: %s says when, instead of conditions', async (_, ready) => {
    await using world = await startWorld([
      {
        for: Route,
        verbs: [dependsOn(App, refsOf, { ready: ready as never })],
        reconcile: () => undefined,
      } as ControllerDeclaration<typeof Route>,
    ])
    await createApp(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await verdictOn(world.client)) === 'False NotReady')
    await makeReady(world.client, 'web', { address: { host: 'other' } })
    await world.advance(5000)
    expect(await verdictOn(world.client)).toBe('False NotReady')
    await makeReady(world.client, 'web', { address: { host: 'web.example.com' }, isReady: false })
    await world.until(async () => (await verdictOn(world.client)) === 'True AllReady')
  })

  test('Forbidden: what may not be read is said to be so, and resolves when it may', async () => {
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [dependsOn(App, refsOf)],
      reconcile: () => undefined,
    }
    await using world = await ProgramWorld.start(route, {
      for: App,
      reconcile: () => undefined,
    } as ControllerDeclaration<typeof App>)
    let isAllowed = false
    world.between = async (request, next) =>
      !isAllowed && request.target.includes('/apps')
        ? {
            status: 403,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(
              JSON.stringify({
                kind: 'Status',
                apiVersion: 'v1',
                status: 'Failure',
                reason: 'Forbidden',
                code: 403,
                message: 'apps.app.test.dev is forbidden: User "eve" cannot list resource "apps"',
              }),
            ),
          }
        : next(request)
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    world.run()
    await world.settle(5000)
    expect(await verdictOn(world.client)).toBe('False Forbidden')
    isAllowed = true
    await world.settle(120_000)
    expect(await verdictOn(world.client)).toBe('True AllReady')
  })

  test('any: kinds are followed while a reference names them, and left with the last one', async () => {
    const any = dependsOn('any', refsOf)
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [any],
      async reconcile(_, context) {
        context.status.set({
          host: (await any.resolve(context)).map(({ object }) => `${object.kind} ${object.metadata.name}`).join(),
        })
      },
    }
    await using world = await startWorld([route])
    const { client } = world
    const host = async (): Promise<string | undefined> => (await client.get(Route, at('r'))).status?.host
    const followed = (): string[] => [...new Set(world.manager?.cache.states.map(({ kind }) => kind))].sort()
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: at('settings') })
    await createRoute(
      client,
      'r',
      { kind: 'ConfigMap', group: '', name: 'settings' },
      { kind: 'Namespace', group: '', name: namespace },
    )
    await world.until(async () => (await host()) === 'ConfigMap settings,Namespace default')
    expect(followed()).toEqual(['ConfigMap', 'Namespace', 'Route'])
    await client.patch(await client.get(Route, at('r')), {
      spec: { to: [{ kind: 'Namespace', group: '', name: namespace }] },
    })
    await world.until(async () => (await host()) === 'Namespace default' && followed().length === 2)
    await createRoute(client, 's', { kind: 'Nothing', group: 'test.dev', name: 'x' }, { name: 'x' })
    await world.until(async () => (await verdictOn(client, 's')) === 'False Forbidden')
    await client.delete(await client.get(Route, at('r')))
    await world.until(() => followed().length === 1)
  })

  test('a reference into another namespace is denied unless something else is said', async () => {
    for (const [crossNamespace, verdict] of [
      ['deny', 'False NotGranted'],
      ['allow', 'False NotFound'],
    ] as const) {
      const app = dependsOn(App, refsOf, { crossNamespace })
      await using world = await startWorld([
        {
          for: Route,
          verbs: [app],
          reconcile: async (_: RouteObject, context: never) => {
            await app.resolve(context)
          },
        },
      ])
      await createRoute(world.client, 'r', { name: 'web', namespace: 'other' })
      await world.until(async () => (await verdictOn(world.client)) === verdict)
    }
  })

  test('two declarations of one controller share the condition and the list, and steady state writes nothing', async () => {
    const [app, map] = [
      dependsOn(App, refsOf),
      dependsOn({ group: '', kind: 'ConfigMap' }, (route: RouteObject) => `${route.metadata.name}-settings`),
    ]
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [app, map],
      async reconcile(_, context) {
        await app.resolve(context)
        await map.resolve(context)
      },
    }
    await using world = await startWorld([route])
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await verdictOn(world.client)) === 'False NotFound')
    const message = (await world.client.get(Route, at('r'))).status?.conditions?.[0]?.message
    expect(message).toBe(
      'ConfigMap default/r-settings: NotFound: there is no such object; App default/web: NotFound: there is no such object',
    )
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await world.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: at('r-settings') })
    await world.until(async () => (await verdictOn(world.client)) === 'True AllReady')
    const before = await world.client.get(Route, at('r'))
    expect(before.status?.dependencies?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'ConfigMap r-settings',
      'App web',
    ])
    await world.advance(60_000)
    expect((await world.client.get(Route, at('r'))).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
  })

  test('A23 one event of an object with 5,000 referers runs each of them once', async () => {
    const Leaf = defineKind({
      group: 'leaf.test.dev',
      version: 'v1',
      kind: 'Leaf',
      spec: { type: 'object', properties: { on: { type: 'string' } } },
    })
    const runs = new Map<string, number>()
    const on = dependsOn({ group: '', kind: 'ConfigMap' }, (leaf: ObjectOf<typeof Leaf>) => leaf.spec.on)
    const leaves = {
      for: Leaf,
      verbs: [on],
      concurrency: 50,
      reconcile: async ({ metadata: { name } }: { metadata: { name: string } }, context: never) => {
        runs.set(name, (runs.get(name) ?? 0) + 1)
        await on.resolve(context)
      },
    }
    await using world = await startWorld([leaves], { builtin: false })
    const { client } = world
    const map = await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: at('shared') })
    for (let begin = 0; begin < 5000; begin += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          client.create(Leaf, { metadata: at(`leaf-${begin + index}`), spec: { on: 'shared' } }),
        ),
      )
    await world.until(() => runs.size === 5000, { timeoutMs: 60_000 })
    await world.advance(1000)
    runs.clear()
    await client.patch(map, { data: { changed: 'yes' } })
    await world.until(() => runs.size === 5000, { timeoutMs: 60_000 })
    await world.advance(1000)
    expect(new Set(runs.values())).toEqual(new Set([1]))
  }, 120_000)
})
