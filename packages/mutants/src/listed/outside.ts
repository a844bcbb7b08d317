/**
 * Mistakes with the world outside: ids that get lost, cleanups in the wrong order.
 */
import type { Mutant } from '../mutant.ts'
import { App, appProgram, finalizer, rightApp } from '../worlds/app.ts'

const clean = appProgram(rightApp)

export const outsideMutants: readonly Mutant[] = [
  {
    id: 'm07', mistake: 'the id of a bucket is stored in the status after it was made', rules: ['idempotent', 'cleanup'], tier: 1, seenIn: 'crossplane-runtime #279, #283', clean,
    broken: appProgram(({ outside: { cloud } }) => ({
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
    id: 'm09', mistake: 'the finalizer is taken off before the cleanup', rules: ['cleanup'], tier: 1, seenIn: 'the contract of finalizers', clean,
    broken: appProgram(({ outside: { cloud }, client }) => ({
      for: App, rbac: [{ apiGroups: ['mutants.dev'], resources: ['apps'], verbs: ['get', 'patch', 'update'] }],
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        if (app.metadata.deletionTimestamp !== undefined) {
          await client.patch(app, { metadata: { finalizers: (app.metadata.finalizers ?? []).filter((one) => one !== finalizer), resourceVersion: app.metadata.resourceVersion } })
          await cloud.delete(name)
          return
        }
        if (!(app.metadata.finalizers ?? []).includes(finalizer)) await client.patch(app, { metadata: { finalizers: [...app.metadata.finalizers ?? [], finalizer], resourceVersion: app.metadata.resourceVersion } })
        await cloud.ensure(name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'm09b', mistake: 'no finalizer at all: the bucket stays', rules: ['cleanup'], tier: 1, clean,
    broken: appProgram(({ outside: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.ensure(app.metadata.name, app.metadata.uid)
      },
    })),
  },
  {
    id: 'm41', mistake: 'a bucket that exists already is an error for ever, although it is our own', rules: ['failure'], tier: 1, seenIn: 'cluster-samples-operator #146', clean,
    broken: appProgram(({ outside: { cloud } }) => ({
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
    id: 'm05', mistake: 'a cleanup that fails when there is nothing left to clean up', rules: ['cleanup', 'failure'], tier: 1, seenIn: 'nifikop #79', clean,
    broken: appProgram(({ outside: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.ensure(app.metadata.name, app.metadata.uid)
      },
      async cleanup(app) {
        await cloud.deleteStrictly(app.metadata.name)
      },
    })),
  },
]
