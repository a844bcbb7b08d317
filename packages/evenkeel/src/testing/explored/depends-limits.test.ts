/**
 * `dependsOn` with a fixed namespace or fixed names: which requests are sent, and what a role with its rules allows.
 */
import { expect, test } from 'vitest'
import { isForbidden, type ObjectOf } from '#api'
import { Client } from '#client'
import { Manager } from '#manager'
import { dependsOn, type DependsOnOptions } from '#verbs'
import { ChildWorld, Secret, sites, type Site } from './children.fixture.ts'

type SiteObject = ObjectOf<typeof Site>

interface Requests {
  readonly lists: readonly string[]
  readonly condition: string | undefined
}

/** Which lists and watches of Secrets a controller with these options sends, and what its object reports. */
async function requests(
  options: DependsOnOptions,
  { secret, refers }: { secret: { name: string; namespace: string }; refers: string },
): Promise<Requests> {
  const found: string[] = []
  const dependency = dependsOn(Secret, ({ spec }: SiteObject) => spec.text, options as never)
  const declaration = sites(() => undefined, { owns: [], verbs: [dependency] })
  await using world = await ChildWorld.start()
  const send = world.between
  world.between = (request, next) => {
    const { pathname, searchParams } = new URL(request.target, 'http://x')
    if (request.method === 'GET' && pathname.includes('/secrets'))
      found.push(`${pathname} ${searchParams.get('fieldSelector') ?? '-'}`)
    return send(request, next)
  }
  await world.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } })
  await world.client.create(Secret, { metadata: secret })
  await world.replace(declaration)
  await world.site('a', { text: refers })
  const { status, reason, message } = (await world.condition('DependenciesReady')) ?? {}
  return { lists: [...new Set(found)].sort(), condition: status && `${status} ${reason ?? ''}: ${message ?? ''}` }
}

test('F7: a fixed namespace is watched alone', async () => {
  expect(await requests({ namespace: 'vault' }, { secret: { name: 'ca', namespace: 'vault' }, refers: 'ca' })).toEqual({
    lists: ['/api/v1/namespaces/vault/secrets -'],
    condition: 'True AllReady: ',
  })
})

test('F7: fixed names are watched one by one, by the field selector that RBAC needs', async () => {
  const secret = { name: 'ca', namespace: 'default' }
  expect(await requests({ names: ['ca', 'login'] }, { secret, refers: 'ca' })).toEqual({
    lists: ['/api/v1/secrets metadata.name=ca', '/api/v1/secrets metadata.name=login'],
    condition: 'True AllReady: ',
  })
  expect(await requests({ names: ['ca'] }, { secret, refers: 'other' })).toEqual({
    lists: ['/api/v1/secrets metadata.name=ca'],
    condition: 'False Forbidden: Secret default/other: Forbidden: only references to ca are allowed',
  })
})

test('F7: both together leave one Secret', async () => {
  expect(
    await requests({ namespace: 'vault', names: ['ca'] }, { secret: { name: 'ca', namespace: 'vault' }, refers: 'ca' }),
  ).toEqual({ lists: ['/api/v1/namespaces/vault/secrets metadata.name=ca'], condition: 'True AllReady: ' })
})

test('F7: a Secret under another name is read from the server, not taken for missing', async () => {
  const found: (string | undefined)[] = []
  const dependency = dependsOn(Secret, () => 'ca', { names: ['ca'], optional: true })
  const declaration = sites(
    async (_, { client }) => {
      found.push((await client.find(Secret, { name: 'other', namespace: 'default' }))?.metadata.name)
      found.push((await client.get(Secret, { name: 'other', namespace: 'default' })).metadata.name)
    },
    { owns: [], verbs: [dependency] },
  )
  await using world = await ChildWorld.start(declaration)
  await world.client.create(Secret, { metadata: { name: 'other', namespace: 'default' } })
  await world.site()
  expect(found.slice(0, 2)).toEqual(['other', 'other'])
})

test('F7: the generated roles are enough for a server that enforces RBAC, and allow no other Secret', async () => {
  const dependency = dependsOn(Secret, () => 'ca', { namespace: 'vault', names: ['ca'] })
  const declaration = sites(() => undefined, { owns: [], verbs: [dependency] })
  await using world = await ChildWorld.start()
  const { client } = world
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } })
  for (const name of ['ca', 'other']) await client.create(Secret, { metadata: { name, namespace: 'vault' } })
  const manager = new Manager({
    name: 'sites',
    transport: world.plane.plane.transport,
    controllers: [declaration as never],
  })
  for (const object of manager.rbac().objects({ namespace: 'default' })) await client.create(object)
  await manager.close()
  const user = 'system:serviceaccount:default:sites'
  const asUser: typeof world.between = (request, next) =>
    next({ ...request, headers: { ...request.headers, 'impersonate-user': user } })
  world.between = asUser
  await world.replace(declaration)
  await world.site()
  expect(await world.condition('DependenciesReady')).toMatchObject({ status: 'True', reason: 'AllReady' })
  const limited = new Client({ transport: (request) => asUser(request, world.plane.plane.transport) })
  const refused = async (read: Promise<unknown>): Promise<boolean> => read.then(() => false, isForbidden)
  expect(
    await Promise.all([
      refused(limited.get(Secret, { name: 'ca', namespace: 'vault' })),
      refused(limited.get(Secret, { name: 'other', namespace: 'vault' })),
      refused(limited.list(Secret, { namespace: 'vault' })),
      refused(limited.list(Secret)),
    ]),
  ).toEqual([false, true, true, true])
})
