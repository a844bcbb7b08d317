/**
 * A cache whose informers a test fills and fails by hand, and a source context on it that notes what is enqueued.
 */
import { declareKind, defineKind, type KubeObject, type TypeMeta } from '#api'
import { createLogger, SeededRandom, SimulatedClock } from '#base'
import type { CacheEvent, ObjectCache } from '#cache'
import type { SourceContext } from '#controller'

export const App = declareKind({ group: 'app.test.dev', version: 'v1', kind: 'App' })

export const app = (metadata: object = {}): KubeObject => ({
  apiVersion: App.apiVersion,
  kind: 'App',
  metadata: { name: 'web', namespace: 'a', uid: 'app', resourceVersion: '1', ...metadata },
})

/** A kind that refers to Apps. */
export const Route = defineKind({
  group: 'route.test.dev',
  version: 'v1',
  kind: 'Route',
  spec: { type: 'object' },
  status: { type: 'object', properties: {} },
  reports: ['dependencies'],
})

interface RouteObject extends KubeObject {
  readonly spec: { readonly to: readonly { readonly name: string }[] }
}

export function route(name: string, ...to: RouteObject['spec']['to']): RouteObject {
  const metadata = { name, namespace: 'a', uid: name, generation: 1, resourceVersion: '1' }
  return { apiVersion: Route.apiVersion, kind: 'Route', metadata, spec: { to } }
}

type Handler = (event: CacheEvent) => unknown

class TestInformer {
  readonly objects: KubeObject[] = []
  /** How many users have released it. */
  released = 0
  hasSynced = true
  states: Record<string, { readonly phase: string; readonly error?: Error }> = {}
  readonly #indexes = new Map<string, (object: KubeObject) => readonly string[] | undefined>()
  readonly #handlers: Handler[] = []

  addIndex(name: string, values: (object: KubeObject) => readonly string[] | undefined): void {
    this.#indexes.set(name, values)
  }

  addHandler(handler: Handler): object {
    this.#handlers.push(handler)
    return { hasSynced: this.hasSynced, waitForSync: () => Promise.resolve(), remove: () => Promise.resolve() }
  }

  find({ name, namespace }: { name: string; namespace?: string }): KubeObject | undefined {
    return this.objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  }

  list({ index }: { index?: { name: string; value: string } } = {}): readonly KubeObject[] {
    if (!index) return this.objects
    const values = this.#indexes.get(index.name)
    return this.objects.filter((object) => values?.(object)?.includes(index.value))
  }

  waitForAnswer(): Promise<void> {
    return Promise.resolve()
  }

  waitForSync(): Promise<void> {
    return Promise.resolve()
  }

  release(): Promise<void> {
    this.released++
    return Promise.resolve()
  }

  /** The object changes from one state to another; without the new state it is deleted. */
  send(old: KubeObject, object?: KubeObject): void {
    const { name = '', namespace } = old.metadata
    const [group = ''] = old.apiVersion.includes('/') ? old.apiVersion.split('/') : []
    const key = { cluster: '', group, kind: old.kind, name, namespace }
    const event = object ? { type: 'update', old, object, key } : { type: 'delete', object: old, key }
    for (const handler of this.#handlers) handler(event as unknown as CacheEvent)
  }
}

export class TestInformers {
  readonly clock = new SimulatedClock()
  readonly enqueued: string[] = []
  readonly #byKind = new Map<string, TestInformer>()

  /** The informer of a kind in a version. */
  of({ apiVersion, kind }: TypeMeta): TestInformer {
    const known = this.#byKind.get(`${apiVersion} ${kind}`) ?? new TestInformer()
    this.#byKind.set(`${apiVersion} ${kind}`, known)
    return known
  }

  readonly cache = { getInformer: (kind: TypeMeta) => this.of(kind) } as unknown as ObjectCache

  get context(): SourceContext {
    const { clock, cache, enqueued } = this
    return {
      cache,
      clock,
      random: new SeededRandom('1'),
      log: createLogger({ clock, sink: () => undefined }),
      enqueue: ({ name }) => {
        enqueued.push(name)
      },
      wantsChanges: () => false,
      onMapError: () => undefined,
      onStaleOwner: () => undefined,
    }
  }
}
