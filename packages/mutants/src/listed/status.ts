/**
 * Mistakes with the status: claims before deeds, wrong generations, times that move.
 */
import type { Mutant } from '../mutant.ts'
import { App, appProgram, applyChildren, pruneChildren, rightApp } from '../worlds/app.ts'

const clean = appProgram(rightApp)
const appRules = [{ apiGroups: ['mutants.dev'], resources: ['apps', 'apps/status'], verbs: ['get', 'patch', 'update'] }]

export const statusMutants: readonly Mutant[] = [
  {
    id: 'm01', mistake: 'the status says resized before resizing', rules: ['truth'], tier: 1, seenIn: 'rabbitmq cluster-operator #782', clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        await context.client.patchStatus(app, { ready: app.spec.size ?? 0 })
        await applyChildren(app, context)
        await pruneChildren(app, context)
      },
    })),
  },
  {
    id: 'm27', mistake: 'observedGeneration is that of the run before', rules: ['truth'], tier: 0, clean,
    broken: appProgram(({ client }) => ({
      for: App, rbac: appRules,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (app && app.metadata.deletionTimestamp === undefined && app.status?.observedGeneration === undefined) await client.patchStatus(app, { observedGeneration: app.metadata.generation })
      },
    })),
  },
  {
    id: 'm29', mistake: 'the time of the last transition is written with every run', rules: ['truth', 'hot-loop', 'idempotent'], tier: 0, seenIn: 'kfp-operator #625', clean,
    broken: appProgram(({ client, clock }) => ({
      for: App, rbac: appRules,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app || app.metadata.deletionTimestamp !== undefined) return
        await client.patchStatus(app, { phase: String(clock.now()) })
        return { afterMs: 1000 }
      },
    })),
  },
  {
    id: 'm31', mistake: 'a conflict is swallowed and success reported', rules: ['conflict'], tier: 1, clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        if (app.status?.observedGeneration === app.metadata.generation) return
        try {
          await applyChildren(app, context)
          await pruneChildren(app, context)
        } catch (error) {
          if ((error as { reason?: string }).reason !== 'Conflict') throw error
        }
        context.status.set({ ready: app.spec.size ?? 0 })
      },
    })),
  },
]
