/**
 * Programs that meet input that their author did not think of: a value that the schema allows and the server refuses, and
 * a change of an object that the program only reads. Each is correct, and has a twin with one mistake.
 */
import { defineKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { UserStep } from '../scenario.ts'
import { ConfigMap } from './children.fixture.ts'
import type { Subject } from './nature.fixture.ts'

const text = { type: 'string' } as const
const Page = defineKind({
  group: 'input.dev',
  version: 'v1',
  kind: 'Page',
  spec: {
    type: 'object',
    properties: { title: { type: 'string', pattern: '^[A-Za-z]+$' } },
    required: ['title'],
  } as const,
  status: { type: 'object', properties: { title: text, color: text } } as const,
})
type PageController = ControllerDeclaration<typeof Page>

const place = { name: 'p', namespace: 'default' }
const create: UserStep = {
  name: 'creates Page p',
  run: (user) => user.create(Page, { metadata: place, spec: { title: 'news' } }),
}

function subjectOf(controller: Omit<PageController, 'for'>, steps: readonly UserStep[]): Subject {
  return {
    controllers: () => [{ for: Page, ...controller } as unknown as ControllerDeclaration],
    scenario: { name: 'pages', steps },
  }
}

function ownersOf({ apiVersion, kind, metadata: { name = '', uid = '' } }: KubeObject): {
  readonly ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>
} {
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }] }
}

/** A child with the title as a label. The twin has it in the name, where no capital letter is allowed. */
export function titles({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(
    {
      owns: [ConfigMap],
      async reconcile(page, { client, status }) {
        const { title } = page.spec
        const name = isBroken ? `p-${title}` : 'p-title'
        const { items } = await client.list(ConfigMap, { namespace: 'default' })
        for (const old of items)
          if (old.metadata.name !== name && old.metadata.ownerReferences?.some(({ uid }) => uid === page.metadata.uid))
            await client.delete(old, { preconditions: { uid: old.metadata.uid ?? '' } }).catch(ignoreGone)
        const metadata = { name, namespace: 'default', labels: { title }, ...ownersOf(page) }
        await client.apply(ConfigMap, { metadata }, { force: true })
        status.set({ title })
      },
    },
    [create],
  )
}

function ignoreGone(error: unknown): void {
  const { reason } = error as { reason?: string }
  if (reason !== 'NotFound' && reason !== 'Conflict') throw error
}

/** Takes its color from a ConfigMap of the user. The twin does not watch it. */
export function colors({ isBroken }: { isBroken: boolean }): Subject {
  const settings = { name: 'settings', namespace: 'default' }
  return subjectOf(
    {
      ...(isBroken
        ? { rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] }
        : {
            watches: [
              { kind: ConfigMap, map: ({ metadata: { name } }: KubeObject) => (name === 'settings' ? [place] : []) },
            ],
          }),
      async reconcile(_, { client, status }) {
        const found = await client.find(ConfigMap, settings)
        status.set({ color: found?.data?.['color'] ?? 'none' })
      },
    } as Omit<PageController, 'for'>,
    [
      {
        name: 'creates ConfigMap settings',
        run: (user) => user.create(ConfigMap, { metadata: settings, data: { color: 'red' } }),
      },
      create,
    ],
  )
}
