import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  defineController,
  defineKind,
  isConditionTrue,
  isForbidden,
  type ControllerDeclaration,
  type KubeObject,
  type ObjectOf,
  type Stored,
  type TypeMeta,
} from './index.ts'
import { startTestPlane } from './testing.ts'
import { declareKind } from './unstable/api.ts'
import { createLogger, SystemClock } from './unstable/base.ts'
import {
  action,
  ClusterUsage,
  dependsOn,
  external,
  ExternalError,
  fileCheckpoint,
  GatewayReferenceGrant,
  readinessOf,
  ReferenceGrant,
  revisions,
  Usage,
  type ActionReport,
  type Capabilities,
  type Checkpoint,
  type ChildCount,
  type ChildReport,
  type ChildOptions,
  type Children,
  type ConnectCall,
  type CreateCall,
  type DependencyReport,
  type DependsOn,
  type DependsOnOptions,
  type Driver,
  type DriverCall,
  type ExternalOptions,
  type ExternalPolicy,
  type ExternalReport,
  type ListQuery,
  type Observation,
  type OnceOptions,
  type OwnershipLabels,
  type Readiness,
  type Reference,
  type RetryOptions,
  type UpdateCall,
} from './verbs.ts'

const group = 'demo.example.com'
const Bucket = defineKind({
  group,
  version: 'v1',
  kind: 'Bucket',
  spec: z.object({ region: z.string() }),
  status: z.object({}),
  reports: ['external'],
})
const Route = defineKind({
  group,
  version: 'v1',
  kind: 'Route',
  spec: z.object({ target: z.string(), namespace: z.string().optional() }),
  status: z.object({ target: z.string() }),
})
const App = defineKind({
  group,
  version: 'v1',
  kind: 'App',
  spec: z.object({ port: z.number() }),
  status: z.object({ phase: z.string() }),
})
type BucketObject = ObjectOf<typeof Bucket>
interface Look {
  readonly region: string
}

const key = { name: 'a', namespace: 'default' }

/** A system in memory with a driver as a class: its methods name their parameters' types. */
class Cloud implements Driver<BucketObject, Look, Look> {
  readonly name = 'cloud'
  readonly capabilities: Capabilities
  readonly buckets = new Map<string, { look: Look; labels: OwnershipLabels }>()
  readonly calls: string[] = []

  constructor(capabilities: Capabilities) {
    this.capabilities = capabilities
  }

  desired({ spec: { region } }: BucketObject): Look {
    return { region }
  }

  observe(id: string, { signal }: DriverCall): Promise<Observation<Look> | undefined> {
    signal.throwIfAborted()
    const found = this.buckets.get(id)
    return Promise.resolve(found && { id, observed: found.look, labels: found.labels })
  }

  create(look: Look, { labels }: CreateCall): Promise<{ id: string }> {
    if (look.region === 'nowhere') throw new ExternalError('there is no such region', { status: 422 })
    const id = `bucket-${this.buckets.size + 1}`
    this.buckets.set(id, { look, labels })
    this.calls.push(`create ${look.region}`)
    return Promise.resolve({ id })
  }

  update(id: string, look: Look, { labels, paths }: UpdateCall<Look>): Promise<void> {
    this.buckets.set(id, { look, labels })
    this.calls.push(`update ${paths.join()}`)
    return Promise.resolve()
  }

  remove(id: string, { signal }: DriverCall): Promise<void> {
    signal.throwIfAborted()
    this.buckets.delete(id)
    this.calls.push('remove')
    return Promise.resolve()
  }

  async *list({ labels: { instance } }: ListQuery): AsyncIterable<readonly Observation<Look>[]> {
    await Promise.resolve()
    yield [...this.buckets]
      .filter(([, { labels }]) => labels.instance === instance)
      .map(([id, { look, labels }]) => ({ id, observed: look, labels }))
  }
}

test('external: a driver as a class keeps a resource in step with its object', async () => {
  const cloud = new Cloud({ labels: 'atomicOnCreate' })
  const policy = ({ metadata }: BucketObject): Partial<ExternalPolicy> => ({
    pollIntervalMs: 30_000,
    drift: metadata.labels?.['drift'] === 'allowed' ? 'report' : 'revert',
  })
  const options: ExternalOptions<BucketObject> = { instance: 'test', policy }
  const buckets = defineController({ for: Bucket, verbs: [external(cloud, options)] })
  await using plane = await startTestPlane({ controllers: [buckets], simulated: true })
  const bucket = await plane.client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  await plane.until(() => cloud.buckets.size === 1)
  await plane.client.patch(bucket, { spec: { region: 'south' } })
  await plane.until(() => cloud.buckets.get('bucket-1')?.look.region === 'south')
  const { labels } = cloud.buckets.get('bucket-1') ?? {}
  expect(labels).toMatchObject({ instance: 'test', kind: `Bucket.${group}`, ...key, uid: bucket.metadata.uid })
  if (labels) cloud.buckets.set('bucket-1', { look: { region: 'changed by hand' }, labels })
  await plane.advance(65_000)
  expect(cloud.buckets.get('bucket-1')?.look.region).toBe('south')
  await plane.client.delete(bucket)
  await plane.until(async () => (await plane.client.find(Bucket, key)) === undefined)
  expect(cloud.calls).toEqual(['create north', 'update region', 'update region', 'remove'])
})

test('external: a checkpoint remembers what the system cannot say', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-verbs-'))
  const path = join(folder, 'records.json')
  const file = fileCheckpoint(path)
  const saved: string[] = []
  const checkpoint: Checkpoint = {
    entries: () => file.entries(),
    async put(uid, text) {
      saved.push(text === undefined ? 'removed' : 'saved')
      await file.put(uid, text)
    },
  }
  const cloud = new Cloud({})
  const verb = external(cloud, { instance: 'test', checkpoint })
  await using plane = await startTestPlane({ controllers: [defineController({ for: Bucket, verbs: [verb] })] })
  const bucket = await plane.client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  await plane.until(() => cloud.buckets.size === 1 && readFileSync(path, 'utf8').includes('bucket-1'))
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object)).toEqual([bucket.metadata.uid])
  await plane.client.delete(bucket)
  await plane.until(async () => (await plane.client.find(Bucket, key)) === undefined)
  expect([saved[0], saved.at(-1), (await file.entries()).size]).toEqual(['saved', 'removed', 0])
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['ReferenceGrant', ReferenceGrant, undefined],
  ['GatewayReferenceGrant', GatewayReferenceGrant, gatewayCrd()],
] as const)('dependsOn: a %s opens another namespace', async (_, grants, toInstall) => {
  const refsOf = ({ spec }: ObjectOf<typeof Route>): Reference => ({ name: spec.target, namespace: spec.namespace })
  const options: DependsOnOptions<ObjectOf<typeof App>> = { crossNamespace: 'granted', grants, ready: () => true }
  const app = dependsOn(App, refsOf, options)
  const routes = defineController({
    for: Route,
    verbs: [app],
    async reconcile(__, context) {
      const [target] = await app.resolve(context)
      context.status.set({ target: target?.reference.name ?? '' })
      context.status.condition('Ready', true)
    },
  })
  await using plane = await startTestPlane({ kinds: [App], controllers: [routes], simulated: true })
  const { client } = plane
  if (toInstall) await client.create(toInstall)
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await client.create(App, { metadata: { name: 'web', namespace: 'shop' }, spec: { port: 80 } })
  await client.create(Route, { metadata: key, spec: { target: 'web', namespace: 'shop' } })
  const reason = async (): Promise<string | undefined> =>
    (await client.get(Route, key)).status?.conditions?.find(({ type }) => type === 'DependenciesReady')?.reason
  await plane.until(async () => (await reason()) === 'NotGranted')
  const spec = { from: [{ group, kind: 'Route', namespace: 'default' }], to: [{ group, kind: 'App' }] }
  const { apiVersion, kind } = grants
  const grant = { apiVersion, kind, metadata: { name: 'from-default', namespace: 'shop' }, spec }
  await plane.until(() => client.create(grant).then(() => true))
  await plane.until(async () => (await client.get(Route, key)).status?.target === 'web', { timeoutMs: 300_000 })
  expect(await reason()).toBe('AllReady')
})

/** The CRD of the Gateway API, as far as it is needed. */
function gatewayCrd(): KubeObject {
  const named = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const spec = { type: 'object', properties: { from: named, to: named } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const names = { kind: 'ReferenceGrant', plural: 'referencegrants' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'referencegrants.gateway.networking.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
    },
    ...{
      spec: {
        group: 'gateway.networking.k8s.io',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
      },
    },
  }
}

test.each([
  ['Usage', Usage, 'Namespaced'],
  ['ClusterUsage', ClusterUsage, 'Cluster'],
] as const)('dependsOn: a %s protects what is in use', async (_, usages, scope) => {
  const User = defineKind({ group, version: 'v1', kind: 'User', scope, spec: z.object({ app: z.string() }) })
  const options: DependsOnOptions<ObjectOf<typeof App>> = {
    protect: 'whileInUse',
    crossNamespace: 'allow',
    reason: 'it is worn',
    ready: () => true,
  }
  const app = dependsOn(App, ({ spec }: ObjectOf<typeof User>) => ({ name: spec.app, namespace: 'default' }), options)
  const users = defineController({ for: User, verbs: [app], reconcile: () => undefined })
  await using plane = await startTestPlane({ kinds: [App], controllers: [users], simulated: true })
  const { client } = plane
  const used = await client.create(App, { metadata: key, spec: { port: 80 } })
  await client.create(User, {
    metadata: scope === 'Cluster' ? { name: 'u' } : { ...key, name: 'u' },
    spec: { app: 'a' },
  })
  await plane.until(async () => (await client.list(usages)).items.length === 1)
  expect((await client.list(usages)).items[0]?.spec).toMatchObject({
    of: { kind: 'App', name: 'a' },
    reason: 'it is worn',
  })
  const refusal: unknown = await client.delete(used).catch((error: unknown) => error)
  expect([isForbidden(refusal), String(refusal)]).toEqual([true, expect.stringContaining('it is worn')])
})

test('children: a rule says when one is ready; an action is answered, a revision is kept', async () => {
  const usage = action('usage', { form: 'call', about: 'How much it uses.', answer: () => ({ bytes: 42 }) })
  const configs = revisions(Route)
  const running: ChildOptions<ObjectOf<typeof App>> = { ready: ({ status }) => status?.phase === 'Running', key: 'app' }
  const deploy = async (children: Children): Promise<void> => {
    children.waitFor(await children.apply(App, { spec: { port: 80 } }, running))
  }
  const buckets = defineController({
    for: Bucket,
    owns: [App],
    verbs: [usage, configs],
    async reconcile(_, context) {
      await configs.apply(context, { spec: { target: 'a' } })
      await deploy(context.children)
    },
  })
  await using plane = await startTestPlane({ kinds: [Route], controllers: [buckets], simulated: true })
  const { client } = plane
  await client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  await plane.until(async () => (await client.find(App, key)) !== undefined)
  const isReady = async (): Promise<boolean> =>
    isConditionTrue((await client.get(Bucket, key)).status?.conditions, 'ChildrenReady')
  expect([await isReady(), (await client.list(Route)).items.length]).toEqual([false, 1])
  await client.patchStatus(await client.get(App, key), { phase: 'Running' })
  await plane.until(isReady)
  const path = `/apis/${group}/v1/namespaces/default/buckets/a/usage`
  const answer = JSON.parse((await client.raw({ method: 'POST', path, body: {} })).text()) as { output: unknown }
  expect(answer.output).toEqual({ bytes: 42 })
})

test('readinessOf reads what objects of any kind say about themselves', () => {
  const said = (status: object, generation = 1): Readiness =>
    readinessOf({ apiVersion: `${group}/v1`, kind: 'App', metadata: { ...key, generation }, ...{ status } })
  const ready = { type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '' }
  expect(said({ conditions: [ready] })).toEqual({ state: 'Ready' })
  expect(said({ conditions: [{ ...ready, status: 'False', reason: 'Down' }] })).toMatchObject({ reason: 'Down' })
  expect(said({ conditions: [ready], observedGeneration: 1 }, 2)).toMatchObject({
    state: 'Progressing',
    reason: 'NotObserved',
  })
})

test('F6: the needs of a driver are typed by the kinds of their dependencies', async () => {
  const app = dependsOn(App, ({ metadata }: BucketObject) => metadata.name)
  const route = dependsOn(Route, ({ metadata }: BucketObject) => metadata.name, { optional: true })
  const seen: string[] = []
  const bucket = external(
    {
      name: 'typed',
      capabilities: { ids: 'deterministic' },
      desired: ({ spec }: BucketObject, needs) => {
        const port: number = needs.app.spec.port
        // @ts-expect-error an optional need may be undefined
        const target: string = needs.route.spec.target
        return { region: `${spec.region} ${port} ${target}` }
      },
      connect(_, call: ConnectCall<{ app: ObjectOf<typeof App> }>) {
        // @ts-expect-error it may be gone when the object is deleted
        seen.push(String(call.needs.app.spec.port))
        return Promise.resolve(undefined)
      },
      observe: (): Promise<Observation<Look> | undefined> => Promise.resolve(undefined),
      create: ({ region }: Look) => Promise.resolve({ id: region }),
      update: () => Promise.resolve(),
      remove: () => Promise.resolve(),
    },
    { instance: 'test', needs: { app, route } },
  )
  // @ts-expect-error a need is a dependency
  expect(() => external(new Cloud({}), { instance: 'test', needs: { app: 1 } })).toThrow('needs.app')
  const buckets = defineController({ for: Bucket, verbs: [bucket] })
  await using plane = await startTestPlane({ kinds: [App, Route], controllers: [buckets], simulated: true })
  await plane.client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  const reason = async (): Promise<string | undefined> =>
    (await plane.client.get(Bucket, key)).status?.conditions?.find(({ type }) => type === 'Synced')?.reason
  await plane.until(async () => (await reason()) === 'DependencyMissing')
  expect(seen).toEqual([])
})

test('F1: the event of a driver that throws names the line of the driver, not that of the reconcile that called it', async () => {
  let thrown = ''
  class Broken extends Cloud {
    override create(): Promise<{ id: string }> {
      const error = new TypeError('the cloud has no such field')
      thrown = /verbs\.test\.ts:\d+/.exec(error.stack ?? '')?.[0] ?? ''
      return Promise.reject(error)
    }
  }
  const bucket = external(new Broken({ labels: 'atomicOnCreate' }), { instance: 'test', manual: true })
  const buckets = defineController({
    for: Bucket,
    verbs: [bucket],
    async reconcile(_, context) {
      await bucket.sync(context)
    },
  })
  const log = createLogger({ clock: new SystemClock(), sink: () => undefined })
  await using plane = await startTestPlane({ controllers: [buckets], simulated: true, log })
  await plane.client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  const events = { apiVersion: 'events.k8s.io/v1', kind: 'Event' }
  const failures = async (): Promise<string[]> =>
    (await plane.client.list(events, { namespace: 'default' })).items.flatMap((event) => {
      const { reason, note } = event as { readonly reason?: string; readonly note?: string }
      return reason === 'ReconcileFailed' ? (note ?? '') : []
    })
  await plane.until(async () => (await failures()).length > 0)
  expect(await failures()).toEqual([expect.stringMatching(`the cloud has no such field \\(\\S*${thrown}\\)$`)])
})

test('F10: functions of a driver get objects whose name and uid are strings', () => {
  type Metadata = Parameters<Driver<BucketObject>['desired']>[0]['metadata']
  expectTypeOf<BucketObject['metadata']['name']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<Metadata['name']>().toEqualTypeOf<string>()
  expectTypeOf<Metadata['uid']>().toEqualTypeOf<string>()
  const driver = {
    name: 'named',
    capabilities: { ids: 'deterministic' },
    desired: ({ metadata: { name } }) => {
      expectTypeOf(name).toEqualTypeOf<string>()
      return { region: name.toLowerCase() }
    },
    identify({ metadata: { name, uid } }) {
      expectTypeOf(name).toEqualTypeOf<string>()
      expectTypeOf(uid).toEqualTypeOf<string>()
      return `${name}-${uid}`
    },
    connect({ metadata: { name } }) {
      expectTypeOf(name).toEqualTypeOf<string>()
      return Promise.resolve(name)
    },
    observe: () => Promise.resolve(undefined),
    create: ({ region }) => Promise.resolve({ id: region }),
    update: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  } satisfies Driver<BucketObject, Look, Look>
  expect(external(driver, { instance: 'test' }).name).toBe('external named')
})

test('F10: the references of a dependency come from a stored object, and ownership labels are a record of strings', () => {
  const app = dependsOn(App, ({ metadata: { name } }: Stored<BucketObject>) => {
    expectTypeOf(name).toEqualTypeOf<string>()
    return { name }
  })
  const buckets = defineController({ for: Bucket, verbs: [app], reconcile: ({ metadata }) => nameOf({ metadata }) })
  expect(buckets.verbs).toEqual([app])
  expectTypeOf<OwnershipLabels>().toExtend<Readonly<Record<string, string>>>()
  expectTypeOf<OwnershipLabels['uid']>().toEqualTypeOf<string>()
})

/** A helper: it takes objects that are stored. */
function nameOf({ metadata }: Pick<Stored<BucketObject>, 'metadata'>): void {
  expectTypeOf(metadata.name).toEqualTypeOf<string>()
}

test('F3: a token action of a kind without its report is an error to the compiler, as it is at the start', () => {
  const restart = action('restart', { form: 'token' })
  const backup = action('backup', { form: 'operation' })
  // @ts-expect-error App has no reports: ['actions']
  expect(() => defineController({ for: App, verbs: [restart, backup] })).not.toThrow()
  // @ts-expect-error the same with an annotation
  const annotated: ControllerDeclaration<typeof App> = { for: App, verbs: [restart] }
  const Restarted = defineKind({ group, version: 'v1', kind: 'Restarted', status: z.object({}), reports: ['actions'] })
  const Untyped = declareKind({ group, version: 'v1', kind: 'Untyped' })
  expect(defineController({ for: Restarted, verbs: [restart, backup] }).verbs).toHaveLength(2)
  expect(defineController({ for: Untyped, verbs: [restart] }).verbs).toHaveLength(1)
  expect(defineController({ for: App, verbs: [backup] }).verbs).toHaveLength(1)
  const controllers: readonly ControllerDeclaration[] = [defineController({ for: Restarted, verbs: [restart] })]
  expect([annotated, ...controllers]).toHaveLength(2)
})

test('children.once and a retried operation: their options have names', async () => {
  const once: OnceOptions<ObjectOf<typeof App>> = { key: 'first', keep: { Complete: 1 }, ready: () => true }
  const retry: RetryOptions = { attempts: 2, backoffMs: 1000, retryOn: () => true }
  const backup = action('backup', { form: 'operation', retry })
  let attempts = 0
  const buckets = defineController({
    for: Bucket,
    owns: [App],
    verbs: [backup],
    async reconcile(_, context) {
      await backup.handle(context, () => {
        if (++attempts === 1) throw new Error('not yet')
      })
      await context.children.once(App, { spec: { port: 80 } }, once)
    },
  })
  await using plane = await startTestPlane({ controllers: [buckets], simulated: true })
  const { client } = plane
  await client.create(Bucket, { metadata: key, spec: { region: 'north' } })
  await plane.until(async () => (await client.find(App, { ...key, name: 'a-first' })) !== undefined)
  await client.raw({ method: 'POST', path: `/apis/${group}/v1/namespaces/default/buckets/a/backup`, body: {} })
  const operations = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'Operation' }
  const phases = async (): Promise<string> => JSON.stringify((await client.list(operations)).items)
  await plane.until(async () => (await phases()).includes('"lastError":"not yet"'))
  expect(attempts).toBe(1)
  await plane.until(async () => (await phases()).includes('"phase":"Succeeded"'))
  expect([attempts, await phases()]).toEqual([2, expect.stringContaining('"attempts":2') as string])
})

/** The rows of verbs in a status have names, so that a package can publish a kind that has them, with declarations. */
interface Reported {
  readonly actions?: readonly ActionReport[]
  readonly children?: readonly ChildReport[]
  readonly childCounts?: readonly ChildCount[]
  readonly dependencies?: readonly DependencyReport[]
  readonly external?: ExternalReport
}

test('a published kind and its verbs can be named by their public types', () => {
  const App = defineKind({
    group: 'demo.example.com',
    version: 'v1',
    kind: 'App',
    spec: { type: 'object', properties: {} },
    status: { type: 'object', properties: {} },
    reports: ['actions', 'children', 'dependencies', 'external'],
  })
  const app: ObjectOf<typeof App> = {
    ...({ apiVersion: 'demo.example.com/v1', kind: 'App' } satisfies TypeMeta),
    metadata: { name: 'a' },
    spec: {},
    status: { actions: [{ name: 'restart', state: 'Done' }] },
  }
  const reported: Reported | undefined = app.status
  const needs: DependsOn = dependsOn(App, () => 'b') as unknown as DependsOn
  expect([reported?.actions?.[0]?.name, needs.optional]).toEqual(['restart', false])
})
