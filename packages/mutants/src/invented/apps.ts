/**
 * More mistakes with children: blind writes, wrong selections, ignored specs.
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
  childrenOf,
  cleanApp,
  does,
  finalizer,
  place,
  pruneChildren,
  rightApp,
} from '../worlds/app.ts'

const clean = cleanApp

/** Two Apps; one changes. */
const pairSteps: readonly UserStep[] = [
  {
    name: 'creates Apps a and b',
    run: async (user) => {
      for (const name of ['a', 'b'])
        await user.create(App, { metadata: { ...place, name }, spec: { size: 1, text: name } })
    },
  },
  {
    name: 'changes App b',
    run: async (user) => user.patch(await user.get(App, { ...place, name: 'b' }), { spec: { text: 'other' } }),
  },
]
const cleanPair = appProgram(rightApp, { steps: pairSteps })

function reasonOf(error: unknown): string {
  return (error as { reason?: string }).reason ?? ''
}

export const appMutants: readonly Mutant[] = [
  {
    id: 'n10',
    mistake: 'deletes every object with the label when it shrinks, owned or not',
    rules: ['ownership'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['deletecollection'] }],
      async reconcile(app, context) {
        const { length } = await childrenOf(app, context)
        if (length > (app.spec.size ?? 0))
          await context.client.deleteAllOf(ConfigMap, {
            namespace: 'default',
            labelSelector: { matchLabels: { app: app.metadata.name } },
          })
        await applyChildren(app, context)
      },
    })),
  },
  {
    id: 'n11',
    mistake: 'takes the first object with the label for its own',
    rules: ['ownership', 'state'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client, status }) {
        const { items } = await client.list(ConfigMap, {
          namespace: 'default',
          labelSelector: { matchLabels: { app: app.metadata.name } },
        })
        const last = items.at(-1)
        if (!last) await client.create(ConfigMap, childOf(app, 0))
        else if (last.data?.['text'] !== app.spec.text)
          await client.patch(last, { data: { text: app.spec.text ?? null } })
        status.set({ phase: last?.metadata.name ?? `${app.metadata.name}-0` })
      },
    })),
  },
  {
    id: 'n12',
    mistake: 'after a conflict, sends the same update with the new resourceVersion',
    rules: ['conflict'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const wanted = { apiVersion: 'v1', kind: 'ConfigMap', ...childOf(app, 0) }
        const found = await client.find(ConfigMap, { name: wanted.metadata.name, namespace: 'default' })
        if (!found) {
          await client.create(wanted)
          return
        }
        if (found.data?.['text'] === wanted.data['text']) return
        const changed = { ...found, data: wanted.data }
        await client.update(changed).catch(async (error: unknown) => {
          if (reasonOf(error) !== 'Conflict') throw error
          const now = await client.get(ConfigMap, { name: wanted.metadata.name, namespace: 'default' }, { live: true })
          await client.update({
            ...changed,
            metadata: { ...changed.metadata, resourceVersion: now.metadata.resourceVersion },
          })
        })
      },
    })),
  },
  {
    id: 'n13',
    mistake: 'gives up after one Invalid response',
    rules: ['failure'],
    tier: 1,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, context) {
          await applyChildren(app, context).catch((error: unknown) => {
            if (reasonOf(error) !== 'Invalid') throw error
          })
          await pruneChildren(app, context)
        },
      }),
      { steps: [does.create] },
    ),
  },
  {
    id: 'n14',
    mistake: 'never changes an existing child: later specs have no effect',
    rules: ['state'],
    tier: 1,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          await client.create(ConfigMap, childOf(app, 0)).catch((error: unknown) => {
            if (reasonOf(error) !== 'AlreadyExists') throw error
          })
        },
      }),
      { steps: [does.create, does.shrink] },
    ),
  },
  {
    id: 'n15',
    mistake: 'never reconciles again after success: later specs have no effect',
    rules: ['state', 'truth'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app, context) {
          if (app.status?.phase === 'Done') return
          await cloud.ensure(app.metadata.name, app.metadata.uid)
          await applyChildren(app, context)
          context.status.set({ phase: 'Done' })
        },
        async cleanup(app) {
          await cloud.delete(app.metadata.name)
        },
      }),
      { steps: [does.create, does.grow] },
    ),
  },
  {
    id: 'n16',
    mistake: 'ignores an App without children: its finalizer remains',
    rules: ['cleanup'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ client, external: { cloud } }) => ({
        for: App,
        rbac,
        async reconcileKey({ name, namespace = 'default' }) {
          const app = await client.find(App, { name, namespace })
          if (!app || app.spec.size === 0) return
          const { finalizers = [], resourceVersion, deletionTimestamp, uid } = app.metadata
          if (deletionTimestamp !== undefined) {
            if (!finalizers.includes(finalizer)) return
            await cloud.delete(`${name}-${uid}`)
            await client.patch(app, {
              metadata: { finalizers: finalizers.filter((one) => one !== finalizer), resourceVersion },
            })
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
    id: 'n17',
    mistake: 'reconciles all Apps in every run: one that fails blocks those after it',
    rules: ['failure'],
    tier: 1,
    clean: cleanPair,
    broken: appProgram(
      () => ({
        for: App,
        rbac,
        async reconcileKey(_, { client }) {
          const { items } = await client.list(App, { namespace: 'default' })
          for (const app of items)
            if (app.metadata.deletionTimestamp === undefined)
              await client.apply(ConfigMap, childOf(app, 0), { force: true })
        },
      }),
      { steps: pairSteps },
    ),
  },
  {
    id: 'n18',
    mistake: 'reads, changes and updates a shared object without its resourceVersion',
    rules: ['state', 'conflict', 'failure', 'idempotent', 'stateless'],
    tier: 1,
    clean: cleanPair,
    broken: appProgram(
      () => ({
        for: App,
        rbac,
        concurrency: 2,
        owns: [],
        async reconcile(app, { client }) {
          const place = { name: 'registry', namespace: 'default' }
          const found = await client.find(ConfigMap, place, { live: true })
          const names = [...new Set([...(found?.data?.['names']?.split(',') ?? []), app.metadata.name])]
          if (!found) await client.create(ConfigMap, { metadata: place, data: { names: names.join() } })
          else if (found.data?.['names'] !== names.join()) await client.patch(found, { data: { names: names.join() } })
        },
      }),
      { steps: pairSteps },
    ),
  },
  {
    id: 'n19',
    mistake: 'the cleanup creates an object, which is impossible in a namespace in deletion',
    rules: ['cleanup', 'failure'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app) {
          await cloud.ensure(app.metadata.name, app.metadata.uid)
        },
        async cleanup(app, { client }) {
          const lock = { name: `${app.metadata.name}-lock`, namespace: 'default' }
          await client.apply(ConfigMap, { metadata: lock, data: {} }, { force: true })
          await cloud.delete(app.metadata.name)
          await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', metadata: lock }).catch((error: unknown) => {
            if (reasonOf(error) !== 'NotFound') throw error
          })
        },
      }),
      { steps: [does.create, does.remove] },
    ),
  },
]
