/**
 * Mistakes with children: twins, strangers, wrong owners, memory.
 */
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { Mutant } from '../mutant.ts'
import { App, appProgram, applyChildren, childOf, childrenOf, ignoreMissing, indexOf, ownersOf, pruneChildren, rightApp } from '../worlds/app.ts'

const clean = appProgram(rightApp)

export const childMutants: readonly Mutant[] = [
  {
    id: 'm13', mistake: 'children with generated names, counted in a cache that lags', rules: ['idempotent'], tier: 1, seenIn: 'scylla-operator #2492, cluster-api #13649', clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const missing = (app.spec.size ?? 0) - (await childrenOf(app, { client })).length
        const { metadata: { name: _, ...metadata }, data } = childOf(app, 0)
        for (let made = 0; made < missing; made++) await client.create(ConfigMap, { metadata: { ...metadata, generateName: `${app.metadata.name}-` }, data })
      },
    })),
  },
  {
    id: 'm17', mistake: 'children are deleted by name, without the uid', rules: ['identity'], tier: 1, clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        await applyChildren(app, context)
        for (const child of await childrenOf(app, context)) if (indexOf(child) >= (app.spec.size ?? 0)) await context.client.delete(child).catch(ignoreMissing)
      },
    })),
  },
  {
    id: 'm19', mistake: 'the previous size is kept in memory', rules: ['stateless', 'idempotent', 'state', 'failure'], tier: 1, seenIn: 'casskop #342, zookeeper #453', clean,
    broken: appProgram(() => {
      const sizes = new Map<string, number>()
      return {
        for: App,
        async reconcile(app, context) {
          const [before, now] = [sizes.get(app.metadata.uid) ?? 0, app.spec.size ?? 0]
          await applyChildren(app, context)
          for (let index = now; index < before; index++) await context.client.delete({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${app.metadata.name}-${index}`, namespace: 'default' } }).catch(ignoreMissing)
          sizes.set(app.metadata.uid, now)
        },
      }
    }),
  },
  {
    id: 'm33', mistake: 'acts on everything that has the label, owned or not', rules: ['ownership'], tier: 1, clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        await applyChildren(app, { client })
        const { items } = await client.list(ConfigMap, { namespace: 'default', labelSelector: { matchLabels: { app: app.metadata.name } } })
        for (const child of items) if (!(indexOf(child) < (app.spec.size ?? 0))) await client.delete(child, { preconditions: { uid: child.metadata.uid } }).catch(ignoreMissing)
      },
    })),
  },
  {
    id: 'm35', mistake: 'the right uid and the wrong kind in the owner reference', rules: ['ownership'], tier: 0, seenIn: 'crossplane #895, kubernetes #72192', clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const child = childOf(app, 0)
        await client.apply(ConfigMap, { ...child, metadata: { ...child.metadata, ownerReferences: ownersOf(app).map((owner) => ({ ...owner, kind: 'Application' })) } }, { force: true })
      },
    })),
  },
  {
    id: 'm11', mistake: 'what was told in an event decides, not what is there', rules: ['state', 'failure', 'stateless', 'idempotent'], tier: 1, seenIn: 'K8SPXC-725', clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        // Only a new generation is worth a look: a child that goes missing never comes back.
        if (app.status?.observedGeneration === app.metadata.generation) return
        await applyChildren(app, context)
        await pruneChildren(app, context)
        context.status.set({ ready: app.spec.size ?? 0 })
      },
    })),
  },
]
