/**
 * Mistakes with children: duplicates, objects of others, wrong owners, state in memory.
 */
import { ConfigMap, PersistentVolumeClaim } from 'evenkeel/kinds/core/v1'
import type { UserStep } from 'evenkeel/testing'
import type { Mutant } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  applyChildren,
  childOf,
  childrenOf,
  does,
  ignoreMissing,
  indexOf,
  ownersOf,
  place,
  pruneChildren,
  cleanApp,
} from '../worlds/app.ts'
import type { AppObject, Context, Making } from '../worlds/app.ts'

const clean = cleanApp

/** An App starts without a volume and gets one. */
const volumeSteps: readonly UserStep[] = [
  { name: 'creates App a without a volume', run: (user) => user.create(App, { metadata: place, spec: {} }) },
  {
    name: 'adds a volume to App a',
    run: async (user) => user.patch(await user.get(App, place), { spec: { size: 1 } }),
  },
]

/** The volume follows the size; `isSure` is called before it is deleted. */
function withVolume(isSure: (app: AppObject, context: Pick<Context, 'client'>) => Promise<boolean>): Making {
  return () => ({
    for: App,
    owns: [PersistentVolumeClaim],
    rbac,
    async reconcile(app, { client }) {
      const { name, namespace = 'default' } = app.metadata
      const metadata = { name, namespace, ownerReferences: ownersOf(app) }
      const wants = (app.spec.size ?? 0) > 0
      if (wants)
        await client.apply(
          PersistentVolumeClaim,
          { metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
          { force: true },
        )
      const claim = await client.find(PersistentVolumeClaim, { name, namespace })
      if (wants || !claim || claim.metadata.deletionTimestamp !== undefined || !(await isSure(app, { client }))) return
      await client.delete(claim, { preconditions: { uid: claim.metadata.uid } }).catch(ignoreMissing)
    },
  })
}

export const childMutants: readonly Mutant[] = [
  {
    id: 'm11',
    mistake: 'a stale spec disables a component, and its data is deleted',
    rules: ['churn', 'state'],
    tier: 1,
    profile: 'k8s<=1.34',
    seenIn: 'K8SPXC-725, K8SPSMDB-433',
    clean: appProgram(
      withVolume(async ({ metadata: { name = '', namespace = 'default', generation } }, { client }) => {
        const now = await client.find(App, { name, namespace }, { live: true })
        return now?.metadata.generation === generation
      }),
      { steps: volumeSteps },
    ),
    broken: appProgram(
      withVolume(() => Promise.resolve(true)),
      { steps: volumeSteps },
    ),
  },
  {
    id: 'm13',
    mistake: 'counts children with generated names in a stale cache',
    rules: ['idempotent'],
    tier: 1,
    seenIn: 'scylla-operator #2492, cluster-api #13649',
    clean,
    broken: appProgram(
      ({ client: raw }) => ({
        for: App,
        async reconcile(app, { client }) {
          const missing = (app.spec.size ?? 0) - (await childrenOf(app, { client })).length
          const {
            metadata: { name: _, ...metadata },
            data,
          } = childOf(app, 0)
          // With its own client: the runtime does not wait until the cache has the write.
          for (let made = 0; made < missing; made++)
            await raw.create(ConfigMap, {
              metadata: { ...metadata, generateName: `${app.metadata.name}-` },
              data: { ...data, text: '' },
            })
        },
      }),
      { steps: [does.create] },
    ),
  },
  {
    id: 'm17',
    mistake: 'deletes children by name, without a uid precondition',
    rules: ['identity'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        await applyChildren(app, context)
        for (const child of await childrenOf(app, context))
          if (indexOf(child) >= (app.spec.size ?? 0))
            await context.client
              .delete({
                apiVersion: 'v1',
                kind: 'ConfigMap',
                metadata: { name: child.metadata.name ?? '', namespace: 'default' },
              })
              .catch(ignoreMissing)
      },
    })),
  },
  {
    id: 'm19',
    mistake: 'keeps the previous size in memory',
    rules: ['stateless', 'failure', 'state'],
    tier: 1,
    seenIn: 'casskop #342, zookeeper #453',
    clean,
    broken: appProgram(() => {
      const sizes = new Map<string, number>()
      return {
        for: App,
        async reconcile(app, context) {
          const [before, now] = [sizes.get(app.metadata.uid) ?? 0, app.spec.size ?? 0]
          await applyChildren(app, context)
          for (let index = now; index < before; index++)
            await context.client
              .delete({
                apiVersion: 'v1',
                kind: 'ConfigMap',
                metadata: { name: `${app.metadata.name}-${index}`, namespace: 'default' },
              })
              .catch(ignoreMissing)
          sizes.set(app.metadata.uid, now)
        },
      }
    }),
  },
  {
    id: 'm33',
    mistake: 'changes every object with the label, owned or not',
    rules: ['ownership'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        await applyChildren(app, { client })
        const { items } = await client.list(ConfigMap, {
          namespace: 'default',
          labelSelector: { matchLabels: { app: app.metadata.name } },
        })
        for (const child of items)
          if (!(indexOf(child) < (app.spec.size ?? 0)))
            await client.delete(child, { preconditions: { uid: child.metadata.uid } }).catch(ignoreMissing)
      },
    })),
  },
  {
    id: 'm35',
    mistake: 'an owner reference with the right uid and the wrong kind',
    rules: ['ownership'],
    tier: 0,
    seenIn: 'crossplane #895, kubernetes #72192',
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const child = childOf(app, 0)
        await client.apply(
          ConfigMap,
          {
            ...child,
            metadata: {
              ...child.metadata,
              ownerReferences: ownersOf(app).map((owner) => ({ ...owner, kind: 'Application' })),
            },
          },
          { force: true },
        )
      },
    })),
  },
  {
    id: 'x05',
    mistake: 'skips a generation that it has reconciled: a deleted child stays missing',
    rules: ['state'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        if (app.status?.observedGeneration === app.metadata.generation) return
        await applyChildren(app, context)
        await pruneChildren(app, context)
        context.status.set({ ready: app.spec.size ?? 0 })
      },
    })),
  },
  {
    id: 'x06',
    mistake: 'counts every object with the label, owned or not',
    rules: ['ownership'],
    tier: 1,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          const { items } = await client.list(ConfigMap, {
            namespace: 'default',
            labelSelector: { matchLabels: { app: app.metadata.name } },
          })
          const names = new Set(items.map(({ metadata }) => metadata.name))
          for (let index = 0; names.size < (app.spec.size ?? 0); index++) {
            const child = childOf(app, index)
            if (!names.has(child.metadata.name)) await client.apply(ConfigMap, child, { force: true })
            names.add(child.metadata.name)
          }
        },
      }),
      { steps: [does.create, does.grow] },
    ),
  },
]
