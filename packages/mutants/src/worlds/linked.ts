/**
 * A second world: a Link uses settings that somebody else has written into a ConfigMap, and copies them into one of its own.
 *
 * The mistakes of resource tracking and dependencies live here: watches, maps, back-references.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, OwnerReference } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import type { ControllerDeclaration, ReconcileContext, WatchDeclaration } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { ProcessContext, UserStep } from 'evenkeel/testing'
import type { Subject } from '../mutant.ts'

export const Link = defineKind({
  group: 'mutants.dev',
  version: 'v1',
  kind: 'Link',
  spec: { type: 'object', properties: { uses: { type: 'string' }, optional: { type: 'boolean' } } } as const,
  status: {
    type: 'object',
    properties: { found: { type: 'boolean' }, observedGeneration: { type: 'integer' } },
  } as const,
})

export type LinkObject = ObjectOf<typeof Link>

const linkRules = [
  { apiGroups: ['mutants.dev'], resources: ['links', 'links/status'], verbs: ['get', 'list', 'patch', 'update'] },
  {
    apiGroups: [''],
    resources: ['configmaps', 'secrets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  },
]

const place = { name: 'l', namespace: 'default' }
const settings = { name: 'settings', namespace: 'default' }

export const does = {
  settle: {
    name: 'writes the settings',
    run: (user) => user.create(ConfigMap, { metadata: settings, data: { text: 'one' } }),
  },
  create: { name: 'creates Link l', run: (user) => user.create(Link, { metadata: place, spec: { uses: 'settings' } }) },
  createBare: {
    name: 'creates Link l, which uses nothing',
    run: (user) => user.create(Link, { metadata: place, spec: {} }),
  },
  use: {
    name: 'makes Link l use the settings',
    run: async (user) => user.patch(await user.get(Link, place), { spec: { uses: 'settings' } }),
  },
  unuse: {
    name: 'makes Link l use nothing',
    run: async (user) => user.patch(await user.get(Link, place), { spec: { uses: null } }),
  },
  change: {
    name: 'changes the settings',
    run: async (user) => user.patch(await user.get(ConfigMap, settings), { data: { text: 'two' } }),
  },
  remove: { name: 'deletes Link l', run: async (user) => user.delete(await user.get(Link, place)) },
} satisfies Record<string, UserStep>

export type LinkMaking = (process: ProcessContext<object>) => ControllerDeclaration<typeof Link>

export function linkProgram(
  make: LinkMaking,
  steps: readonly UserStep[] = [does.settle, does.create, does.change],
): Subject {
  return {
    controllers: ((process: ProcessContext<object>) => [
      { rbac: linkRules, ...make(process) },
    ]) as unknown as Subject['controllers'],
    scenario: { name: 'links', steps, kinds: [] },
  }
}

export function copyOf(
  { apiVersion, kind, metadata: { name = '', namespace = '', uid = '' } }: LinkObject,
  data: Readonly<Record<string, string>>,
): {
  metadata: { name: string; namespace: string; ownerReferences: OwnerReference[] }
  data: Readonly<Record<string, string>>
} {
  return {
    metadata: {
      name: `${name}-copy`,
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    data,
  }
}

/** Links are looked at when the settings they use change. */
export const settingsWatch: WatchDeclaration = watching(ConfigMap, {
  map: ({ metadata: { name, namespace } }, { cache }) =>
    cache
      .list(Link)
      .filter((link) => link.spec.uses === name && link.metadata.namespace === namespace)
      .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })),
})

/** What a Link uses, if it is there. */
export async function settingsOf(
  { spec: { uses }, metadata: { namespace = 'default' } }: LinkObject,
  { client }: Pick<ReconcileContext, 'client'>,
): Promise<ObjectOf<typeof ConfigMap> | undefined> {
  return uses === undefined || uses === ''
    ? undefined
    : ((await client.find(ConfigMap, { name: uses, namespace })) as ObjectOf<typeof ConfigMap> | undefined)
}

/** A right controller: copies the settings, and says whether they were there. */
export const rightLink: LinkMaking = () => ({
  for: Link,
  owns: [ConfigMap],
  watches: [settingsWatch],
  async reconcile(link, { client, status }) {
    const found = await settingsOf(link, { client })
    await client.apply(ConfigMap, copyOf(link, found?.data ?? {}), { force: true })
    status.set({ found: found !== undefined })
  },
})

/** The twin of most mutants of this world. */
export const cleanLink = linkProgram(rightLink)
