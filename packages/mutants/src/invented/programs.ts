/**
 * Mistakes between controllers, and with objects of others: Secrets, settings, finalizers.
 */
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import { watching } from 'evenkeel/controller'
import type { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { ProcessContext, UserStep } from 'evenkeel/testing'
import type { Mutant, Subject } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  childOf,
  cleanApp,
  does,
  finalizer,
  ownersOf,
  place,
} from '../worlds/app.ts'
import type { AppObject, Making } from '../worlds/app.ts'
import { copyOf, Link, linkProgram, settingsOf } from '../worlds/linked.ts'
import type { LinkMaking } from '../worlds/linked.ts'

/** Several controllers for Apps, as one program. */
function programOf(
  makings: readonly ((...parameters: Parameters<Making>) => ControllerDeclaration<typeof App>)[],
  more: Partial<Subject['scenario']> = {},
): Subject {
  const { controllers: _, scenario } = appProgram(() => ({ for: App }), more)
  return {
    scenario,
    controllers: ((process: ProcessContext<never>) =>
      makings.map((make) => make(process))) as unknown as Subject['controllers'],
  }
}

/** Two controllers that write different keys of the same child. */
function writers(write: (client: Client, app: AppObject, part: string) => Promise<unknown>): Subject {
  return programOf(
    ['text', 'size'].map((part) => () => ({
      name: `of-${part}`,
      for: App,
      owns: [ConfigMap],
      rbac,
      async reconcile(app, { client }) {
        await write(client, app, part)
      },
    })),
    { steps: [does.create] },
  )
}

function partOf({ spec }: AppObject, part: string): Record<string, string> {
  return { [part]: String(spec[part as 'text'] ?? '') }
}

/** Two controllers with an external resource and a hand-written finalizer each. */
function withExternalParts(finalizerOf: (part: string) => string): Subject {
  return programOf(
    ['x', 'y'].map((part) => ({ client, external: { cloud } }) => ({
      name: `of-${part}`,
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], resourceVersion, deletionTimestamp } = app.metadata
        const own = finalizerOf(part)
        if (deletionTimestamp !== undefined) {
          if (!finalizers.includes(own)) return
          await cloud.delete(`${name}-${part}`)
          await client
            .patch(app, { metadata: { finalizers: finalizers.filter((one) => one !== own), resourceVersion } })
            .catch((error: unknown) => {
              if ((error as { reason?: string }).reason !== 'NotFound') throw error
            })
          return
        }
        if (!finalizers.includes(own))
          await client.patch(app, { metadata: { finalizers: [...finalizers, own], resourceVersion } })
        await cloud.ensure(`${name}-${part}`, app.metadata.uid)
      },
    })),
    { steps: [does.create, does.remove] },
  )
}

/** A password that is generated once, and the object that uses it. */
function withPassword(use: (password: string, app: AppObject) => { data: Record<string, string> }): Subject {
  return appProgram(
    ({ random }) => ({
      for: App,
      owns: [ConfigMap, Secret],
      async reconcile(app, { client }) {
        const {
          metadata: { name, namespace = 'default' },
        } = app
        const at = { name: `${name}-password`, namespace }
        const found =
          (await client.find(Secret, at)) ??
          (await client.create(Secret, {
            metadata: { ...at, ownerReferences: ownersOf(app) },
            stringData: { password: `pw-${random.uint32() + 1e9}` },
          }))
        await client.apply(
          ConfigMap,
          { ...childOf(app, 0), ...use(Buffer.from(found.data?.['password'] ?? '', 'base64').toString(), app) },
          { force: true },
        )
      },
    }),
    { steps: [does.create] },
  )
}

/** A Link in the namespace team. */
const teamSteps: readonly UserStep[] = [
  {
    name: 'creates the namespace team',
    run: (user) => user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }),
  },
  {
    name: 'writes the settings',
    run: (user) => user.create(ConfigMap, { metadata: { name: 'settings', namespace: 'team' }, data: { text: 'one' } }),
  },
  {
    name: 'creates Link l',
    run: (user) => user.create(Link, { metadata: { name: 'l', namespace: 'team' }, spec: { uses: 'settings' } }),
  },
  {
    name: 'changes the settings',
    run: async (user) =>
      user.patch(await user.get(ConfigMap, { name: 'settings', namespace: 'team' }), { data: { text: 'two' } }),
  },
]

function mapped(namespaceOf: (namespace: string) => string): LinkMaking {
  return () => ({
    for: Link,
    owns: [ConfigMap],
    watches: [
      watching(ConfigMap, {
        map: ({ metadata: { name, namespace = '' } }, { cache }) =>
          cache
            .list(Link)
            .filter(({ spec }) => spec.uses === name)
            .map(({ metadata }) => ({ name: metadata.name, namespace: namespaceOf(namespace) })),
      }),
    ],
    async reconcile(link, { client, status }) {
      const found = await settingsOf(link, { client })
      await client.apply(ConfigMap, copyOf(link, found?.data ?? {}), { force: true })
      status.set({ found: found !== undefined })
    },
  })
}

/** The key of the cloud is in a Secret of the user. */
const keySteps: readonly UserStep[] = [
  {
    name: 'writes the key',
    run: (user) =>
      user.create(Secret, { metadata: { ...place, name: 'cloud-key' }, stringData: { key: 'open-sesame-1' } }),
  },
  does.create,
  does.remove,
]

function locked(isNeeded: boolean): Subject {
  return appProgram(
    ({ external: { cloud } }) => {
      const unlock = async (client: Client): Promise<boolean> =>
        (await client.find(Secret, { ...place, name: 'cloud-key' })) !== undefined
      return {
        for: App,
        rbac,
        owns: [],
        async reconcile(app, { client }) {
          if (!(await unlock(client))) throw new Error('the key is missing')
          await cloud.ensure(app.metadata.name, app.metadata.uid)
        },
        async cleanup(app, { client }) {
          if (isNeeded && !(await unlock(client))) throw new Error('the key is missing')
          await cloud.delete(app.metadata.name)
        },
      }
    },
    { steps: keySteps },
  )
}

export const programMutantsMore: readonly Mutant[] = [
  {
    id: 'n20',
    mistake: 'two controllers replace an object that both write',
    rules: ['hot-loop', 'idempotent', 'failure'],
    tier: 0,
    clean: writers((client, app, part) =>
      client.apply(ConfigMap, { ...childOf(app, 0), data: partOf(app, part) }, { fieldManager: part }),
    ),
    broken: writers(async (client, app, part) => {
      const wanted = { apiVersion: 'v1', kind: 'ConfigMap', ...childOf(app, 0), data: partOf(app, part) }
      const found = await client.find(ConfigMap, { name: wanted.metadata.name, namespace: 'default' })
      if (!found) await client.create(wanted)
      else if (JSON.stringify(found.data) !== JSON.stringify(wanted.data))
        await client.update({ ...found, data: wanted.data })
    }),
  },
  {
    id: 'n21',
    mistake: 'two controllers share a finalizer: the first cleanup removes it',
    rules: ['cleanup'],
    tier: 1,
    clean: withExternalParts((part) => `mutants.dev/${part}`),
    broken: withExternalParts(() => finalizer),
  },
  {
    id: 'n22',
    mistake: 'copies a password, in base64, into a ConfigMap',
    rules: ['secrets'],
    tier: 0,
    clean: withPassword((_, app) => ({ data: { passwordFrom: `${app.metadata.name}-password` } })),
    broken: withPassword((password) => ({
      data: { url: Buffer.from(`db://user:${password}@host/db`).toString('base64') },
    })),
  },
  {
    id: 'n23',
    mistake: 'looks for the users of an object in the wrong namespace',
    rules: ['state'],
    tier: 0,
    clean: linkProgram(
      mapped((namespace) => namespace),
      teamSteps,
    ),
    broken: linkProgram(
      mapped(() => 'default'),
      teamSteps,
    ),
  },
  {
    id: 'n24',
    mistake: 'the cleanup needs a Secret that may be deleted before',
    rules: ['cleanup', 'failure'],
    tier: 1,
    clean: locked(false),
    broken: locked(true),
  },
  {
    id: 'n25',
    mistake: 'generates a new password in every reconcile',
    rules: ['idempotent', 'hot-loop'],
    tier: 0,
    clean: cleanApp,
    broken: appProgram(
      ({ random }) => ({
        for: App,
        owns: [Secret],
        async reconcile(app, { client }) {
          const {
            metadata: { name, namespace = 'default' },
          } = app
          await client.apply(
            Secret,
            {
              metadata: { name, namespace, ownerReferences: ownersOf(app) },
              stringData: { password: `pw-${random.uint32() + 1e9}` },
            },
            { force: true },
          )
        },
      }),
      { steps: [does.create] },
    ),
  },
]
