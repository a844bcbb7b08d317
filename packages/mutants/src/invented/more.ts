/**
 * More mistakes: colliding names, lost owners, locks that remain, caches by name.
 */
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { UserStep } from 'evenkeel/testing'
import type { Mutant } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  applyChildren,
  childOf,
  cleanApp,
  does,
  finalizer,
  ownersOf,
  place,
  pruneChildren,
} from '../worlds/app.ts'

const clean = cleanApp

const twoSteps: readonly UserStep[] = [
  {
    name: 'creates Apps a and b',
    run: async (user) => {
      for (const name of ['a', 'b'])
        await user.create(App, { metadata: { ...place, name }, spec: { size: 1, text: name } })
    },
  },
]

export const moreMutants: readonly Mutant[] = [
  {
    id: 'n26',
    mistake: 'all Apps use the same child name',
    rules: ['idempotent', 'hot-loop', 'ownership', 'failure', 'state'],
    tier: 0,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          await client.apply(
            ConfigMap,
            {
              metadata: { name: 'app-settings', namespace: 'default', ownerReferences: ownersOf(app) },
              data: { text: app.spec.text ?? '' },
            },
            { force: true },
          )
        },
      }),
      { steps: twoSteps },
    ),
  },
  {
    id: 'n27',
    mistake: 'an update drops the owner reference of a child',
    rules: ['cleanup', 'ownership'],
    tier: 0,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const {
          metadata: { ownerReferences, ...metadata },
          data,
        } = childOf(app, 0)
        const found = await client.find(ConfigMap, { name: metadata.name, namespace: 'default' })
        if (!found) await client.create(ConfigMap, { metadata: { ...metadata, ownerReferences }, data })
        else if (found.data?.['text'] !== data['text'])
          await client.update({
            ...found,
            metadata: { ...metadata, resourceVersion: found.metadata.resourceVersion },
            data,
          } as unknown as typeof found)
      },
    })),
  },
  {
    id: 'n28',
    mistake: 'takes the first finalizer in the list for its own',
    rules: ['cleanup'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ client, external: { cloud } }) => ({
        for: App,
        rbac,
        async reconcileKey({ name, namespace = 'default' }) {
          const app = await client.find(App, { name, namespace })
          if (!app) return
          const { finalizers = [], resourceVersion, deletionTimestamp, uid } = app.metadata
          if (deletionTimestamp !== undefined) {
            if (!finalizers.includes(finalizer)) return
            await cloud.delete(`${name}-${uid}`)
            await client.patch(app, { metadata: { finalizers: finalizers.slice(1), resourceVersion } })
            return
          }
          if (!finalizers.includes(finalizer))
            await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
          await cloud.ensure(`${name}-${uid}`, uid)
        },
      }),
      { steps: [does.create, does.remove] },
    ),
  },
  {
    id: 'n29',
    mistake: 'holds an external lock during the work: a crash leaves it locked',
    rules: ['failure', 'cleanup'],
    tier: 1,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app, context) {
        if (app.status?.observedGeneration === app.metadata.generation) return
        await cloud.createNamed(`lock-${app.metadata.name}`, app.metadata.uid)
        await applyChildren(app, context)
        await pruneChildren(app, context)
        await cloud.delete(`lock-${app.metadata.name}`)
        context.status.set({ ready: app.spec.size ?? 0 })
      },
    })),
  },
  {
    id: 'n30',
    mistake: 'remembers finished work by name',
    rules: ['identity', 'state', 'stateless', 'cleanup'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ external: { cloud } }) => {
        const done = new Map<string, number>()
        return {
          for: App,
          async reconcile(app) {
            const { name, generation, uid } = app.metadata
            if (done.get(name) === generation) return
            await cloud.ensure(`${name}-${uid}`, uid)
            done.set(name, generation ?? 0)
          },
          async cleanup(app) {
            await cloud.delete(`${app.metadata.name}-${app.metadata.uid}`)
          },
        }
      },
      { steps: [does.create] },
    ),
  },
  {
    id: 'n31',
    mistake: 'reconciles only the first event of an object',
    rules: ['state', 'truth'],
    tier: 0,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        predicates: [(event) => event.type === 'add'],
        async reconcile(app, context) {
          await applyChildren(app, context)
          await pruneChildren(app, context)
        },
      }),
      { steps: [does.create, does.shrink] },
    ),
  },
  {
    id: 'n32',
    mistake: 'recreates a child that differs in any field: with a mutating webhook, forever',
    rules: ['state', 'hot-loop', 'failure', 'churn', 'conflict', 'idempotent'],
    tier: 1,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        rbac,
        async reconcile(app, { client }) {
          const wanted = childOf(app, 0)
          const found = await client.find(ConfigMap, { name: wanted.metadata.name, namespace: 'default' })
          const isRight =
            found &&
            JSON.stringify([found.metadata.labels, found.data]) ===
              JSON.stringify([wanted.metadata.labels, wanted.data])
          if (isRight || found?.metadata.deletionTimestamp !== undefined) return
          if (found) await client.delete(found, { preconditions: { uid: found.metadata.uid ?? '' } })
          await client.create(ConfigMap, wanted)
        },
      }),
      { steps: [does.create] },
    ),
  },
]
