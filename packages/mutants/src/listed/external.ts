/**
 * Mistakes with external services: lost ids, cleanups in the wrong order, trust in stale reads.
 */
import type { Mutant } from '../mutant.ts'
import { App, appProgram, appRules as rbac, does, finalizer, cleanApp } from '../worlds/app.ts'
import type { AppObject, Context, Making } from '../worlds/app.ts'

const clean = cleanApp

/** A cache may be stale: reads from the server before it creates or deletes an external resource. */
async function isCurrent(
  { metadata: { name = '', namespace = 'default', uid } }: AppObject,
  { client }: Pick<Context, 'client'>,
): Promise<boolean> {
  const now = await client.find(App, { name, namespace }, { live: true })
  return now?.metadata.uid === uid
}

const asksFirst: Making = ({ external: { cloud } }) => ({
  for: App,
  async reconcile(app, context) {
    if (await isCurrent(app, context)) await cloud.ensure(app.metadata.name, app.metadata.uid)
  },
  async cleanup(app, context) {
    if (await isCurrent(app, context)) await cloud.delete(app.metadata.name)
  },
})

export const externalMutants: readonly Mutant[] = [
  {
    id: 'm07',
    mistake: 'stores the id of a bucket in the status after it created the bucket',
    rules: ['idempotent', 'cleanup'],
    tier: 1,
    seenIn: 'crossplane-runtime #279, #283',
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app, { status }) {
        if (app.status?.bucket === undefined) status.set({ bucket: await cloud.create(app.metadata.uid) })
      },
      async cleanup(app) {
        if (app.status?.bucket !== undefined) await cloud.delete(app.status.bucket)
      },
    })),
  },
  {
    id: 'm09',
    mistake: 'removes the finalizer before the cleanup',
    rules: ['cleanup'],
    tier: 1,
    seenIn: 'the contract of finalizers',
    clean,
    broken: appProgram(({ external: { cloud }, client }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], resourceVersion, deletionTimestamp } = app.metadata
        if (deletionTimestamp !== undefined) {
          await client.patch(app, {
            metadata: { finalizers: finalizers.filter((one) => one !== finalizer), resourceVersion },
          })
          await cloud.delete(name)
          return
        }
        if (!finalizers.includes(finalizer))
          await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
        await cloud.ensure(name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'm15',
    mistake: 'creates an external resource for a deleted owner, because of a stale cache',
    rules: ['cleanup'],
    tier: 1,
    profile: 'k8s<=1.34',
    seenIn: 'kubernetes #59848, cloud-on-k8s #4956',
    clean: appProgram(asksFirst, { steps: [does.create, does.remove] }),
    broken: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app) {
          await cloud.ensure(app.metadata.name, app.metadata.uid)
        },
        async cleanup(app) {
          await cloud.delete(app.metadata.name)
        },
      }),
      { steps: [does.create, does.remove] },
    ),
  },
  {
    id: 'm41',
    mistake: 'fails forever for an existing bucket, although it created the bucket itself',
    rules: ['failure'],
    tier: 1,
    seenIn: 'cluster-samples-operator #146',
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app, { status }) {
        if (app.status?.bucket !== undefined) return
        await cloud.createNamed(app.metadata.name, app.metadata.uid)
        status.set({ bucket: app.metadata.name })
      },
      async cleanup(app) {
        await cloud.delete(app.metadata.name)
      },
    })),
  },
  {
    id: 'm51',
    mistake: 'creates a bucket again that an eventually consistent service does not list yet',
    rules: ['idempotent'],
    tier: 1,
    seenIn: 'crossplane-runtime #283',
    clean,
    broken: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app, { status }) {
          const found = await cloud.findByOwner(app.metadata.uid)
          status.set({ bucket: found ?? (await cloud.create(app.metadata.uid)) })
        },
        async cleanup(app) {
          for (
            let found = await cloud.findByOwner(app.metadata.uid);
            found !== undefined;
            found = await cloud.findByOwner(app.metadata.uid)
          )
            await cloud.delete(found)
        },
      }),
      { steps: [does.create, does.shrink] },
    ),
  },
  {
    id: 'x01',
    mistake: 'has no finalizer: the bucket remains',
    rules: ['cleanup'],
    tier: 0,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.ensure(app.metadata.name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'x02',
    mistake: 'the cleanup fails when nothing is left to clean up',
    rules: ['cleanup', 'failure'],
    tier: 1,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.ensure(app.metadata.name, app.metadata.uid)
      },
      async cleanup(app) {
        await cloud.deleteStrictly(app.metadata.name)
      },
    })),
  },
  {
    id: 'x03',
    mistake: 'adds the finalizer after it created the bucket',
    rules: ['cleanup'],
    tier: 1,
    clean,
    broken: appProgram(({ external: { cloud }, client }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], resourceVersion, deletionTimestamp } = app.metadata
        if (deletionTimestamp !== undefined) {
          if (!finalizers.includes(finalizer)) return
          await cloud.delete(name)
          await client.patch(app, {
            metadata: { finalizers: finalizers.filter((one) => one !== finalizer), resourceVersion },
          })
          return
        }
        await cloud.ensure(name, app.metadata.uid)
        if (!finalizers.includes(finalizer))
          await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
      },
    })),
  },
  {
    id: 'x04',
    mistake: 'ignores errors of a service and reports success',
    rules: ['failure', 'truth'],
    tier: 1,
    clean,
    broken: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app, { status }) {
          if (app.status?.bucket !== undefined) return
          await cloud.ensure(app.metadata.name, app.metadata.uid).catch(() => undefined)
          status.set({ bucket: app.metadata.name })
        },
        async cleanup(app) {
          await cloud.delete(app.metadata.name)
        },
      }),
      { steps: [does.create] },
    ),
  },
]
