/**
 * Mistakes with the status: claims before the work is done, wrong generations, wrong transition times, state kept in the status.
 */
import { formatTime } from 'evenkeel/unstable/api'
import type { Mutant } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  applyChildren,
  childrenOf,
  ignoreMissing,
  indexOf,
  pruneChildren,
  cleanApp,
} from '../worlds/app.ts'

const clean = cleanApp

export const statusMutants: readonly Mutant[] = [
  {
    id: 'm01',
    mistake: 'reports the new size before it resizes',
    rules: ['truth'],
    tier: 1,
    seenIn: 'rabbitmq cluster-operator #782',
    clean,
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
    id: 'm03',
    mistake: 'a state machine treats a half-done delete as an error',
    rules: ['failure'],
    tier: 1,
    seenIn: 'casskop #370',
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        const { phase = 'Ready' } = app.status ?? {}
        if (phase === 'Failed') return
        await applyChildren(app, context)
        const [extra] = (await childrenOf(app, context)).filter((child) => indexOf(child) >= (app.spec.size ?? 0))
        if (phase !== 'Shrinking') {
          context.status.set({ phase: extra ? 'Shrinking' : 'Ready' })
          return
        }
        // It existed when the phase began: its absence is treated as a failure.
        if (extra) await context.client.delete(extra, { preconditions: { uid: extra.metadata.uid ?? '' } })
        context.status.set({ phase: extra ? 'Ready' : 'Failed' })
      },
    })),
  },
  {
    id: 'm05',
    mistake: 'scales down in two steps: first records it in the status, then deletes',
    rules: ['failure'],
    tier: 1,
    seenIn: 'nifikop #79',
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        const [before, now] = [app.status?.ready ?? 0, app.spec.size ?? 0]
        await applyChildren(app, context)
        await context.client.patchStatus(app, { ready: now })
        if (before <= now) return
        for (const child of await childrenOf(app, context))
          if (indexOf(child) >= now)
            await context.client
              .delete(child, { preconditions: { uid: child.metadata.uid ?? '' } })
              .catch(ignoreMissing)
      },
    })),
  },
  {
    id: 'm27',
    mistake: 'observedGeneration is that of the first reconcile',
    rules: ['truth'],
    tier: 0,
    clean,
    broken: appProgram(({ client }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (app && app.metadata.deletionTimestamp === undefined && app.status?.observedGeneration === undefined)
          await client.patchStatus(app, { observedGeneration: app.metadata.generation })
      },
    })),
  },
  {
    id: 'm29',
    mistake: 'writes lastTransitionTime in every reconcile',
    rules: ['truth', 'hot-loop'],
    tier: 0,
    seenIn: 'kfp-operator #625, multigres #185',
    clean,
    broken: appProgram(({ client, clock }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app || app.metadata.deletionTimestamp !== undefined) return
        const lastTransitionTime = formatTime(clock.now())
        await client.patchStatus(app, {
          conditions: [{ type: 'Ready', status: 'True', reason: 'Done', lastTransitionTime }],
        })
        return { afterMs: 1000 }
      },
    })),
  },
  {
    id: 'm31',
    mistake: 'ignores a conflict and reports success',
    rules: ['conflict'],
    tier: 1,
    clean,
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
