/** What dependencies write on other objects, and take back: marks, Usages, finalizers. */
import { describe, expect, test } from 'vitest'
import { defineKind, type KubeObject, type ObjectOf } from '#api'
import type { ControllerDeclaration } from '#controller'
import { ClusterUsage, dependsOn, Usage, type DependsOnOptions } from '#verbs'
import type { TestPlane } from '../live/test-plane.ts'
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
  type AppObject,
} from './depends.fixture.ts'

function routing(
  options: DependsOnOptions<AppObject, never>,
  more: Partial<ControllerDeclaration<typeof Route>> = {},
): ControllerDeclaration<typeof Route> {
  const app = dependsOn(App, refsOf, options)
  return {
    for: Route,
    verbs: [app],
    reconcile: async (_, context) => {
      await app.resolve(context)
    },
    ...more,
  }
}

const app = (world: TestPlane, name = 'web') => world.client.get(App, { namespace, name })
const route = (world: TestPlane, name = 'r') => world.client.get(Route, { namespace, name })
const gone = async (world: TestPlane, kind: typeof App | typeof Route, name: string): Promise<boolean> =>
  (await world.client.find(kind as typeof App, { namespace, name })) === undefined

async function marksOn(world: TestPlane, name = 'web'): Promise<readonly string[]> {
  const { annotations = {} } = (await app(world, name)).metadata
  return Object.entries(annotations)
    .filter(([key]) => key.startsWith('used-by.route.test.dev/'))
    .map(([, value]) => value.replace(/ [-0-9a-f]{36}$/, ''))
    .sort()
}

/** An object as it is apart from the marks of time. */
function lasting({ metadata: { resourceVersion: _, managedFields = [], ...metadata }, ...rest }: KubeObject): unknown {
  return { ...rest, metadata: { ...metadata, managers: managedFields.map(({ manager }) => manager).sort() } }
}

describe('dependsOn with mark', () => {
  test('A24 fifty referers that mark one object at once lose no mark, and none when half of them go', async () => {
    await using world = await startWorld([routing({ annotate: true }, { concurrency: 50 })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    const names = Array.from({ length: 50 }, (_, index) => `r${String(index).padStart(2, '0')}`)
    await Promise.all(names.map((name) => createRoute(world.client, name, 'web')))
    await world.until(async () => (await marksOn(world)).length === 50)
    await Promise.all(
      names.filter((_, index) => index % 2 === 0).map(async (name) => world.client.delete(await route(world, name))),
    )
    await world.until(async () => (await marksOn(world)).length === 25)
    expect(await marksOn(world)).toEqual(
      names.filter((_, index) => index % 2 === 1).map((name) => `Route default/${name}`),
    )
  })

  test('A26 a referer that goes takes its mark along, and the object is as it was before', async () => {
    await using world = await startWorld([routing({ annotate: true })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    const before = lasting(await app(world))
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await marksOn(world)).length === 1)
    await world.client.delete(await route(world))
    await world.until(() => gone(world, Route, 'r'))
    expect(lasting(await app(world))).toEqual(before)
  })

  test('A27 marks of a spec that was changed just before the referer was deleted are taken back, too', async () => {
    await using world = await startWorld([routing({ annotate: true })])
    for (const name of ['x', 'y']) {
      await createApp(world.client, name)
      await makeReady(world.client, name)
    }
    await createRoute(world.client, 'r', 'x')
    await world.until(async () => (await marksOn(world, 'x')).length === 1)
    await world.client.patch(await route(world), { spec: { to: [{ name: 'y' }] } })
    await world.client.delete(await route(world))
    await world.until(() => gone(world, Route, 'r'))
    expect([await marksOn(world, 'x'), await marksOn(world, 'y')]).toEqual([[], []])
  })

  test('a mark that somebody took away comes back, and an object that has gone is not made by marking it', async () => {
    await using world = await startWorld([routing({ annotate: true })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await marksOn(world)).length === 1)
    const { annotations = {} } = (await app(world)).metadata
    await world.client.patch(await app(world), {
      metadata: { annotations: Object.fromEntries(Object.keys(annotations).map((key) => [key, null])) },
    })
    await world.until(async () => (await marksOn(world)).length === 1)
    await world.client.delete(await app(world))
    await world.until(async () => (await verdictOn(world.client)) === 'False NotFound')
    await world.advance(5000)
    expect(await gone(world, App, 'web')).toBe(true)
  })
})

describe('dependsOn with protect', () => {
  test('A25 whileInUse: a deletion is refused with who uses it, and passes when the last one has gone', async () => {
    await using world = await startWorld([routing({ protect: 'whileInUse', reason: 'traffic goes there' })])
    const usages = async (): Promise<number> => (await world.client.list(Usage, { namespace })).items.length
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    await createRoute(world.client, 's', 'web')
    await world.until(async () => (await usages()) === 2)
    const object = await app(world)
    await expect(world.client.delete(object)).rejects.toThrow(
      'app.test.dev "web" is forbidden: it is in use by Route default/r (traffic goes there), Route default/s (traffic goes there)'.replace(
        'app.test.dev',
        'App.app.test.dev',
      ),
    )
    await world.client.delete(await route(world))
    await world.until(async () => (await usages()) === 1)
    await world.client.patch(await route(world, 's'), { spec: { to: [] } })
    await world.until(async () => (await usages()) === 0)
    await world.client.delete(await app(world))
    expect(await gone(world, App, 'web')).toBe(true)
  })

  test('whileInUse: a referer without a namespace protects by a ClusterUsage, which goes with it', async () => {
    const Zone = defineKind({
      group: 'route.test.dev',
      version: 'v1',
      kind: 'Zone',
      scope: 'Cluster',
      spec: { type: 'object', properties: { app: { type: 'string' } } },
      status: { type: 'object' },
      reports: ['dependencies'],
    } as const)
    const uses = dependsOn(App, (zone: ObjectOf<typeof Zone>) => [{ name: zone.spec.app ?? '', namespace }], {
      protect: 'whileInUse',
      crossNamespace: 'allow',
    })
    await using world = await startWorld([{ for: Zone, verbs: [uses], reconcile: () => undefined }], {
      kinds: [App, Route, Zone],
    })
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await world.client.create(Zone, { metadata: { name: 'north' }, spec: { app: 'web' } })
    await world.until(async () => (await world.client.list(ClusterUsage)).items.length === 1)
    await expect(world.client.delete(await app(world))).rejects.toThrow('it is in use by Zone north')
    await world.client.delete(await world.client.get(Zone, { name: 'north' }))
    await world.until(async () => (await world.client.list(ClusterUsage)).items.length === 0)
    await world.client.delete(await app(world))
    expect(await gone(world, App, 'web')).toBe(true)
  })

  test('A26 the Usage of a referer goes with it, and the object was never touched', async () => {
    await using world = await startWorld([routing({ protect: 'whileInUse' })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    const {
      metadata: { resourceVersion },
    } = await app(world)
    await createRoute(world.client, 'r', 'web')
    await world.until(async () => (await world.client.list(Usage, { namespace })).items.length === 1)
    await world.client.delete(await route(world))
    await world.until(async () => (await world.client.list(Usage, { namespace })).items.length === 0)
    expect((await app(world)).metadata.resourceVersion).toBe(resourceVersion)
  })

  test('finalizer: an object stays until nobody uses it, and goes with the last one', async () => {
    await using world = await startWorld([routing({ protect: 'finalizer' })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    await createRoute(world.client, 'r', 'web')
    await createRoute(world.client, 's', 'web')
    await world.until(async () => (await app(world)).metadata.finalizers?.length === 1)
    await world.client.delete(await app(world))
    await world.until(async () => (await verdictOn(world.client)) === 'False Terminating')
    await world.client.delete(await route(world))
    await world.until(() => gone(world, Route, 'r'))
    await world.advance(1000)
    expect(await gone(world, App, 'web')).toBe(false)
    await world.client.patch(await route(world, 's'), { spec: { to: [] } })
    await world.until(() => gone(world, App, 'web'))
  })

  test('finalizer: referers that all go at once leave nothing held', async () => {
    await using world = await startWorld([routing({ protect: 'finalizer' }, { concurrency: 4 })])
    await createApp(world.client, 'web')
    await makeReady(world.client, 'web')
    for (const name of ['r', 's', 't']) await createRoute(world.client, name, 'web')
    await world.until(
      async () =>
        (await app(world)).metadata.finalizers?.length === 1 &&
        (await verdictOn(world.client, 't')) === 'True AllReady',
    )
    await Promise.all(['r', 's', 't'].map(async (name) => world.client.delete(await route(world, name))))
    await world.until(async () => (await app(world)).metadata.finalizers === undefined)
  })
})
