/**
 * `children` of a reconcile: what shall be there because its object is.
 *
 * An author says what shall be; who owns it, what has to be written, what is no longer wanted, how it is and who is told
 * of its changes follows from that.
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
import { digestOf } from './desired-child.ts'
import { inventoryOf, inventoryStep } from './inventory.ts'
import { RunChildren } from './run-children.ts'
import { childrenConditionType } from './status.ts'
import { ChildWatches } from './watches.ts'

/** A child as it is written down; a name and a namespace that are left out are those of the parent. */
export type DesiredOf<K> = Omit<WrittenOf<K>, 'metadata'> & { readonly metadata?: ObjectMeta }

/** A child of a kind that is said in words. */
export type UntypedChild = TypeMeta & { readonly metadata?: ObjectMeta }

/** One of several: an object with its type, or a kind, an object, and options. */
export type DeclaredChild = UntypedChild | readonly [kind: Kind, desired: object, options?: ChildOptions<never>]

export interface Children {
  /**
   * Makes a child what it is said to be and gives it as it is stored. Nothing is sent when it is that already.
   *
   * An object of somebody else with that name is not touched: the run ends there, and `ChildrenReady` says why.
   *
   * @throws {RangeError} for a child that cannot be, and while the parent is being deleted.
   */
  apply<K extends Kind>(kind: K, desired: DesiredOf<K>, options?: ChildOptions<ReadOf<K>>): Promise<ReadOf<K>>
  apply<T extends UntypedChild>(desired: T, options?: ChildOptions): Promise<Stored<T & KubeObject>>
  /** These, each as `apply` would. A function is called twice where determinism is checked, and must give the same. */
  declare(list: readonly DeclaredChild[] | (() => readonly DeclaredChild[])): Promise<readonly KubeObject[]>
  /** There shall be none. Without this or an `apply`, a run takes nothing away. */
  none(): void
  /** One that is there, by name or by the `key` it was applied with. The name is the parent's by default. */
  get<K extends Kind>(kind: K, nameOrKey?: string): Promise<ReadOf<K> | undefined>
  /** What this controller applied for this parent and memory knows, in a stable order; metadata alone for kinds that are not in `owns`. */
  list(): readonly KubeObject[]
  /** Whether everything that was applied in this run is ready. */
  ready(): boolean
  /** Takes away what this run has not applied so far. A run that returns does so by itself. */
  prune(): Promise<void>
  /**
   * Goes on when a child is ready, or is what the predicate asks for; else the run ends here, and the next change of the
   * child brings another. Nothing is taken away by a run that ends here: phases are what comes after each other.
   */
  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T
}

/** What every manager adds to the context of a run. */
export interface ChildrenContext {
  readonly children: Children
}

/*
 * What an author says about a child beside the child itself.
 */

/**
 * What happens when somebody else's object has the name: nothing, or it is taken over if it has no controller
 * (`ifOrphan`), or if it has none and these labels.
 */
export type AdoptPolicy = 'never' | 'ifOrphan' | { readonly ifLabelled: Readonly<Record<string, string>> }

/** What happens when a child cannot be changed into what it shall be: the run fails, or it is deleted and made again. */
export type RecreatePolicy = 'never' | 'onImmutable'

export interface ChildOptions<T = KubeObject> {
  /** A word of yours by which `children.get` finds it. @default none */
  readonly key?: string
  /** @default 'never' */
  readonly adopt?: AdoptPolicy
  /** When it is ready: a function, or an expression about `object`. @default what its kind says: see `readinessOf` */
  readonly ready?: ReadyRule<T>
  /** @default 'never' */
  readonly recreate?: RecreatePolicy
  /** Whether it goes when it is no longer declared. It goes with its parent in any case. @default true */
  readonly prune?: boolean
}

/*
 * Puts `children` into the context of every run of a manager.
 */

export interface ChildrenOptions {
  /** Call functions given to `children.declare` twice, and refuse those that give something else. @default false */
  readonly checkDeterminism?: boolean
}

/** What a controller keeps from run to run; all of it may be lost. */
interface ControllerState {
  readonly applied: AppliedCache
  readonly watches: ChildWatches
}

/** The children of a run, for those who build on them. */
const childrenOf = new PerRun<RunChildren>('children')

export function childrenPlugin({ checkDeterminism = false }: ChildrenOptions = {}): ContextPlugin<ChildrenContext> {
  const kept = new Map<string, ControllerState>()
  const firstOf = new Map<string, string>()
  const keptOf = (controller: string): ControllerState => {
    const known = kept.get(controller)
    if (known) return known
    const made = { applied: new AppliedCache(), watches: new ChildWatches() }
    kept.set(controller, made)
    return made
  }
  const reporterOf = ({ kind, controller }: PluginRun): string | undefined =>
    firstOf.get(kindText(kind)) === controller ? undefined : controller
  return {
    name: 'children',
    extend(base, run) {
      const { object } = run
      if (!object) return { context: { children: noChildren(run) } }
      const children = new RunChildren(
        { base, run, parent: object as Owner, reporter: reporterOf(run), ...keptOf(run.controller) },
        { checkDeterminism },
      )
      childrenOf.set(base, children)
      if (!run.isCleanup) return { context: { children }, finish: () => children.finish() }
      beginCleanup(base, run, { ...keptOf(run.controller), condition: childrenConditionType(reporterOf(run)) })
      return { context: { children } }
    },
    steps(declaration, controller) {
      const kind = kindText(declaration.for)
      if (!firstOf.has(kind)) firstOf.set(kind, controller)
      return inventoryStep(declaration, controller)
    },
    async absent({ key }, { controller }) {
      await kept.get(controller)?.watches.setKinds(key, [])
    },
  }
}

/** Says that it is over, and listens for what goes. */
function beginCleanup(
  { key }: BaseContext,
  run: PluginRun,
  { watches, condition }: ControllerState & { readonly condition: string },
): void {
  const { object, controller, status, kind } = run
  if (!object) return
  for (const id of inventoryOf(object, controller)) watches.need(run, id, key)
  const conditions = (object as { readonly status?: { readonly conditions?: unknown } }).status?.conditions
  const wasSaid =
    Array.isArray(conditions) && conditions.some((one) => (one as { type?: unknown } | null)?.type === condition)
  if (wasSaid && kind.subresources.status)
    status?.condition(condition, false, { reason: 'Terminating', message: 'its parent is being deleted' })
}

function kindText({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `${kind}.${group}`
}

/** A run by key alone has no parent. */
function noChildren({ kind }: PluginRun): never {
  return new Proxy(
    {},
    {
      get: (_, name) => {
        throw new RangeError(
          `children.${String(name)} needs an object: the controller for ${kind.kind} is given keys alone (reconcileKey)`,
        )
      },
    },
  ) as never
}

/*
 * Children that are never changed: each content has an object of its own, named after the parent and a digest of it.
 *
 * Whoever uses one (a Deployment that mounts a ConfigMap) is changed by using another, and can go back. Old ones stay as
 * far as `keep` says, and for as long as a child of the same run names them.
 *
 * @example
 * const configs = revisions(ConfigMap, { keep: 3 })
 * controllers: [{ for: Website, verbs: [configs], async reconcile(site, context) {
 *   const config = await configs.apply(context, { data: { page: site.spec.page } })
 * } }]
 */

/** Digits of the digest in a name: enough for any number of revisions that is kept. */
const digits = 10

export interface RevisionsOptions {
  /** How many old ones stay. @default 2 */
  readonly keep?: number
  /** Which series it is, for a controller that has several of a kind; part of the names. @default none */
  readonly name?: string
}

export interface Revisions<K extends Kind> extends Verb {
  /** The revision of this content: made if there is none, and the same object as before if there was. */
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
          { kind, desired: named as unknown as KubeObject, options: { revisions: series } },
          keep,
        )) as ReadOf<K>
    },
  }
}

/** Parent, series and digest, within what a name may have. */
function revisionName(parent: string, desired: { readonly metadata?: ObjectMeta }, series: string | undefined): string {
  const { metadata, ...content } = JSON.parse(JSON.stringify(desired)) as {
    readonly metadata?: ObjectMeta
  } & JsonObject
  const kept: JsonObject = {
    labels: (metadata?.labels ?? {}) as JsonObject,
    annotations: (metadata?.annotations ?? {}) as JsonObject,
  }
  const digest = digestOf({
    ...content,
    metadata: kept,
    apiVersion: getOwn(content, 'apiVersion') ?? '',
  } as JsonValue).slice(0, digits)
  return `${[metadata?.name ?? parent, ...(series === undefined ? [] : [series])].join('-').slice(0, 253 - digits - 1)}-${digest}`
}
