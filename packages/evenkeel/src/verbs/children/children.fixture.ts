/**
 * Runs of one controller with `children`, on a server in memory that shows what was written, deleted and watched.
 */
import { alreadyExists, defineKind, type ChildReport, type Kind, type KubeObject, type Owner } from '#api'
import { SimulatedClock } from '#base'
import type { CacheKey } from '#cache'
import {
  isStopReconcile,
  type BaseContext,
  type ControllerDeclaration,
  type Extension,
  type PluginRun,
  type Source,
} from '#controller'
import { childrenPlugin, type Children, type ChildrenContext } from './children.ts'

export const Site = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Site',
  status: { type: 'object', properties: {} },
  reports: ['children'],
})

type Type = Pick<Kind, 'apiVersion' | 'kind'>
type Key = Pick<CacheKey, 'name' | 'namespace'>
type Options = Readonly<Record<string, unknown>>

export class ChildServer {
  readonly objects = new Map<string, KubeObject>()
  readonly deleted: { readonly name: string; readonly preconditions: unknown }[] = []
  readonly applied: string[] = []
  /** Kinds that the cache does not show yet. */
  readonly unsynced = new Set<string>()
  /** The running sources: their name, and what they enqueue for an event. */
  readonly sources = new Map<string, Source>()
  readonly status: { children?: readonly ChildReport[] } = {}
  /** Conditions by type, as `True AllReady: 1 child is ready`. */
  readonly conditions = new Map<string, string>()
  /** Names that the cache does not show yet. */
  readonly hidden = new Set<string>()
  /** Reads of single objects from the server. */
  readonly reads: string[] = []
  readonly created: string[] = []
  /** The time of the next create. */
  now = '2026-01-01T00:00:00Z'
  /** Called before each write; it may throw. */
  before: (what: string) => void = () => undefined
  readonly #plugin = childrenPlugin()
  readonly #declaration: ControllerDeclaration
  #uids = 0

  constructor(declaration: Partial<ControllerDeclaration> = {}) {
    this.#declaration = { for: Site, owns: [], ...declaration } as ControllerDeclaration
    this.#plugin.steps?.(this.#declaration, 'site')
  }

  put<T extends KubeObject>(object: T): T {
    const stored = { ...object, metadata: { uid: `u${++this.#uids}`, resourceVersion: '1', ...object.metadata } }
    this.objects.set(textOf(object, object.metadata as Key), stored)
    return stored
  }

  find({ apiVersion, kind }: Type, key: Key): KubeObject | undefined {
    return this.objects.get(textOf({ apiVersion, kind }, key))
  }

  /** One run of the parent: the reconcile, and what follows when it has returned. */
  async run(reconcile: (children: Children, base: BaseContext) => unknown, parent: KubeObject = site()): Promise<void> {
    const base = this.#base(parent)
    const { context, finish, stopped } = this.#plugin.extend(base, this.#run(parent)) as Extension<ChildrenContext>
    try {
      await reconcile(context.children, base)
    } catch (error) {
      if (isStopReconcile(error)) await stopped?.()
      throw error
    }
    await finish?.()
  }

  /** The parent with the status that the runs so far have written. */
  parent(metadata: object = {}): Owner {
    const conditions = [...this.conditions].map(([type, text]) => ({
      type,
      status: text.split(' ')[0],
      reason: 'x',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }))
    return site(metadata, { ...this.status, conditions })
  }

  /** Loses the rows that were reported. */
  forgetRows(): void {
    delete this.status.children
  }

  /** Changes a stored object. */
  change(type: Type, name: string, fields: object): void {
    const object = this.find(type, { name, namespace: 'a' })
    if (!object) throw new Error(`there is no ${type.kind} ${name}`)
    const resourceVersion = String(Number(object.metadata.resourceVersion) + 1)
    this.put({ ...object, ...fields, metadata: { ...object.metadata, resourceVersion } })
  }

  /** A run of a key that has no object any more. */
  async runAbsent(parent: KubeObject = site()): Promise<void> {
    await this.#plugin.absent?.(this.#base(parent), this.#run(undefined))
  }

  #base({ metadata: { name = '', namespace } }: KubeObject): BaseContext {
    const base = {
      key: { name, ...(namespace !== undefined && { namespace }) },
      clock: new SimulatedClock(),
      signal: new AbortController().signal,
      client: this.#client,
    }
    return base as unknown as BaseContext
  }

  #run(object: KubeObject | undefined): PluginRun {
    const run = {
      controller: 'site',
      kind: Site,
      declaration: this.#declaration,
      object,
      isCleanup: false,
      status: {
        set: (status: object) => Object.assign(this.status, status),
        condition: (type: string, holds: unknown, { reason = '', message = '' } = {}) =>
          this.conditions.set(
            type,
            `${holds === true ? 'True' : holds === false ? 'False' : String(holds)} ${reason}: ${message}`,
          ),
      },
      cache: this.#cache,
      addSource: (source: Source) => {
        this.sources.set(source.name, source)
        return {
          remove: () => {
            this.sources.delete(source.name)
            return Promise.resolve()
          },
        }
      },
    }
    return run as unknown as PluginRun
  }

  get #cache(): object {
    const check = ({ kind }: Type): void => {
      if (this.unsynced.has(kind)) throw new RangeError(`${kind} is not cached`)
    }
    return {
      find: (type: Type, key: Key) => {
        check(type)
        return this.hidden.has(key.name) ? undefined : this.find(type, key)
      },
      list: (type: Type, { index: { value } }: { index: { value: string } }) => {
        check(type)
        return [...this.objects.values()].filter(
          ({ kind, metadata }) =>
            kind === type.kind &&
            !this.hidden.has(metadata.name ?? '') &&
            metadata.ownerReferences?.some(({ uid }) => uid === value),
        )
      },
    }
  }

  get #client(): object {
    return {
      resourceOf: () => Promise.resolve({ namespaced: true }),
      find: (type: Type, key: Key) => {
        this.reads.push(key.name)
        return Promise.resolve(this.find(type, key))
      },
      create: async (object: KubeObject) => {
        await Promise.resolve()
        const { name = '' } = object.metadata
        this.before(`create ${name}`)
        if (this.find(object, object.metadata as Key)) throw alreadyExists({ group: '', kind: object.kind, name })
        this.created.push(name)
        return this.put({ ...object, metadata: { creationTimestamp: this.now, ...object.metadata } })
      },
      apply: async (object: KubeObject) => {
        await Promise.resolve()
        this.before(`apply ${object.metadata.name ?? ''}`)
        this.applied.push(object.metadata.name ?? '')
        const uid = this.find(object, object.metadata as Key)?.metadata.uid
        return this.put({ ...object, metadata: { ...object.metadata, ...(uid !== undefined && { uid }) } })
      },
      patchFrom: (_: unknown, object: KubeObject) => Promise.resolve(this.put(object)),
      delete: async (object: KubeObject, { preconditions }: Options) => {
        await Promise.resolve()
        this.before(`delete ${object.metadata.name ?? ''}`)
        this.deleted.push({ name: object.metadata.name ?? '', preconditions })
        this.objects.delete(textOf(object, object.metadata as Key))
      },
    }
  }
}

/** A parent, with these fields of its metadata and this status. */
export function site(metadata: object = {}, status: object = {}): Owner {
  const { apiVersion, kind } = Site
  return {
    apiVersion,
    kind,
    metadata: { name: 'shop', namespace: 'a', uid: 'parent', generation: 1, ...metadata },
    status,
  } as Owner
}

function textOf({ apiVersion, kind }: Type, { name, namespace = '' }: Key): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}
