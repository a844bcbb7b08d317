/**
 * `children`: the objects that a reconcile creates for its parent object.
 *
 * The author declares the desired children. Ownership, the minimal write, pruning, readiness, status and watches follow
 * from the declaration. `childrenPlugin` adds `children` to the context of every reconcile of a manager.
 *
 * `revisions` declares immutable children: each content is an object of its own, named after the parent and a digest of
 * the content. A user of a revision (a Deployment that mounts a ConfigMap) rolls out by naming another one and can roll
 * back. `keep` old revisions stay, and so does every revision that a child of the same run names.
 *
 * @example
 * const configs = revisions(ConfigMap, { keep: 3 })
 * controllers: [{ for: Website, verbs: [configs], async reconcile(site, context) {
 *   const config = await configs.apply(context, { data: { page: site.spec.page } }) // website-configmap-3f2a…
 * } }]
 */
import {
  getOwn,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KubeObject,
  type ObjectMeta,
  type Owner,
  type Stored,
  type TypeMeta,
  parseJson,
  stringifyJson,
} from '#api'
import type { ReadOf, WrittenOf } from '#client'
import {
  PerRun,
  type BaseContext,
  type ContextPlugin,
  type PluginRun,
  type ReconcileContext,
  type Verb,
} from '#controller'
import type { ReadyRule } from '../readiness.ts'
import { AppliedCache } from './apply.ts'
import { KnownChildren } from './child-readiness.ts'
import { digestOf } from '../digest.ts'
import { inventoryOf, inventoryStep } from './inventory.ts'
import { RunChildren } from './run-children.ts'
import { childrenConditionType } from './status.ts'
import { ChildWatches } from './watches.ts'

/** A desired child. Name and namespace default to those of the parent. */
type DesiredOf<K> = Omit<WrittenOf<K>, 'metadata'> & { readonly metadata?: ObjectMeta }

/** A desired child that names its kind by apiVersion and kind. */
type UntypedChild = TypeMeta & { readonly metadata?: ObjectMeta }

/** An entry of {@link Children.declare}: an object with its type, or a kind, an object and options. */
export type DeclaredChild = UntypedChild | readonly [kind: Kind, desired: object, options?: ChildOptions<never>]

export interface Children {
  /**
   * Applies a child and returns it as stored. Sends nothing if the child is already as desired.
   *
   * An object of that name with another owner is not touched: the run ends, and `ChildrenReady` says why.
   *
   * @example const deployment = await children.apply(Deployment, { spec: deploymentFor(site) })
   *
   * @throws {RangeError} for an invalid child, and while the parent is being deleted.
   */
  apply<K extends Kind>(kind: K, desired: DesiredOf<K>, options?: ChildOptions<ReadOf<K>>): Promise<ReadOf<K>>
  /**
   * The same for an object that names its kind: one from a file, or of a kind that no type describes.
   *
   * @example for (const manifest of manifests) await children.apply(manifest)
   */
  apply<T extends UntypedChild>(desired: T, options?: ChildOptions): Promise<Stored<T & KubeObject>>
  /**
   * Makes a child for an event, such as a Job or a backup: creates it if there is none for this key, and returns it.
   * Later runs neither change nor prune it. Finished ones beyond `keep` are deleted, the oldest first.
   *
   * @example await children.once(Job, { spec: jobFor(backup) }, { key: backup.spec.date, keep: { Complete: 3 } })
   *
   * @throws {RangeError} for invalid options, and for a child outside of the namespace of its parent.
   */
  once<K extends Kind>(kind: K, desired: DesiredOf<K>, options: OnceOptions<ReadOf<K>>): Promise<ReadOf<K>>
  /**
   * Applies each entry. With `checkDeterminism` a function is called twice and must return the same list.
   *
   * @example await children.declare([[ConfigMap, { data }], [Service, { spec: { ports } }, { key: 'front' }]])
   */
  declare(list: readonly DeclaredChild[] | (() => readonly DeclaredChild[])): Promise<readonly KubeObject[]>
  /**
   * Declares that there are no children. A run that calls neither this nor `apply` prunes nothing.
   *
   * @example if (!site.spec.enabled) children.none()
   */
  none(): void
  /**
   * An existing child, by name or by the `key` it was applied with. The name defaults to the parent's.
   *
   * @example const front = await children.get(Service, 'front')
   */
  get<K extends Kind>(kind: K, nameOrKey?: string): Promise<ReadOf<K> | undefined>
  /**
   * The cached children that this controller applied for this parent, in a stable order; metadata only for kinds that are
   * not in `owns`.
   *
   * @example status.set({ children: children.list().length })
   */
  list(): readonly KubeObject[]
  /**
   * Whether every child that this run applied is ready.
   *
   * @example status.condition('Ready', children.ready())
   */
  ready(): boolean
  /**
   * Deletes the children that this run has not applied so far. A run that returns prunes by itself.
   *
   * @example await children.prune() // the old ones go before the next step begins
   */
  prune(): Promise<void>
  /**
   * Returns the child if it is ready, or if the predicate accepts it. Otherwise the run ends here, prunes nothing, and
   * the next change of the child starts another run. This is how phases are written: one `waitFor` after the other.
   *
   * @example children.waitFor(await children.apply(Job, { spec: migration }))
   */
  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T
}

/** What the plugin adds to the context of a run. */
export interface ChildrenContext {
  /**
   * The objects that exist because this one does: ownership, pruning, readiness and watches follow.
   *
   * @example await children.apply(ConfigMap, { data: { text: site.spec.text } })
   */
  readonly children: Children
}

/**
 * What to do with an existing object of that name that is not a child: leave it, adopt it if it has no controller
 * (`ifOrphan`), or adopt it if it has no controller and these labels.
 */
export type AdoptPolicy = 'never' | 'ifOrphan' | { readonly ifLabelled: Readonly<Record<string, string>> }

/** What to do when an immutable field of a child has to change: fail, or delete the child and create it again. */
export type RecreatePolicy = 'never' | 'onImmutable'

export interface ChildOptions<T = KubeObject> {
  /** A name of your choice for `children.get`. @default none */
  readonly key?: string
  /** @default 'never' */
  readonly adopt?: AdoptPolicy
  /** When it is ready: a function, or a CEL expression about `object`. @default `readinessOf` */
  readonly ready?: ReadyRule<T>
  /** @default 'never' */
  readonly recreate?: RecreatePolicy
  /** Whether it is deleted when it is no longer declared. It is always deleted with its parent. @default true */
  readonly prune?: boolean
}

/** Options of {@link Children.once}. */
export interface OnceOptions<T = KubeObject> {
  /** Identifies the event: one child is made for each key, named after the parent and the key. */
  readonly key: string
  /**
   * How many finished children of the series stay, by outcome; the newest stay.
   *
   * @default { Complete: 3, Failed: 1 }
   */
  readonly keep?: { readonly Complete?: number; readonly Failed?: number }
  /** Name of the series, part of the object names, for parents with several series of one kind. @default none */
  readonly name?: string
  /** When it has completed: a function, or a CEL expression about `object`, which is stored on the child. @default `readinessOf` */
  readonly ready?: ReadyRule<T>
}

export interface ChildrenOptions {
  /** Call functions passed to `children.declare` twice and refuse those that return something else. @default false */
  readonly checkDeterminism?: boolean
}

/** State that a controller keeps between runs; a loss costs extra requests, never correctness. */
interface ControllerState {
  readonly applied: AppliedCache
  readonly known: KnownChildren
  readonly watches: ChildWatches
}

/** The children of each run, for verbs that build on them. */
const childrenOf = new PerRun<RunChildren>('children')

export function childrenPlugin({ checkDeterminism = false }: ChildrenOptions = {}): ContextPlugin<ChildrenContext> {
  const states = new Map<string, ControllerState>()
  const firstOf = new Map<string, string>()
  const stateOf = (controller: string): ControllerState => {
    const known = states.get(controller)
    if (known) return known
    const state = { applied: new AppliedCache(), known: new KnownChildren(), watches: new ChildWatches() }
    states.set(controller, state)
    return state
  }
  const reporterOf = ({ kind, controller }: PluginRun): string | undefined =>
    firstOf.get(kindText(kind)) === controller ? undefined : controller
  return {
    name: 'children',
    extend(base, run) {
      const { object } = run
      if (!object) return { context: { children: noChildren(run) } }
      const children = new RunChildren(
        { base, run, parent: object as Owner, reporter: reporterOf(run), ...stateOf(run.controller) },
        { checkDeterminism },
      )
      childrenOf.set(base, children)
      if (!run.isCleanup)
        return { context: { children }, finish: () => children.finish(), stopped: () => children.stopped() }
      beginCleanup(base, run, { ...stateOf(run.controller), condition: childrenConditionType(reporterOf(run)) })
      return { context: { children } }
    },
    steps(declaration, controller) {
      const kind = kindText(declaration.for)
      if (!firstOf.has(kind)) firstOf.set(kind, controller)
      return inventoryStep(declaration, controller)
    },
    async absent({ key }, { controller }) {
      await states.get(controller)?.watches.setKinds(key, [])
    },
  }
}

/** Sets the condition to Terminating and watches the listed children, whose deletion the cleanup waits for. */
function beginCleanup(
  { key }: BaseContext,
  run: PluginRun,
  { watches, condition }: ControllerState & { readonly condition: string },
): void {
  const { object, controller, status, kind } = run
  if (!object) return
  for (const id of inventoryOf(object, controller)) watches.need(run, id, key)
  const conditions = (object as { readonly status?: { readonly conditions?: unknown } }).status?.conditions
  const isReported =
    Array.isArray(conditions) && conditions.some((one) => (one as { type?: unknown } | null)?.type === condition)
  if (isReported && kind.subresources.status)
    status?.condition(condition, false, { reason: 'Terminating', message: 'the parent is being deleted' })
}

function kindText({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `${kind}.${group}`
}

/** A run of `reconcileKey` has no parent object. */
function noChildren({ kind }: PluginRun): never {
  return new Proxy(
    {},
    {
      get: (_, name) => {
        throw new RangeError(
          `children.${String(name)} needs an object: the controller for ${kind.kind} uses reconcileKey; use reconcile instead`,
        )
      },
    },
  ) as never
}

/** Digits of the digest in the name of a revision. */
const digits = 10

interface RevisionsOptions {
  /** How many old revisions stay. @default 2 */
  readonly keep?: number
  /** Name of the series, part of the object names, for controllers with several series of one kind. @default none */
  readonly name?: string
}

interface Revisions<K extends Kind> extends Verb {
  /** Returns the revision of this content and creates it if it does not exist. */
  apply(context: Pick<ReconcileContext, 'signal' | 'key'>, desired: DesiredOf<K>): Promise<ReadOf<K>>
}

/**
 * Declares children that are never changed: each content gets an object of its own, named after the parent and a digest
 * of the content.
 *
 * @example
 * const configs = revisions(ConfigMap, { keep: 3 })
 * const websites = defineController({
 *   for: Website,
 *   verbs: [configs],
 *   async reconcile(site, context) {
 *     const config = await configs.apply(context, { data: { page: site.spec.page } })
 *   },
 * })
 *
 * @throws {RangeError} when `keep` is not a whole number of 0 or more.
 */
export function revisions<K extends Kind>(kind: K, { keep = 2, name }: RevisionsOptions = {}): Revisions<K> {
  if (!(Number.isInteger(keep) && keep >= 0))
    throw new RangeError(`keep must be a whole number of 0 or more, got ${keep}`)
  const series = name ?? kind.kind.toLowerCase()
  return {
    name: `revisions ${series}`,
    extend: () => ({ context: {} }),
    adds: () => ({ owns: [kind] }),
    async apply(context, desired) {
      const named = {
        ...desired,
        metadata: { ...desired.metadata, name: revisionName(context.key.name, desired, name) },
      }
      return (await childrenOf
        .get(context)
        .applyRevision(
          { kind, desired: named as object as KubeObject, options: { revisions: series } },
          keep,
        )) as ReadOf<K>
    },
  }
}

/** Parent, series and digest, at most 253 characters. */
function revisionName(parent: string, desired: { readonly metadata?: ObjectMeta }, series: string | undefined): string {
  const { metadata, ...content } = parseJson(stringifyJson(desired)) as {
    readonly metadata?: ObjectMeta
  } & JsonObject
  const identifying: JsonObject = {
    labels: (metadata?.labels ?? {}) as JsonObject,
    annotations: (metadata?.annotations ?? {}) as JsonObject,
  }
  const digest = digestOf({
    ...content,
    metadata: identifying,
    apiVersion: getOwn(content, 'apiVersion') ?? '',
  } as JsonValue).slice(0, digits)
  return `${[metadata?.name ?? parent, ...(series === undefined ? [] : [series])].join('-').slice(0, 253 - digits - 1)}-${digest}`
}
