/**
 * Programs that end in the right state and can be wrong on the way there, and programs that break rules of single requests
 * only in a rare schedule. Each is correct, and has a twin with one mistake.
 */
import { defineKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { Scenario, UserStep, WorldView } from '../scenario.ts'
import { ConfigMap } from './children.fixture.ts'
import type { Subject } from './nature.fixture.ts'

const text = { type: 'string' } as const
const Group = defineKind({
  group: 'way.dev',
  version: 'v1',
  kind: 'Group',
  spec: {
    type: 'object',
    properties: { version: { type: 'string', pattern: '^.' }, replicas: { type: 'integer', minimum: 1 } },
  } as const,
  status: { type: 'object', properties: { version: text, member: text } } as const,
})
type GroupController = ControllerDeclaration<typeof Group>

const place = { name: 'g', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Group g', run: (user) => user.create(Group, { metadata: place, spec: { version: '1' } }) },
  {
    name: 'sets version 2',
    run: async (user) => user.patch(await user.get(Group, place), { spec: { version: '2' } }),
  },
]

function subjectOf(make: () => Omit<GroupController, 'for'>, more: Partial<Scenario> = {}): Subject {
  return {
    controllers: () => [{ for: Group, ...make() } as unknown as ControllerDeclaration],
    scenario: { name: 'groups', steps, ...(more as object) },
  }
}

function ownersOf({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): {
  readonly ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>
} {
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }] }
}

function isOwn({ metadata: { uid } }: KubeObject): (child: KubeObject) => boolean {
  return ({ metadata: { ownerReferences = [] } }) => ownerReferences.some((one) => one.uid === uid)
}

/** Each process of the twin begins with a clean sheet: it deletes what it finds, and makes it again. */
export function beginner({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => {
    let hasBegun = false
    return {
      owns: [ConfigMap],
      async reconcile(group, { client, status }) {
        const { version = '' } = group.spec
        const known = await client.find(ConfigMap, place)
        if (isBroken && !hasBegun && known && isOwn(group)(known)) await client.delete(known)
        hasBegun = true
        await client.apply(
          ConfigMap,
          { metadata: { ...place, ...ownersOf(group) }, data: { version } },
          { force: true },
        )
        status.set({ version })
      },
    }
  })
}

/** One child with a drawn name. The twin creates first and looks for others later. */
export function drawer({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => ({
    owns: [ConfigMap],
    async reconcile(group, { client, status }) {
      const own = async (): Promise<readonly KubeObject[]> =>
        (await client.list(ConfigMap, { namespace: 'default' })).items
          .filter(isOwn(group))
          .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      const isKnown = isBroken ? group.status?.member !== undefined : (await own()).length > 0
      if (!isKnown)
        await client.create(ConfigMap, { metadata: { generateName: 'g-', namespace: 'default', ...ownersOf(group) } })
      const [first, ...more] = await own()
      for (const extra of more) await client.delete(extra)
      status.set({ member: first === undefined ? 'none' : 'one' })
    },
  }))
}

/** Three members, replaced one by one. The twin goes on when it could not replace one. */
export function replacer({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => ({
    owns: [ConfigMap],
    async reconcile(group, { client, status }) {
      const { version = '' } = group.spec
      for (const name of ['g-0', 'g-1', 'g-2']) {
        const metadata = { name, namespace: 'default', ...ownersOf(group) }
        const known = await client.find(ConfigMap, metadata)
        if (known?.data?.['version'] === version) continue
        if (known && !isOwn(group)(known)) throw new Error(`${name} belongs to another client`)
        if (known) await client.delete(known, { preconditions: { uid: known.metadata.uid ?? '' } })
        const made = client.create(ConfigMap, { metadata, data: { version } })
        await (isBroken ? made.catch(() => undefined) : made)
      }
      const { items } = await client.list(ConfigMap, { namespace: 'default' })
      if (items.filter(isOwn(group)).length < 3) throw new Error('a member is missing')
      status.set({ version })
    },
  }))
}

/** Three members of which two must be there while they are replaced. The twin replaces all at once. */
export function quorum({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(
    () => ({
      owns: [ConfigMap],
      async reconcile(group, { client, status }) {
        const { version = '' } = group.spec
        const members = ['g-0', 'g-1', 'g-2'].map((name) => ({ name, namespace: 'default', ...ownersOf(group) }))
        const replace = async (metadata: (typeof members)[number]): Promise<void> => {
          const known = await client.find(ConfigMap, metadata)
          if (known && isOwn(group)(known) && known.data?.['version'] !== version)
            await client.delete(known, { preconditions: { uid: known.metadata.uid ?? '' } })
        }
        const create = async (metadata: (typeof members)[number]): Promise<void> => {
          await client.apply(ConfigMap, { metadata, data: { version } }, { force: true })
        }
        if (isBroken) {
          for (const member of members) await replace(member)
          for (const member of members) await create(member)
        } else {
          for (const member of members) if (!(await client.find(ConfigMap, member))) await create(member)
          for (const member of members) {
            await replace(member)
            await create(member)
          }
        }
        status.set({ version })
      },
    }),
    {
      always: (world) => (membersIn(world) < 2 ? 'fewer than two of three members are left' : undefined),
      eventually: (world) => ([0, 3].includes(membersIn(world)) ? undefined : `there are ${membersIn(world)} members`),
    },
  )
}

function membersIn(world: WorldView): number {
  return world.list({ group: '', kind: 'ConfigMap' }).filter(({ metadata: { name = '' } }) => name.startsWith('g-'))
    .length
}

/** Adds a default to the spec. The twin normalizes what the user wrote. */
export function defaults({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => ({
    rbac: [{ apiGroups: [Group.group], resources: [Group.plural], verbs: ['patch'] }],
    async reconcile(group, { client, status }) {
      const { version = '', replicas } = group.spec
      if (replicas === undefined) await client.patch(group, { spec: { replicas: 1 } })
      if (isBroken && !version.startsWith('v')) await client.patch(group, { spec: { version: `v${version}` } })
      status.set({ version })
    },
  }))
}

/** Updates with a version, and begins again after a conflict. The twin sends the same once more. */
export function stubborn({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => ({
    owns: [ConfigMap],
    async reconcile(group, { client, status }) {
      const { version = '' } = group.spec
      const known = await client.find(ConfigMap, place)
      if (!known) {
        await client.create(ConfigMap, { metadata: { ...place, ...ownersOf(group) }, data: { version } })
      } else if (known.data?.['version'] !== version) {
        const wanted = { ...known, data: { ...known.data, version } }
        await client.update(wanted).catch(async (error: unknown) => {
          if (isBroken) await client.update(wanted)
          else throw error
        })
      }
      status.set({ version })
    },
  }))
}

/** Reads a Secret only after a failure. The twin has not declared it. */
export function rarely({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(() => ({
    owns: [ConfigMap],
    rbac: isBroken ? [] : [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    async reconcile(group, { client, status }) {
      const { version = '' } = group.spec
      const child = { metadata: { ...place, ...ownersOf(group) }, data: { version } }
      try {
        await client.apply(ConfigMap, child, { force: true })
      } catch (error) {
        await client.find({ apiVersion: 'v1', kind: 'Secret' } as never, { name: 'reasons', namespace: 'default' })
        throw error
      }
      status.set({ version })
    },
  }))
}
