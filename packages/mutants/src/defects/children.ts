/**
 * Defects of a real operator: children and status (D4-D9, D15, D16, D18, D19).
 */
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { UserStep } from 'evenkeel/testing'
import type { Mutant } from '../mutant.ts'
import {
  App,
  appProgram,
  appRules as rbac,
  childOf,
  does,
  finalizer,
  ignoreMissing,
  ownersOf,
  place,
  pruneChildren,
  rightApp,
  cleanApp,
} from '../worlds/app.ts'
import type { AppObject, Context, Making } from '../worlds/app.ts'

const clean = cleanApp

/** Two Apps at once, one with a text and one without. */
const twoSteps: readonly UserStep[] = [
  {
    name: 'creates Apps a and b',
    run: async (user) => {
      await user.create(App, { metadata: place, spec: { size: 1, text: 'of a' } })
      await user.create(App, { metadata: { ...place, name: 'b' }, spec: { size: 1 } })
    },
  },
  does.remove,
]
const cleanTwo = appProgram((process) => ({ ...rightApp(process), concurrency: 2 }), { steps: twoSteps })

/** The work of the child is done when the user reports it. */
const workSteps: readonly UserStep[] = [
  { name: 'creates App a', run: (user) => user.create(App, { metadata: place, spec: { size: 1 } }) },
  {
    name: 'reports that the work is done',
    run: async (user) =>
      user.patch(await user.get(ConfigMap, { ...place, name: 'a-0' }), { metadata: { annotations: { done: 'yes' } } }),
  },
]

function readiness(
  isReady: (child: { metadata: { annotations?: Readonly<Record<string, string>> } }) => boolean,
): ReturnType<typeof appProgram> {
  const making: Making = () => ({
    for: App,
    async reconcile(app, { client, status }) {
      const child = await client.apply(ConfigMap, { ...childOf(app, 0), data: {} }, { force: true })
      status.condition('Ready', isReady(child))
    },
  })
  return appProgram(making, {
    steps: workSteps,
    ready: (_, world) => world.list(ConfigMap).some(({ metadata }) => metadata.annotations?.['done'] === 'yes'),
  })
}

/** Records the applied text in an annotation. */
async function applyByHash(app: AppObject, client: Context['client']): Promise<void> {
  const { metadata, data } = childOf(app, 0)
  const hash = JSON.stringify(data)
  const found = await client.find(ConfigMap, { name: metadata.name, namespace: metadata.namespace })
  if (found?.metadata.annotations?.['hash'] === hash) return
  await client.apply(ConfigMap, { metadata: { ...metadata, annotations: { hash } }, data }, { force: true })
}

export const childDefects: readonly Mutant[] = [
  {
    id: 'd04',
    mistake: 'keeps the current object in a field that two workers share',
    rules: ['stateless'],
    tier: 1,
    clean: cleanTwo,
    broken: appProgram(
      ({ external: { cloud } }) => {
        let current: AppObject | undefined
        return {
          for: App,
          concurrency: 2,
          async reconcile(app, { client }) {
            current = app
            await cloud.ensure(app.metadata.name, app.metadata.uid)
            const { metadata } = childOf(app, 0)
            await client.apply(ConfigMap, { metadata, data: { text: current.spec.text ?? '' } }, { force: true })
          },
          async cleanup(app) {
            await cloud.delete(app.metadata.name)
          },
        }
      },
      { steps: twoSteps },
    ),
  },
  {
    id: 'd05',
    mistake: 'every reconcile changes a shared default value',
    rules: ['stateless', 'idempotent', 'state'],
    tier: 1,
    clean: cleanTwo,
    broken: appProgram(
      () => {
        const data: Record<string, string> = { text: 'nothing yet' }
        return {
          for: App,
          async reconcile(app, { client }) {
            if (app.spec.text !== undefined) data['text'] = app.spec.text
            await client.apply(ConfigMap, { metadata: childOf(app, 0).metadata, data }, { force: true })
          },
        }
      },
      { steps: twoSteps },
    ),
  },
  {
    id: 'd06',
    mistake: 'builds a list in an order that changes with every reconcile',
    rules: ['idempotent', 'hot-loop'],
    tier: 0,
    clean,
    broken: appProgram(
      () => {
        // Stands for a map with a random order.
        const targets = ['x', 'y', 'z']
        return {
          for: App,
          async reconcile(app, { client }) {
            targets.push(targets.shift() ?? '')
            await client.apply(
              ConfigMap,
              { metadata: childOf(app, 0).metadata, data: { rules: targets.join() } },
              { force: true },
            )
          },
        }
      },
      { steps: [does.create] },
    ),
  },
  {
    id: 'd07',
    mistake: 'reports ready as soon as the child exists',
    rules: ['truth'],
    tier: 0,
    clean: readiness(({ metadata }) => metadata.annotations?.['done'] === 'yes'),
    broken: readiness(() => true),
  },
  {
    id: 'd08',
    mistake: 'writes Ready while the object is being deleted',
    rules: ['truth'],
    tier: 0,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.ensure(app.metadata.name, app.metadata.uid)
      },
      async cleanup(app, { client }) {
        await cloud.delete(app.metadata.name)
        await client.patchStatus(app, { conditions: [{ type: 'Ready', status: 'True', reason: 'Finalized' }] })
      },
    })),
  },
  {
    id: 'd09',
    mistake: 'adds a finalizer to an object in deletion',
    rules: ['deletion-first'],
    tier: 1,
    clean,
    broken: appProgram(({ client }) => ({
      for: App,
      rbac,
      async reconcileKey({ name, namespace = 'default' }) {
        const app = await client.find(App, { name, namespace })
        if (!app) return
        const { finalizers = [], deletionTimestamp } = app.metadata
        if (!finalizers.includes(finalizer))
          await client.update({ ...app, metadata: { ...app.metadata, finalizers: [...finalizers, finalizer] } })
        else if (deletionTimestamp !== undefined)
          await client.update({
            ...app,
            metadata: { ...app.metadata, finalizers: finalizers.filter((one) => one !== finalizer) },
          })
      },
    })),
  },
  {
    id: 'd15',
    mistake: 'compares only a hash: a manual edit remains',
    rules: ['state'],
    tier: 1,
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          await applyByHash(app, client)
        },
      }),
      { steps: [does.create] },
    ),
  },
  {
    id: 'd16',
    mistake: 'an update sends only the desired object and drops fields of the server and of others',
    rules: ['conflict'],
    tier: 0,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, { client }) {
        const child = { apiVersion: 'v1', kind: 'ConfigMap', ...childOf(app, 0) }
        const found = await client.find(ConfigMap, { name: child.metadata.name, namespace: child.metadata.namespace })
        if (!found) await client.create(child)
        else if (JSON.stringify(found.data) !== JSON.stringify(child.data)) await client.update(child)
      },
    })),
  },
  {
    id: 'd18',
    mistake: 'a method that is named like a read changes the service',
    rules: ['look'],
    tier: 0,
    clean,
    broken: appProgram(({ external: { cloud } }) => ({
      for: App,
      async reconcile(app) {
        await cloud.getOrMake(app.metadata.name, app.metadata.uid)
      },
      async cleanup(app) {
        await cloud.delete(app.metadata.name)
      },
    })),
  },
  {
    id: 'd19',
    mistake: 'deletes a child and creates it again in the same reconcile',
    rules: ['hot-loop', 'idempotent'],
    tier: 0,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        if ((app.spec.size ?? 0) < 2)
          await context.client
            .delete({
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: `${app.metadata.name}-0`, namespace: 'default' },
            })
            .catch(ignoreMissing)
        await context.client.apply(
          ConfigMap,
          { metadata: { ...childOf(app, 0).metadata, ownerReferences: ownersOf(app) }, data: {} },
          { force: true },
        )
        await pruneChildren({ ...app, spec: { ...app.spec, size: 1 } }, context)
      },
    })),
  },
]
