/**
 * A second world: a Link uses settings in a ConfigMap of the user and copies them into its own ConfigMap.
 *
 * It is for mistakes with dependencies: watches, mapped keys, back-references.
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
    name: 'creates Link l without settings',
    run: (user) => user.create(Link, { metadata: place, spec: {} }),
  },
  use: {
    name: 'sets the settings of Link l',
    run: async (user) => user.patch(await user.get(Link, place), { spec: { uses: 'settings' } }),
  },
  unuse: {
    name: 'removes the settings of Link l',
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

/** Reconciles the Links that use changed settings. */
export const settingsWatch: WatchDeclaration = watching(ConfigMap, {
  map: ({ metadata: { name, namespace } }, { cache }) =>
    cache
      .list(Link)
      .filter((link) => link.spec.uses === name && link.metadata.namespace === namespace)
      .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })),
})

/** The settings of a Link, if they exist. */
export async function settingsOf(
  { spec: { uses }, metadata: { namespace = 'default' } }: LinkObject,
  { client }: Pick<ReconcileContext, 'client'>,
): Promise<ObjectOf<typeof ConfigMap> | undefined> {
  return uses === undefined || uses === ''
    ? undefined
    : ((await client.find(ConfigMap, { name: uses, namespace })) as ObjectOf<typeof ConfigMap> | undefined)
}

/** A correct controller: copies the settings and reports whether they exist. */
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

/** The correct version of most mutants of this world. */
export const cleanLink = linkProgram(rightLink)
