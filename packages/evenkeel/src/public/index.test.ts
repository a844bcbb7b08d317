import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  addFinalizer,
  ApiError,
  crdOf,
  defineController,
  defineKind,
  findCondition,
  getControllerOf,
  hasFinalizer,
  isAlreadyExists,
  isConditionTrue,
  isConflict,
  isNotFound,
  isOwnedBy,
  removeFinalizer,
  revisions,
  run,
  runControllers,
  setCondition,
  setControllerReference,
  setOwnerReference,
  type Client,
  type Condition,
  type InputOf,
  type Kind,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  type OwnerReference,
  type Ready,
  type Reason,
  type ReconcileContext,
  type ReconcileResult,
  type RunProgramOptions,
  type TypeMeta,
} from './index.ts'
import { startTestPlane } from './testing.ts'

const Website = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Website',
  spec: z.object({ page: z.string(), replicas: z.number().int().default(1) }),
  status: z.object({ url: z.string() }),
})
const Page = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Page',
  spec: z.object({ text: z.string() }),
})

const key = { name: 'web', namespace: 'default' }

test('an object says its version and kind, and so does a CRD', () => {
  const { apiVersion, kind }: TypeMeta = crdOf(Website)
  expect([apiVersion, kind]).toEqual(['apiextensions.k8s.io/v1', 'CustomResourceDefinition'])
})

async function createSite(client: Client): Promise<ObjectOf<typeof Website>> {
  const site: InputOf<typeof Website> = {
    apiVersion: 'demo.example.com/v1',
    kind: 'Website',
    metadata: key,
    spec: { page: 'hello' },
  }
  return await client.create(Website, site)
}

test('conditions are added once, updated in place and keep their transition time', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Serving', observedGeneration: 1 } as const
  const first: readonly Condition[] = setCondition([], ready, { now: '2026-01-01T00:00:00Z' })
  expect(setCondition(first, ready, { now: '2026-01-02T00:00:00Z' })).toBe(first)
  const later = setCondition(first, { ...ready, observedGeneration: 2 }, { now: '2026-01-02T00:00:00Z' })
  expect(findCondition(later, 'Ready')).toEqual({
    ...ready,
    observedGeneration: 2,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  expect([isConditionTrue(later, 'Ready'), isConditionTrue(later, 'Degraded')]).toEqual([true, false])
})

test('finalizers keep a deleted object until they are removed', async () => {
  await using plane = await startTestPlane({ kinds: [Website], builtin: false })
  const { client } = plane
  const finalizer = 'demo.example.com/bucket'
  const held = addFinalizer(await createSite(client), finalizer)
  expect(addFinalizer(held, finalizer)).toBe(held)
  await client.update(held)
  await client.delete(held)
  const going = await client.get(Website, key)
  expect([hasFinalizer(going, finalizer), going.metadata.deletionTimestamp]).toEqual([true, expect.any(String)])
  expect(() => addFinalizer(going, 'demo.example.com/late')).toThrow(RangeError)
  await client.update(removeFinalizer(going, finalizer))
  expect(await client.find(Website, key)).toBeUndefined()
})

test('owners: one controller, any number of owners, recognised by uid', async () => {
  await using plane = await startTestPlane({ kinds: [Website, Page], builtin: false })
  const site = await plane.client.create(Website, { metadata: key, spec: { page: 'hello' } })
  const other = await plane.client.create(Website, { metadata: { ...key, name: 'other' }, spec: { page: 'hello' } })
  const metadata: ObjectMeta = { name: 'web', namespace: 'default', labels: { app: 'web' } }
  const owned = setControllerReference(site, { apiVersion: 'demo.example.com/v1', kind: 'Page', metadata })
  const reference: OwnerReference | undefined = getControllerOf(owned)
  expect(reference).toMatchObject({ kind: 'Website', name: 'web', uid: site.metadata.uid, controller: true })
  expect([isOwnedBy(owned, site), isOwnedBy(owned, other)]).toEqual([true, false])
  const shared = setOwnerReference(other, owned)
  expect([isOwnedBy(shared, other), getControllerOf(shared)?.uid]).toEqual([true, site.metadata.uid])
  expect(() => setControllerReference(other, owned)).toThrow(/already owned by another Website controller web/)
})

test('errors have a reason, and predicates for the common ones', async () => {
  await using plane = await startTestPlane({ kinds: [Website], builtin: false })
  const { client } = plane
  const site = await client.create(Website, { metadata: key, spec: { page: 'hello' } })
  const failures = await Promise.all([
    client.get(Website, { ...key, name: 'missing' }).catch((error: unknown) => error),
    createSite(client).catch((error: unknown) => error),
    client.update({ ...site, metadata: { ...site.metadata, resourceVersion: '1' } }).catch((error: unknown) => error),
  ])
  expect(failures.map((error) => [isNotFound(error), isAlreadyExists(error), isConflict(error)])).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ])
  const reason: Reason = 'TooManyRequests'
  const busy = new ApiError(reason, 'wait a second', { retryAfterMs: 1000 })
  expect([busy.code, busy.retryAfterMs, isNotFound(busy)]).toEqual([429, 1000, false])
})

test('a CustomResourceDefinition has the schema of its kind', () => {
  const kinds: readonly Kind[] = [Website, Page]
  expect(kinds.map((kind) => crdOf(kind).metadata.name)).toEqual([
    'websites.demo.example.com',
    'pages.demo.example.com',
  ])
})

test('a controller gets a typed context, and says when to run again', async () => {
  const keys: ObjectKey[] = []
  const publish = ({ key: at, status }: ReconcileContext<typeof Website>, url: string): ReconcileResult => {
    keys.push(at)
    status.set({ url })
    return { afterMs: 60_000 }
  }
  const websites = defineController({
    for: Website,
    reconcile: (site, context) => publish(context, `https://${site.metadata.name}:${site.spec.replicas}`),
  })
  await using plane = await startTestPlane({ controllers: [websites], simulated: true, builtin: false })
  await createSite(plane.client)
  await plane.until(async () => (await plane.client.get(Website, key)).status?.url === 'https://web:1')
  const runs = keys.length
  await plane.advance(60_000)
  expect(keys.length).toBe(runs + 1)
  expect(keys[0]).toEqual({ cluster: 'default', group: 'demo.example.com', kind: 'Website', ...key })
})

test('revisions: each content has an object of its own', async () => {
  const pages = revisions(Page, { keep: 1 })
  const websites = defineController({
    for: Website,
    verbs: [pages],
    async reconcile({ spec }, context) {
      const page = await pages.apply(context, { spec: { text: spec.page } })
      context.status.set({ url: page.metadata.name })
    },
  })
  await using plane = await startTestPlane({ kinds: [Page], controllers: [websites], simulated: true })
  const { client, until } = plane
  const site = await createSite(client)
  for (const page of ['second', 'third']) {
    await until(async () => (await client.get(Website, key)).status?.observedGeneration !== undefined)
    await client.patch(site, { spec: { page } })
    const isServed = async (): Promise<boolean> => {
      const { status } = await client.get(Website, key)
      return (await client.find(Page, { ...key, name: status?.url ?? '-' }))?.spec.text === page
    }
    await until(isServed)
  }
  await until(async () => (await client.list(Page)).items.length === 2)
  expect((await client.list(Page)).items.map(({ spec }) => spec.text).sort()).toEqual(['second', 'third'])
})

const echo = defineController({
  for: Website,
  reconcile(site, { status }) {
    status.set({ url: site.spec.page })
  },
})

async function waitForUrl(client: Client): Promise<string | undefined> {
  for await (const event of client.watch(Website)) {
    if ('object' in event && event.object.status?.url !== undefined) return event.object.status.url
  }
  return undefined
}

test('runControllers runs until its signal aborts', async () => {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const { manager, kinds, embedded } = await new Promise<Ready>((onReady, reject) => {
    running = runControllers(stopping.signal, { controllers: [echo], embedded: true, onReady })
    running.catch(reject)
  })
  expect([kinds, embedded?.isDurable]).toEqual([[Website], false])
  await createSite(manager.client)
  expect(await waitForUrl(manager.client)).toBe('hello')
  stopping.abort()
  await running
})

test('run prints what a person has to do, and ends with its signal', async () => {
  const lines: string[] = []
  const write = (text: string): void => void lines.push(text)
  const fake = Object.assign(new EventEmitter(), { stdout: { write }, stderr: { write }, exit: () => undefined })
  const stopping = new AbortController()
  const data = mkdtempSync(join(tmpdir(), 'evenkeel-run-'))
  const options: Omit<RunProgramOptions, 'controllers'> = {
    embedded: true,
    data,
    process: fake,
    signal: stopping.signal,
    onReady: () => {
      stopping.abort()
    },
  }
  await run({ ...options, controllers: [echo] })
  expect(lines.join('')).toContain(`export KUBECONFIG=${join(data, 'kubeconfig')}`)
  rmSync(data, { recursive: true })
})
