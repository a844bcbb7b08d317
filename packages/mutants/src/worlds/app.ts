/**
 * The world of most mutants: an App with ConfigMaps as children and a bucket in a cloud.
 *
 * It contains the parts of a correct controller, so that a mutant shows only its mistake.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import type { ControllerDeclaration, ReconcileContext } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { ProcessContext, UserStep } from 'evenkeel/testing'
import type { Subject } from '../mutant.ts'

const condition = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    status: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string' },
    observedGeneration: { type: 'integer' },
  },
} as const

export const App = defineKind({
  group: 'mutants.dev',
  version: 'v1',
  kind: 'App',
  spec: {
    type: 'object',
    properties: { size: { type: 'integer', minimum: 0, maximum: 5 }, text: { type: 'string' } },
  } as const,
  status: {
    type: 'object',
    properties: {
      ready: { type: 'integer' },
      bucket: { type: 'string' },
      phase: { type: 'string' },
      observedGeneration: { type: 'integer' },
      conditions: { type: 'array', items: condition },
    },
  } as const,
})

export type AppObject = ObjectOf<typeof App>
export type Context = ReconcileContext<typeof App>

/** Buckets with names that the client or the cloud chooses. */
class Cloud {
  readonly buckets = new Map<string, { owner: string }>()
  #last = 0

  /** Creates a bucket of that name unless it exists. */
  ensure(name: string, owner: string): void {
    if (!this.buckets.has(name)) this.buckets.set(name, { owner })
  }

  /** Creates a bucket with a name that the cloud chooses. */
  create(owner: string): string {
    const id = `b-${++this.#last}`
    this.buckets.set(id, { owner })
    return id
  }

  /** Creates a bucket of that name. */
  createNamed(name: string, owner: string): void {
    if (this.buckets.has(name)) throw new Error(`bucket ${name} exists`)
    this.buckets.set(name, { owner })
  }

  /** Named like a read, but creates a missing bucket. */
  getOrMake(name: string, owner: string): { owner: string } {
    this.ensure(name, owner)
    return { owner }
  }

  delete(name: string): void {
    this.buckets.delete(name)
  }

  /** Fails for a missing bucket, as many clouds do. */
  deleteStrictly(name: string): void {
    if (!this.buckets.delete(name)) throw new Error(`no bucket ${name}`)
  }

  get(name: string): { owner: string } | undefined {
    return this.buckets.get(name)
  }

  findByOwner(owner: string): string | undefined {
    for (const [name, bucket] of this.buckets) if (bucket.owner === owner) return name
    return undefined
  }
}

type AsCalled<T> = {
  [K in keyof T]: T[K] extends (...parameters: infer P) => infer R ? (...parameters: P) => Promise<R> : T[K]
}

/** The cloud as a process reaches it: every call takes time and may fail. */
type CloudClient = AsCalled<Cloud>

export const finalizer = 'mutants.dev/app'

export function ownersOf({ apiVersion, kind, metadata: { name = '', uid = '' } }: AppObject): {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller: boolean
  blockOwnerDeletion: boolean
}[] {
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }]
}

/** The desired children of an App. */
export async function applyChildren(app: AppObject, { client }: Pick<Context, 'client'>): Promise<void> {
  for (let index = 0; index < (app.spec.size ?? 0); index++) {
    await client.apply(ConfigMap, childOf(app, index), { force: true })
  }
}

export function childOf(
  app: AppObject,
  index: number,
): {
  metadata: {
    name: string
    namespace: string
    labels: Record<string, string>
    ownerReferences: ReturnType<typeof ownersOf>
  }
  data: Record<string, string>
} {
  const { name = '', namespace = 'default' } = app.metadata
  return {
    metadata: { name: `${name}-${index}`, namespace, labels: { app: name }, ownerReferences: ownersOf(app) },
    data: { text: app.spec.text ?? '' },
  }
}

/** Deletes the children that an App no longer wants. */
export async function pruneChildren(app: AppObject, { client }: Pick<Context, 'client'>): Promise<void> {
  for (const child of await childrenOf(app, { client })) {
    if (indexOf(child) < (app.spec.size ?? 0) || child.metadata.deletionTimestamp !== undefined) continue
    await client.delete(child, { preconditions: { uid: child.metadata.uid ?? '' } }).catch(ignoreMissing)
  }
}

export async function childrenOf(
  app: AppObject,
  { client }: Pick<Context, 'client'>,
): Promise<ObjectOf<typeof ConfigMap>[]> {
  const { items } = await client.list(ConfigMap, {
    namespace: app.metadata.namespace ?? 'default',
    labelSelector: { matchLabels: { app: app.metadata.name ?? '' } },
  })
  return items.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ uid }) => uid === app.metadata.uid),
  ) as ObjectOf<typeof ConfigMap>[]
}

export function indexOf({ metadata: { name = '' } }: { metadata: { name?: string } }): number {
  return Number(name.slice(name.lastIndexOf('-') + 1))
}

export function ignoreMissing(error: unknown): void {
  const { reason } = error as { reason?: string }
  if (reason !== 'NotFound' && reason !== 'Conflict') throw error
}

export const place = { name: 'a', namespace: 'default' }

/** The steps of the user. */
export const does = {
  create: {
    name: 'creates App a',
    run: (user) => user.create(App, { metadata: place, spec: { size: 2, text: 'one' } }),
  },
  shrink: {
    name: 'makes App a smaller',
    run: async (user) => user.patch(await user.get(App, place), { spec: { size: 1, text: 'two' } }),
  },
  grow: {
    name: 'makes App a bigger',
    run: async (user) => user.patch(await user.get(App, place), { spec: { size: 3 } }),
  },
  remove: { name: 'deletes App a', run: async (user) => user.delete(await user.get(App, place)) },
} satisfies Record<string, UserStep>

const appSteps: readonly UserStep[] = [does.create, does.shrink, does.remove]

/** Permissions of controllers that use their own client. */
export const appRules = [
  {
    apiGroups: ['mutants.dev'],
    resources: ['apps', 'apps/status'],
    verbs: ['get', 'list', 'patch', 'update', 'delete'],
  },
  {
    apiGroups: [''],
    resources: ['configmaps', 'secrets', 'persistentvolumeclaims'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  },
]

export type Making = (process: ProcessContext<{ cloud: CloudClient }>) => ControllerDeclaration<typeof App>

/** A program of one controller for Apps, in the usual world. */
export function appProgram(make: Making, { steps = appSteps, ...more }: Partial<Subject['scenario']> = {}): Subject {
  return {
    controllers: ((process: ProcessContext<{ cloud: CloudClient }>) => [
      { owns: [ConfigMap], ...make(process) },
    ]) as unknown as Subject['controllers'],
    scenario: { name: 'apps', steps, external: () => ({ cloud: new Cloud() }), ...more } as Subject['scenario'],
  }
}

/** A correct controller: applies and prunes children, ensures and cleans up a bucket, and writes the status last. */
export const rightApp: Making = ({ external: { cloud } }) => ({
  for: App,
  async reconcile(app, context) {
    await cloud.ensure(app.metadata.name, app.metadata.uid)
    await applyChildren(app, context)
    await pruneChildren(app, context)
    context.status.set({ ready: app.spec.size ?? 0 })
  },
  async cleanup(app) {
    await cloud.delete(app.metadata.name)
  },
})

/** The correct version of most mutants. */
export const cleanApp = appProgram(rightApp)
