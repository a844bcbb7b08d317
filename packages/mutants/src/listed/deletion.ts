/**
 * Mistakes with deletion: late finalizers, removed finalizers of others, and new children during deletion.
 */
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { Mutant } from '../mutant.ts'
import { App, appProgram, appRules as rbac, childOf, finalizer, cleanApp } from '../worlds/app.ts'

const clean = cleanApp

export const deletionMutants: readonly Mutant[] = [
  {
    id: 'm21',
    mistake: 'adds the finalizer before it checks deletionTimestamp',
    rules: ['deletion-first'],
    tier: 1,
    seenIn: 'the sample most slide decks show; kopf #1236',
    clean,
    broken: appProgram(({ client, external: { cloud } }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], resourceVersion } = app.metadata
        if (!finalizers.includes(finalizer))
          await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
        if (app.metadata.deletionTimestamp !== undefined) {
          await cloud.delete(name)
          await client.patch(await client.get(App, { name, namespace }), {
            metadata: { finalizers: finalizers.filter((one) => one !== finalizer), resourceVersion },
          })
          return
        }
        await cloud.ensure(name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'm23',
    mistake: 'removes all finalizers',
    rules: ['cleanup', 'conflict'],
    tier: 1,
    seenIn: 'kubermatic #6759, kube-rs #965',
    clean,
    broken: appProgram(({ client, external: { cloud } }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], resourceVersion } = app.metadata
        if (app.metadata.deletionTimestamp !== undefined) {
          if (!finalizers.includes(finalizer)) return
          await cloud.delete(name)
          await client.patch(app, { metadata: { finalizers: [], resourceVersion } })
          return
        }
        if (!finalizers.includes(finalizer))
          await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
        await cloud.ensure(name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'm25',
    mistake: 'creates children while the object is being deleted',
    rules: ['deletion-first'],
    tier: 1,
    seenIn: 'zookeeper-operator #410',
    clean,
    broken: appProgram(({ client }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (app) await client.apply(ConfigMap, childOf(app, 0), { force: true })
      },
    })),
  },
]
