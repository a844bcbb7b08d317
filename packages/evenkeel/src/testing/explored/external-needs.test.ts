/**
 * A database that needs the Secret with its password: `needs` of `external`, and the order of verbs.
 */
import { describe, expect, test } from 'vitest'
import { declareKind, defineKind, type KubeObject, type ObjectOf } from '#api'
import type { ControllerDeclaration } from '#controller'
import { dependsOn, external, type Driver, type ExternalOptions } from '#verbs'
import { startTestPlane, type TestPlane } from '../live/test-plane.ts'

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const Secret = declareKind<SecretObject>({ group: '', version: 'v1', kind: 'Secret', statusSubresource: false })
const Database = defineKind({
  group: 'db.example.com',
  version: 'v1',
  kind: 'Database',
  spec: { type: 'object', properties: { size: { type: 'integer' }, secret: { type: 'string' } } } as const,
  status: { type: 'object', properties: {} } as const,
  reports: ['external'],
})
type DatabaseObject = ObjectOf<typeof Database>

interface Settings {
  readonly size: number
  readonly password: string
}

interface Needs {
  readonly password: SecretObject
}

/** Databases in memory, which log in with the password of the object that they belong to. */
class Databases {
  readonly stored = new Map<string, { settings: Settings; labels: unknown }>()
  readonly calls: string[] = []
  readonly logins: (string | undefined)[] = []

  driver({ hasList = true } = {}): Driver<DatabaseObject, Settings, Settings, Needs> {
    const { stored, calls, logins } = this
    const all = (): { id: string; observed: Settings; labels: unknown }[] =>
      [...stored].map(([id, { settings, labels }]) => ({ id, observed: settings, labels }))
    return {
      name: 'databases',
      capabilities: { labels: hasList ? 'atomicOnCreate' : 'none' },
      desired: ({ spec }, { password }) => ({ size: spec.size ?? 1, password: password.data?.['password'] ?? '' }),
      connect: (_, { needs }) => {
        logins.push(needs.password?.data?.['password'])
        return Promise.resolve(undefined)
      },
      observe: (id) => Promise.resolve(all().find((one) => one.id === id)),
      create(settings, { labels }) {
        const id = `db-${calls.push(`create ${settings.password}`)}`
        stored.set(id, { settings, labels })
        return Promise.resolve({ id })
      },
      update(id, settings, { labels, paths }) {
        calls.push(`update ${paths.join()}`)
        stored.set(id, { settings, labels })
        return Promise.resolve()
      },
      remove(id) {
        calls.push('remove')
        stored.delete(id)
        return Promise.resolve()
      },
      ...(hasList && {
        async *list() {
          await Promise.resolve()
          yield all()
        },
      }),
    }
  }
}

const place = { namespace: 'default' }
const text = (value: string): string => Buffer.from(value).toString('base64')
const passwordOf = (database: DatabaseObject): string | undefined => database.spec.secret

interface World {
  readonly plane: TestPlane
  readonly databases: Databases
  condition(type?: string): Promise<string | undefined>
}

async function start(
  declare: (databases: Databases) => Partial<ControllerDeclaration<typeof Database>>,
): Promise<World> {
  const databases = new Databases()
  const declaration = { for: Database, ...declare(databases) } as ControllerDeclaration
  const plane = await startTestPlane({ controllers: [declaration], simulated: true })
  return {
    plane,
    databases,
    condition: async (type = 'Synced') => {
      const { status } = await plane.client.get(Database, { name: 'shop', ...place })
      const found = status?.conditions?.find((condition) => condition.type === type)
      return found && `${found.status} ${found.reason}: ${found.message}`
    },
  }
}

const createDatabase = ({ plane }: World, spec: { secret?: string } = { secret: 'login' }): Promise<unknown> =>
  plane.client.create(Database, { metadata: { name: 'shop', ...place }, spec })
const createSecret = ({ plane }: World, value: string): Promise<SecretObject> =>
  plane.client.create(Secret, { metadata: { name: 'login', ...place }, data: { password: text(value) } })
const options = (more: Partial<ExternalOptions<DatabaseObject>> = {}): ExternalOptions<DatabaseObject> => ({
  instance: 'here',
  ...more,
})

/** The database verb with its Secret as a need. */
const withNeeds = (databases: Databases, more: Partial<ExternalOptions<DatabaseObject>> = {}): object => {
  const password = dependsOn(Secret, passwordOf)
  return { verbs: [external(databases.driver(), { ...options(more), needs: { password } })] }
}

describe('F6: external with needs', () => {
  test('F6: creates nothing before the need is there, then with it, and records no content of it', async () => {
    const world = await start(withNeeds)
    await using _ = world.plane
    await createDatabase(world)
    await world.plane.until(async () => (await world.condition()) !== undefined)
    expect(await world.condition()).toBe(
      'False DependencyMissing: Secret default/login: NotFound: there is no such object',
    )
    expect([await world.condition('Ready'), world.databases.calls]).toEqual([await world.condition(), []])
    const { metadata } = await createSecret(world, 'one')
    await world.plane.until(async () => (await world.condition())?.startsWith('True') === true)
    expect([world.databases.calls, world.databases.logins.at(-1)]).toEqual([[`create ${text('one')}`], text('one')])
    const { status } = await world.plane.client.get(Database, { name: 'shop', ...place })
    expect(status?.external?.needs).toEqual([
      { name: 'password', uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    ])
    expect(JSON.stringify(status)).not.toContain(text('one'))
  })

  test.each(['revert', 'report'] as const)(
    'F6: a change of the need is carried out, and is no drift (drift: %s)',
    async (drift) => {
      const world = await start((databases) => withNeeds(databases, { policy: { drift } }))
      await using _ = world.plane
      const secret = await createSecret(world, 'one')
      await createDatabase(world)
      await world.plane.until(async () => (await world.condition())?.startsWith('True') === true)
      await world.plane.client.patch(secret, { data: { password: text('two') } })
      await world.plane.until(() => world.databases.stored.get('db-1')?.settings.password === text('two'))
      expect(world.databases.calls).toEqual([`create ${text('one')}`, 'update password'])
      await world.plane.advance(1000)
      expect(await world.condition('Drifted')).toBe('False AsDesired: ')
      const { status } = await world.plane.client.get(Database, { name: 'shop', ...place })
      expect(status?.external?.drift).toBeUndefined()
      expect(await world.condition()).toBe('True Synced: ')
    },
  )

  test('F6: what somebody else changes is drift, found by the sweep with the need', async () => {
    const world = await start((databases) => withNeeds(databases, { policy: { drift: 'report' } }))
    await using _ = world.plane
    await createSecret(world, 'one')
    await createDatabase(world)
    await world.plane.until(async () => (await world.condition())?.startsWith('True') === true)
    const stored = world.databases.stored.get('db-1')
    if (stored) world.databases.stored.set('db-1', { ...stored, settings: { size: 1, password: 'changed by hand' } })
    await world.plane.advance(130_000)
    expect(await world.condition()).toBe('False Drifted: changed outside of this controller: password')
  })

  test('F6: without the need an existing resource stays as it is, and a deletion still works', async () => {
    const world = await start(withNeeds)
    await using _ = world.plane
    const secret = await createSecret(world, 'one')
    await createDatabase(world)
    await world.plane.until(async () => (await world.condition())?.startsWith('True') === true)
    await world.plane.client.delete(secret)
    await world.plane.until(async () => (await world.condition())?.startsWith('False DependencyMissing') === true)
    const database = await world.plane.client.get(Database, { name: 'shop', ...place })
    await world.plane.client.patch(database, { spec: { size: 5 } })
    await world.plane.advance(130_000)
    expect(world.databases.calls).toEqual([`create ${text('one')}`])
    await world.plane.client.delete(database)
    await world.plane.until(
      async () => (await world.plane.client.find(Database, { name: 'shop', ...place })) === undefined,
    )
    expect([world.databases.calls.at(-1), world.databases.logins.at(-1)]).toEqual(['remove', undefined])
  })

  test('F6: an object without a reference says so; an optional need may be undefined', async () => {
    const world = await start(withNeeds)
    await using _ = world.plane
    await createDatabase(world, {})
    await world.plane.until(async () => (await world.condition()) !== undefined)
    expect(await world.condition()).toBe('False DependencyMissing: password: Database shop refers to no object')
    const optional = await start((databases) => {
      const { desired: __, ...driver } = databases.driver()
      const password = dependsOn(Secret, passwordOf, { optional: true })
      return {
        verbs: [
          external(
            {
              ...driver,
              desired: ({ spec }: DatabaseObject, needs) => ({
                size: spec.size ?? 1,
                password: needs.password?.data?.['password'] ?? 'none',
              }),
            },
            { ...options(), needs: { password } },
          ),
        ],
      }
    })
    await using __ = optional.plane
    await createDatabase(optional)
    await optional.plane.until(() => optional.databases.calls.length > 0)
    expect(optional.databases.calls).toEqual(['create none'])
  })

  test('F6: a verb in needs and in verbs is one verb', async () => {
    const world = await start((databases) => {
      const password = dependsOn(Secret, passwordOf)
      const database = external(databases.driver(), { ...options(), needs: { password } })
      return {
        verbs: [database, password],
        async reconcile(_, context) {
          context.status.condition('Resolved', (await password.one(context)) !== undefined)
        },
      }
    })
    await using _ = world.plane
    await createSecret(world, 'one')
    await createDatabase(world)
    await world.plane.until(async () => (await world.condition('Resolved')) !== undefined)
    expect([await world.condition('Resolved'), world.databases.calls]).toEqual([
      'True Resolved: ',
      [`create ${text('one')}`],
    ])
  })

  test('F6: refuses a need that is no dependency', () => {
    const driver = new Databases().driver()
    expect(() => external(driver, { instance: 'here', needs: { password: { name: 'x' } as never } })).toThrow(
      'driver databases: needs.password must be made by dependsOn(...)',
    )
  })
})

describe('F6: the order of verbs', () => {
  const ordered =
    (order: 'before' | 'after', more: Partial<ExternalOptions<DatabaseObject>> = {}) =>
    (databases: Databases): Partial<ControllerDeclaration<typeof Database>> => {
      const password = dependsOn(Secret, passwordOf)
      const { desired: _, ...driver } = databases.driver()
      const database = external(
        { ...driver, desired: ({ spec }: DatabaseObject) => ({ size: spec.size ?? 1, password: '' }) },
        options(more),
      )
      return {
        verbs: order === 'before' ? [password, database] : [database, password],
        async reconcile(__, context) {
          if (more.manual) await database.sync(context)
          context.status.condition('Reconciled', true)
        },
      }
    }

  test.each([
    ['before', {}, 'False DependencyMissing'],
    ['before', { manual: true }, 'False DependencyMissing'],
    ['after', {}, 'True Synced'],
  ] as const)('F6: with a dependency %s it (%j) the resource is %s', async (order, more, expected) => {
    const world = await start(ordered(order, more))
    await using _ = world.plane
    await createDatabase(world)
    await world.plane.until(async () => (await world.condition()) !== undefined)
    expect(await world.condition()).toContain(expected)
    const isCreated = expected.startsWith('True')
    expect([world.databases.calls.length, (await world.condition('Reconciled')) !== undefined]).toEqual([
      isCreated ? 1 : 0,
      isCreated,
    ])
    await createSecret(world, 'one')
    await world.plane.until(async () => (await world.condition('Reconciled')) !== undefined)
    expect(world.databases.calls).toEqual(['create '])
  })
})
