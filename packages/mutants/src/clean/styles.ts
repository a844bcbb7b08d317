/**
 * Correct controllers in different styles. Every failure that the Explorer reports for one is a false alarm.
 */
import { ConfigMap, Secret, Service } from 'evenkeel/kinds/core/v1'
import type { Client } from 'evenkeel/client'
import type { CleanController } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  applyChildren,
  childOf,
  childrenOf,
  does,
  finalizer,
  ignoreMissing,
  ownersOf,
  pruneChildren,
} from '../worlds/app.ts'
import type { AppObject } from '../worlds/app.ts'

const short = [does.create, does.shrink]
const whole = [does.create, does.remove]

/** The App, if its uid is still the same. */
async function current(
  { metadata: { name = '', namespace = 'default', uid } }: AppObject,
  client: Client,
): Promise<AppObject | undefined> {
  const now = await client.find(App, { name, namespace })
  return now?.metadata.uid === uid ? (now as AppObject) : undefined
}

/** Rethrows a conflict: an ignored one would not be retried. */
function ignoreGone(error: unknown): void {
  if ((error as { reason?: string }).reason !== 'NotFound') throw error
}

export const styles: readonly CleanController[] = [
  {
    id: 'c01',
    style: 'createOrUpdate instead of apply, and a status with a condition',
    subject: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client, status }) {
          const { metadata, data } = childOf(app, 0)
          const {
            metadata: { name, namespace },
          } = { metadata }
          await client.createOrUpdate(
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: {} },
            (now) => ({
              ...now,
              metadata: {
                ...now.metadata,
                labels: { ...(now.metadata as { labels?: Record<string, string> }).labels, ...metadata.labels },
                ownerReferences: metadata.ownerReferences,
              },
              data,
            }),
          )
          status.condition('Ready', true)
        },
      }),
      { steps: short },
    ),
  },
  {
    id: 'c02',
    style: 'reconcileKey with its own client and a hand-written finalizer',
    subject: appProgram(
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
            await client
              .patch(app, { metadata: { finalizers: finalizers.filter((one) => one !== finalizer), resourceVersion } })
              .catch(ignoreGone)
            return
          }
          if (!finalizers.includes(finalizer))
            await client.patch(app, { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } })
          await cloud.ensure(`${name}-${uid}`, uid)
        },
      }),
      { steps: whole },
    ),
  },
  {
    id: 'c03',
    style: 'children of several kinds, and a status from observed state',
    subject: appProgram(
      () => ({
        for: App,
        owns: [ConfigMap, Secret, Service],
        async reconcile(app, context) {
          const { name, namespace = 'default' } = app.metadata
          const metadata = { name, namespace, ownerReferences: ownersOf(app) }
          await context.client.apply(
            Secret,
            { metadata, stringData: { text: `secret of ${app.spec.text ?? ''}` } },
            { force: true },
          )
          await context.client.apply(
            Service,
            { metadata, spec: { selector: { app: name }, ports: [{ port: 80 }] } },
            { force: true },
          )
          await applyChildren(app, context)
          await pruneChildren(app, context)
          const seen = await childrenOf(app, context)
          context.status.set({ ready: Math.min(seen.length, app.spec.size ?? 0) })
        },
      }),
      { steps: short },
    ),
  },
  {
    id: 'c04',
    style: 'requeues every ten seconds and writes nothing new',
    subject: appProgram(
      () => ({
        for: App,
        async reconcile(app, context) {
          await applyChildren(app, context)
          await pruneChildren(app, context)
          context.status.set({ ready: app.spec.size ?? 0 })
          return { afterMs: 10_000 }
        },
      }),
      { steps: short },
    ),
  },
  {
    id: 'c05',
    style: 'an id of the cloud: records the intent first, and finds the bucket by its owner',
    subject: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app, { client, status }) {
          if (app.status?.phase !== 'Intended' && app.status?.bucket === undefined)
            await client.patchStatus(app, { phase: 'Intended' })
          const name = `of-${app.metadata.uid}`
          await cloud.ensure(name, app.metadata.uid)
          status.set({ phase: 'Intended', bucket: name })
        },
        async cleanup(app) {
          await cloud.delete(`of-${app.metadata.uid}`)
        },
      }),
      { steps: whole },
    ),
  },
  {
    id: 'c06',
    style: 'two workers, two objects',
    subject: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        concurrency: 4,
        async reconcile(app, context) {
          await cloud.ensure(app.metadata.name, app.metadata.uid)
          await applyChildren(app, context)
          await pruneChildren(app, context)
        },
        async cleanup(app) {
          await cloud.delete(app.metadata.name)
        },
      }),
      {
        steps: [
          {
            name: 'creates two Apps',
            run: async (user) => {
              for (const name of ['a', 'b'])
                await user.create(App, { metadata: { name, namespace: 'default' }, spec: { size: 1, text: name } })
            },
          },
          does.remove,
        ],
      },
    ),
  },
  {
    id: 'c07',
    style: 'leader election, with a check of the signal before every call',
    subject: appProgram(
      ({ external: { cloud } }) => ({
        for: App,
        async reconcile(app, { signal, client }) {
          for (const part of ['x', 'y']) {
            signal.throwIfAborted()
            await cloud.ensure(`${app.metadata.name}-${part}`, app.metadata.uid)
          }
          await client.apply(ConfigMap, childOf(app, 0), { force: true })
        },
        async cleanup(app, { signal }) {
          for (const part of ['x', 'y']) {
            signal.throwIfAborted()
            await cloud.delete(`${app.metadata.name}-${part}`)
          }
        },
      }),
      { steps: [does.create], leaderElection: { leaseMs: 15_000 } },
    ),
  },
  {
    id: 'c08',
    style: 'generated names, with a list from the server before every create',
    subject: appProgram(
      () => ({
        for: App,
        rbac,
        async reconcile(app, { client }) {
          const { items } = await client.list(ConfigMap, { namespace: 'default', live: true })
          const own = items.filter(
            ({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === app.metadata.uid) === true,
          )
          const {
            metadata: { name: _, ...metadata },
          } = childOf(app, 0)
          for (let made = own.length; made < (app.spec.size ?? 0); made++)
            await client.create(ConfigMap, { metadata: { ...metadata, generateName: `${app.metadata.name}-` } })
          for (const extra of own.slice(app.spec.size ?? 0))
            await client.delete(extra, { preconditions: { uid: extra.metadata.uid } }).catch(ignoreMissing)
        },
      }),
      { steps: short },
    ),
  },
  {
    id: 'c09',
    style: 'adopts objects with its labels and no owner',
    subject: appProgram(
      () => ({
        for: App,
        rbac,
        async reconcile(app, { client }) {
          await applyChildren(app, { client })
          await pruneChildren(app, { client })
          const { items } = await client.list(ConfigMap, {
            namespace: 'default',
            labelSelector: { matchLabels: { app: app.metadata.name } },
          })
          for (const orphan of items) {
            const {
              metadata: { ownerReferences = [], deletionTimestamp, resourceVersion },
            } = orphan
            if (ownerReferences.length > 0 || deletionTimestamp !== undefined || !(await current(app, client))) continue
            await client
              .patch(orphan, { metadata: { ownerReferences: ownersOf(app), resourceVersion } })
              .catch(ignoreGone)
          }
        },
      }),
      { steps: [does.create] },
    ),
  },
  {
    id: 'c10',
    style: 'updates with the resourceVersion it read, and throws on a conflict',
    subject: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          const { metadata, data } = childOf(app, 0)
          const found = await client.find(ConfigMap, { name: metadata.name, namespace: metadata.namespace })
          if (!found) await client.create(ConfigMap, { metadata, data })
          else if (found.metadata.ownerReferences?.[0]?.uid !== app.metadata.uid)
            throw new Error(`${metadata.name} has another owner, or an owner that is deleted`)
          else if (found.data?.['text'] !== data['text']) await client.update({ ...found, data })
        },
      }),
      { steps: short },
    ),
  },
]
