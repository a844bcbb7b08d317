/**
 * Mistakes with the world outside: ids that get lost, cleanups in the wrong order, answers that are taken for the truth.
 */
import type { Mutant } from '../mutant.ts'
import { App, appProgram, appRules as rbac, does, finalizer, cleanApp } from '../worlds/app.ts'
import type { AppObject, Context, Making } from '../worlds/app.ts'

const clean = cleanApp

/** A view may be old: whoever makes or destroys something outside asks the server first. */
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
    mistake: 'the id of a bucket is stored in the status after it was made',
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
    mistake: 'the finalizer is taken off before the cleanup',
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
    mistake: 'something is made outside for an owner that is gone, because a view was old',
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
    mistake: 'a bucket that exists already is an error for ever, although it is our own',
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
    mistake: 'a bucket that is not shown yet is made again: services show things late',
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
    mistake: 'no finalizer at all: the bucket stays',
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
    mistake: 'a cleanup that fails when there is nothing left to clean up',
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
    mistake: 'the finalizer is put on after the bucket was made',
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
    mistake: 'errors of a service are swallowed and success is reported',
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
