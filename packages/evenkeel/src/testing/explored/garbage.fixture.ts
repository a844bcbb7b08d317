/**
 * What is explored of our own: the garbage collector, as the program of a world that does not play it.
 */
import type { OwnerReference } from '#api'
import type { Client } from '#client'
import { loadPlaneControllers } from '#plane'
import type { ExploreOptions } from '../explore.ts'
import type { UserStep, WorldView } from '../scenario.ts'

const type = { apiVersion: 'v1', kind: 'ConfigMap' } as const

/** Makes an object that belongs to others. */
async function plant(
  user: Client,
  name: string,
  { owners = [], blocking = false }: { owners?: readonly string[]; blocking?: boolean } = {},
): Promise<void> {
  const ownerReferences: OwnerReference[] = []
  for (const owner of owners) {
    const {
      metadata: { uid },
    } = await user.get(type, { name: owner, namespace: 'default' })
    ownerReferences.push({ ...type, name: owner, uid, ...(blocking && { blockOwnerDeletion: true }) })
  }
  await user.create({ ...type, metadata: { name, namespace: 'default', ownerReferences } })
}

async function remove(
  user: Client,
  name: string,
  propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
): Promise<void> {
  await user.delete({ ...type, metadata: { name, namespace: 'default' } }, { propagationPolicy })
}

const steps: readonly UserStep[] = [
  {
    name: 'plants a tree',
    run: async (user) => {
      for (const root of ['r', 's']) await plant(user, root)
      await plant(user, 'child', { owners: ['r'] })
      await plant(user, 'grandchild', { owners: ['child'], blocking: true })
      await plant(user, 'shared', { owners: ['r', 's'] })
    },
  },
  { name: 'deletes a root', run: (user) => remove(user, 'r', 'Background') },
  { name: 'deletes another after what hangs on it', run: (user) => remove(user, 's', 'Foreground') },
  {
    name: 'plants another tree and deletes its root alone',
    run: async (user) => {
      await plant(user, 'o')
      await plant(user, 'orphan', { owners: ['o'], blocking: true })
      await remove(user, 'o', 'Orphan')
    },
  },
]

/** Every object with owners has an owner that exists, and no deletion stays unfinished. */
function expects(world: WorldView): string | undefined {
  const objects = world.list({ group: '', kind: 'ConfigMap' })
  const uids = new Set(
    [...objects, ...world.list({ group: '', kind: 'Namespace' })].map(({ metadata }) => metadata.uid),
  )
  const stuck = objects.find(
    ({ metadata: { deletionTimestamp, finalizers = [] } }) =>
      deletionTimestamp !== undefined && !finalizers.some((name) => name.includes('/')),
  )
  if (stuck) return `${stuck.metadata.name ?? ''} is being deleted and never goes`
  const garbage = objects.find(
    ({ metadata: { ownerReferences = [], deletionTimestamp } }) =>
      deletionTimestamp === undefined &&
      ownerReferences.length > 0 &&
      !ownerReferences.some(({ uid }) => uids.has(uid)),
  )
  return garbage && `${garbage.metadata.name ?? ''} is there, and nobody whom it belongs to`
}

/** A server of few kinds: following all of them is the same fifty times over. */
function seeingOnly(client: Client, plurals: readonly string[]): Client {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'resources')
        return async (...parameters: Parameters<Client['resources']>) =>
          (await target.resources(...parameters)).filter(({ plural }) => plurals.includes(plural))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value as (...parameters: unknown[]) => unknown).bind(target) : value
    },
  })
}

/** The program and the scenario. */
export async function garbageSubject(): Promise<Pick<ExploreOptions, 'controllers' | 'scenario'>> {
  const { garbageCollector } = await loadPlaneControllers()
  return {
    controllers: () => [],
    scenario: {
      name: 'garbage',
      steps,
      clusterControllers: ['namespaces'],
      expects,
      runnables: ({ clock, random, log, client }) => [
        garbageCollector({ clock, random, log, client: seeingOnly(client, ['configmaps', 'namespaces']) }),
      ],
      exceptions: [
        { rule: 'ownership', because: 'collecting garbage is deleting what others made' },
        {
          rule: 'cleanup',
          about: 'ConfigMap',
          because: 'the finalizers of deletions in the foreground and of orphans are for it to take off',
        },
      ],
    },
  }
}
