/** Dependencies on a whole plane: who waits, who is told, what is said. */
import { describe, expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { dependsOn, ReferenceGrant } from '#verbs'
import type { DependsOnOptions } from '#verbs'
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

interface Seen {
  readonly runs: string[]
  readonly resolved: string[]
}

function routing(
  options: DependsOnOptions<AppObject, never> = {},
  seen: Seen = { runs: [], resolved: [] },
): ControllerDeclaration<typeof Route> {
  const app = dependsOn(App, refsOf, options)
  return {
    for: Route,
    verbs: [app],
    async reconcile(route, context) {
      seen.runs.push(route.metadata.name)
      const apps = await app.resolve(context)
      seen.resolved.push(`${route.metadata.name}: ${apps.map(({ object }) => object.metadata.uid).join()}`)
      context.status.set({ host: apps.map(({ object }) => object.metadata.name).join() })
    },
  }
}

const seeing = (): Seen => ({ runs: [], resolved: [] })

describe('dependsOn', () => {
  test('A16 a referer that is there first says NotFound, and runs by the event when its dependency comes', async () => {
    await using world = await startWorld([routing()])
    const { client } = world
    await createRoute(client, 'r', 'web')
    await world.until(async () => (await verdictOn(client)) === 'False NotFound')
    expect((await client.get(Route, { namespace, name: 'r' })).status?.dependencies).toMatchObject([
      { group: 'app.test.dev', kind: 'App', namespace, name: 'web', state: 'Missing', reason: 'NotFound' },
    ])
    const before = world.clock.monotonic()
    await createApp(client, 'web')
    await world.until(async () => (await verdictOn(client)) === 'False NotReady')
    await makeReady(client, 'web')
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
    expect(world.clock.monotonic() - before).toBeLessThan(100)
    expect((await client.get(Route, { namespace, name: 'r' })).status).toMatchObject({
      host: 'web',
      dependencies: [{ name: 'web', state: 'Ready', uid: expect.any(String) as string, apiVersion: 'app.test.dev/v1' }],
    })
  })

  test('A17 a change of a dependency runs all of its referers and no others', async () => {
    const seen = seeing()
    await using world = await startWorld([routing({}, seen)])
    const { client } = world
    for (const name of ['x', 'y']) await createApp(client, name)
    await createRoute(client, 'a', 'x')
    await createRoute(client, 'b', 'x', 'y')
    await createRoute(client, 'c', 'y')
    await world.until(
      async () =>
        (await verdictOn(client, 'a')) !== '' &&
        (await verdictOn(client, 'b')) !== '' &&
        (await verdictOn(client, 'c')) !== '',
    )
    await world.advance(1000)
    seen.runs.length = 0
    await makeReady(client, 'x')
    await world.until(async () => (await verdictOn(client, 'a')) === 'True AllReady')
    await world.advance(1000)
    expect([...new Set(seen.runs)].sort()).toEqual(['a', 'b'])
  })

  test('A18 a reference that moved from X to Y is told of Y and no longer of X', async () => {
    const seen = seeing()
    await using world = await startWorld([routing({}, seen)])
    const { client } = world
    for (const name of ['x', 'y']) await createApp(client, name)
    await createRoute(client, 'r', 'x')
    await world.until(async () => (await verdictOn(client)) === 'False NotReady')
    await client.patch(await client.get(Route, { namespace, name: 'r' }), { spec: { to: [{ name: 'y' }] } })
    await world.until(
      async () => (await client.get(Route, { namespace, name: 'r' })).status?.dependencies?.[0]?.name === 'y',
    )
    await world.advance(1000)
    seen.runs.length = 0
    await makeReady(client, 'x')
    await world.advance(1000)
    expect(seen.runs).toEqual([])
    await makeReady(client, 'y')
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
  })

  test('A19 a dependency that was made again under its name is another one', async () => {
    const seen = seeing()
    await using world = await startWorld([routing({}, seen)])
    const { client } = world
    await createApp(client, 'web')
    await makeReady(client, 'web')
    await createRoute(client, 'r', 'web')
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
    const [first] = (await client.get(Route, { namespace, name: 'r' })).status?.dependencies ?? []
    await client.delete(await client.get(App, { namespace, name: 'web' }))
    await world.until(async () => (await verdictOn(client)) === 'False NotFound')
    await createApp(client, 'web')
    await makeReady(client, 'web')
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
    const [second] = (await client.get(Route, { namespace, name: 'r' })).status?.dependencies ?? []
    expect(second?.uid).toBe((await client.get(App, { namespace, name: 'web' })).metadata.uid)
    expect(second?.uid).not.toBe(first?.uid)
    expect(seen.resolved.at(-1)).toBe(`r: ${second?.uid ?? ''}`)
  })

  test('A20 a reference into another namespace is not looked at without a grant, and resolves with one', async () => {
    await using world = await startWorld([routing({ crossNamespace: 'granted' })], {
      kinds: [App, Route, ReferenceGrant],
    })
    const { client } = world
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    await createApp(client, 'web', 'other')
    await makeReady(client, 'web', { within: 'other' })
    await createRoute(client, 'r', { name: 'web', namespace: 'other' })
    await world.until(async () => (await verdictOn(client)) === 'False NotGranted')
    const [line] = (await client.get(Route, { namespace, name: 'r' })).status?.dependencies ?? []
    expect(line).not.toHaveProperty('uid')
    const grant = await client.create(ReferenceGrant, {
      metadata: { name: 'routes', namespace: 'other' },
      spec: {
        from: [{ group: 'route.test.dev', kind: 'Route', namespace }],
        to: [{ group: 'app.test.dev', kind: 'App' }],
      },
    })
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
    await client.delete(grant)
    await world.until(async () => (await verdictOn(client)) === 'False NotGranted')
  })

  test('A21 objects that wait for each other in a circle all say Cycle, and the queue is idle', async () => {
    const runs: string[] = []
    const needed = dependsOn(App, (app: AppObject) => app.spec.needs)
    const apps = {
      for: App,
      verbs: [needed],
      async reconcile(app: AppObject, context: never) {
        runs.push(app.metadata.name)
        await needed.resolve(context)
      },
    }
    await using world = await startWorld([apps])
    const { client } = world
    const needs = (name: string, other: string): Promise<unknown> =>
      client.create(App, { metadata: { name, namespace }, spec: { needs: other } })
    await Promise.all([needs('a', 'b'), needs('b', 'c'), needs('c', 'a'), needs('self', 'self'), needs('outside', 'a')])
    const reasonOf = async (name: string): Promise<string | undefined> =>
      (await client.get(App, { namespace, name })).status?.conditions?.find(({ type }) => type === 'DependenciesReady')
        ?.reason
    await world.until(async () =>
      (await Promise.all(['a', 'b', 'c', 'self'].map(reasonOf))).every((reason) => reason === 'Cycle'),
    )
    await world.advance(1000)
    expect(await reasonOf('outside')).not.toBe('Cycle')
    expect((await client.get(App, { namespace, name: 'a' })).status?.dependencies?.[0]?.message).toContain(
      'App default/a → App default/b → App default/c → App default/a',
    )
    runs.length = 0
    await world.advance(60_000)
    expect(runs).toEqual([])
    await client.patch(await client.get(App, { namespace, name: 'c' }), { spec: { needs: null } })
    await world.until(async () => !(await Promise.all(['a', 'b', 'c'].map(reasonOf))).includes('Cycle'))
  })

  test('A22 a kind that is not installed is said to be missing, and resolves without a restart when it comes', async () => {
    const Late = defineKind({ group: 'late.test.dev', version: 'v1', kind: 'Late', spec: { type: 'object' } })
    const late = dependsOn(Late, (route: RouteObject) => route.spec.to ?? [])
    const loose = dependsOn({ group: 'late.test.dev', kind: 'Late' }, (route: RouteObject) => route.spec.to ?? [])
    const controllers = [late, loose].map((verb, index) => ({
      name: `route-${index}`,
      for: Route,
      verbs: [verb],
      reconcile: async (_: RouteObject, context: never) => {
        await verb.resolve(context)
      },
    }))
    for (const controller of controllers) {
      await using world = await startWorld([controller])
      const { client } = world
      await createRoute(client, 'r', 'x')
      await world.until(async () => (await verdictOn(client)) === 'False KindNotInstalled')
      const { installKinds } = await import('#server')
      await installKinds(world.plane.transport, [Late], { clock: world.clock })
      await world.until(async () => (await verdictOn(client)) === 'False NotFound', { timeoutMs: 120_000 })
      await client.create(Late, { metadata: { name: 'x', namespace }, spec: {} })
      await world.until(async () => (await verdictOn(client)) === 'True AllReady', { timeoutMs: 1000 })
    }
  })

  test('A38 a contract is missing, then invalid with its path, then right', async () => {
    const contract = {
      path: 'status.address',
      schema: {
        type: 'object',
        required: ['host', 'port'],
        properties: { host: { type: 'string', pattern: '^[a-z.]+$' }, port: { type: 'integer', minimum: 1 } },
      },
    } as const
    const app = dependsOn(App, refsOf, { contract })
    const route: ControllerDeclaration<typeof Route> = {
      for: Route,
      verbs: [app],
      async reconcile(_, context) {
        const found = await app.one(context)
        if (found) context.status.set({ host: `${found.contract.host}:${found.contract.port}` })
      },
    }
    await using world = await startWorld([route])
    const { client } = world
    await createApp(client, 'web')
    await makeReady(client, 'web')
    await createRoute(client, 'r', 'web')
    await world.until(async () => (await verdictOn(client)) === 'False ContractMissing')
    await makeReady(client, 'web', { address: { host: 'web.local', port: 'eighty' } })
    await world.until(async () => (await verdictOn(client)) === 'False ContractInvalid')
    const message = (await client.get(Route, { namespace, name: 'r' })).status?.conditions?.find(
      ({ type }) => type === 'DependenciesReady',
    )?.message
    expect(message).toContain('status.address.port')
    await makeReady(client, 'web', { address: { host: 'web.local', port: 80 } })
    await world.until(async () => (await verdictOn(client)) === 'True AllReady')
    expect((await client.get(Route, { namespace, name: 'r' })).status?.host).toBe('web.local:80')
  })
})
