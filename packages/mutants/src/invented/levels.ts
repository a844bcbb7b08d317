/**
 * Mistakes of edge-triggered controllers, and of controllers that trust names, lists and memory.
 */
import type { Clock } from 'evenkeel/unstable/base'
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import type { UserStep } from 'evenkeel/testing'
import type { Mutant } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  applyChildren,
  childOf,
  childrenOf,
  cleanApp,
  does,
  pruneChildren,
  rightApp,
} from '../worlds/app.ts'

const clean = cleanApp

/** A Secret that an App needs is created late. */
const keySteps: readonly UserStep[] = [
  does.create,
  {
    name: 'creates the key',
    run: (user) => user.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'default' } }),
  },
  does.shrink,
  does.remove,
]

function wait(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
}

export const levelMutants: readonly Mutant[] = [
  {
    id: 'n33',
    mistake: 'decides by the content of an event',
    rules: ['state', 'failure'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        const isNew = context.causes.some(({ type, isInitial }) => type === 'add' && isInitial !== true)
        const isWished = context.causes.some(({ changed = [] }) => changed.some((path) => path.startsWith('spec')))
        if (isNew || isWished) await applyChildren(app, context)
        if (isWished) await pruneChildren(app, context)
      },
    })),
  },
  {
    id: 'n34',
    mistake: 'ignores a generation below the last one: a recreated object is never reconciled',
    rules: ['identity'],
    tier: 1,
    clean,
    broken: appProgram(() => {
      const seen = new Map<string, number>()
      return {
        for: App,
        async reconcile(app, context) {
          const { name = '', generation = 0 } = app.metadata
          if ((seen.get(name) ?? 0) > generation) return
          seen.set(name, generation)
          await applyChildren(app, context)
          await pruneChildren(app, context)
        },
      }
    }),
  },
  {
    id: 'n35',
    mistake: 'a reconcile waits in a loop for a dependency and blocks the worker',
    rules: ['failure'],
    tier: 1,
    clean: appProgram(rightApp, { steps: keySteps }),
    broken: appProgram(
      () => ({
        for: App,
        rbac,
        async reconcile(app, context) {
          while (!(await context.client.find(Secret, { name: 'key', namespace: 'default' })))
            await wait(context.clock, 5000)
          await applyChildren(app, context)
          await pruneChildren(app, context)
        },
      }),
      { steps: keySteps },
    ),
  },
  {
    id: 'n36',
    mistake: 'takes every object whose name begins with its name for its own',
    rules: ['ownership'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        await applyChildren(app, context)
        const { items } = await context.client.list(ConfigMap, { namespace: 'default' })
        const superfluous = items.filter(
          ({ metadata: { name = '' } }) =>
            name.startsWith(`${app.metadata.name}-`) && Number(name.split('-')[1]) >= (app.spec.size ?? 0),
        )
        for (const child of superfluous) await context.client.delete(child, { ignoreNotFound: true })
      },
    })),
  },
  {
    id: 'n37',
    mistake: 'the cleanup deletes all objects of a kind in the namespace',
    rules: ['ownership'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['deletecollection'] }],
      async reconcile(app, context) {
        await applyChildren(app, context)
        await pruneChildren(app, context)
      },
      cleanup: async (_app, { client }) => {
        await client.deleteAllOf(ConfigMap, { namespace: 'default' })
      },
    })),
  },
  {
    id: 'n38',
    mistake: 'deletes children to create them again, and ignores errors of the create',
    rules: ['failure', 'ownership'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        for (const child of await childrenOf(app, context))
          if (child.data?.['text'] !== app.spec.text) await context.client.delete(child, { ignoreNotFound: true })
        for (let index = 0; index < (app.spec.size ?? 0); index++)
          await context.client.create(ConfigMap, childOf(app, index)).catch(() => undefined)
        await pruneChildren(app, context)
      },
    })),
  },
  {
    id: 'n39',
    mistake: 'never clears a failure from the status',
    rules: ['truth', 'state', 'failure'],
    tier: 1,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app, { status }) {
        try {
          await cloud.ensure(app.metadata.name, app.metadata.uid)
          if (app.status?.phase === undefined) status.set({ phase: 'Ready' })
        } catch (error) {
          status.set({ phase: 'Failed' })
          throw error
        }
      },
      cleanup: (app) => cloud.delete(app.metadata.name),
    })),
  },
  {
    id: 'n40',
    mistake: 'caches the uid of an owner by name',
    rules: ['identity', 'ownership', 'hot-loop'],
    tier: 1,
    clean,
    broken: appProgram(() => {
      const uids = new Map<string, string>()
      return {
        for: App,
        async reconcile(app, context) {
          const { name = '', uid: own = '' } = app.metadata
          const uid = uids.get(name) ?? own
          uids.set(name, uid)
          for (let index = 0; index < (app.spec.size ?? 0); index++) {
            const { metadata, data } = childOf(app, index)
            await context.client.apply(
              ConfigMap,
              {
                metadata: {
                  ...metadata,
                  ownerReferences: metadata.ownerReferences.map((owner) => ({ ...owner, uid })),
                },
                data,
              },
              { force: true },
            )
          }
          await pruneChildren(app, context)
        },
      }
    }),
  },
]
