/**
 * The event source of `dependsOn`: an index of references, and a watch of each referenced kind.
 *
 *   referer changes ──▶ index its current references      dependency changes ──▶ look up and enqueue its referers
 *
 * A referer is indexed under each reference, under the kind of each reference, and under each other namespace that it
 * refers into. Example: Route a/front with the reference App b/web is found by `App b/web` (the App changes), by `App`
 * (the kind is installed late) and by namespace `b` (a ReferenceGrant there changes).
 *
 * Invariants: a referer is found by its current references only; a kind that is named by references alone is watched
 * while at least one reference names it.
 */
import type { Kind, KubeObject } from '#api'
import type { AbortOptions } from '#base'
import type { CacheEvent, CacheKey, CacheKind, InformerHandle, ObjectCache, Subscription } from '#cache'
import type { Client } from '#client'
import {
  enqueueOwner,
  type ControllerDeclaration,
  type Source,
  type SourceContext,
  type StartedSource,
} from '#controller'
import { FollowedKind, KindFinder, typeOf, type FollowedType } from './followed-kind.ts'
import { graphOf } from './graph.ts'
import type { DependencyLimits } from './limits.ts'
import {
  kindKey,
  namespaceKey,
  refKey,
  refOf,
  targetsOf,
  type GroupKind,
  type KindChoice,
  type ObjectRef,
  type Reference,
  type RefsOf,
  type Target,
} from './reference.ts'
import type { UsageObject } from './usages.ts'

interface DependencyPlan {
  readonly controller: string
  readonly declaration: Pick<ControllerDeclaration, 'for' | 'namespaces' | 'labelSelector' | 'fieldSelector'>
  readonly kinds: KindChoice
  readonly refsOf: RefsOf<never, Reference>
  /** Position among the verbs of the controller, for the name of the index. */
  readonly number: number
  readonly isOptional: boolean
  /** Whether references stay in the namespace of the referer. */
  readonly staysInside: boolean
  /** @default none */
  readonly limits?: DependencyLimits
  /** The kind of the ReferenceGrants, if they are needed. */
  readonly grants: Kind | undefined
  /** Whether dependencies are protected by a finalizer. */
  readonly isProtected: boolean
  /** The kind of the Usages, if there are any. */
  readonly usages: Kind | undefined
  /** The index key of a referer's annotation, and the keys whose annotation an event removed. */
  readonly annotations?:
    | { keyOf(object: KubeObject): string; lost(event: CacheEvent): readonly string[] | undefined }
    | undefined
}

const usageIndex = 'owners'

/** Usages are indexed by owner UID: a Usage without our owner reference is not touched. */
function usageKeys({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid)
}

export class DependencySource implements Source {
  readonly name: string
  readonly #plan: DependencyPlan
  readonly #indexed: (object: KubeObject) => readonly string[]
  readonly #onStart: (cache: ObjectCache, started: FollowedDependencies) => void

  constructor(
    plan: DependencyPlan,
    { onStart }: { onStart: (cache: ObjectCache, started: FollowedDependencies) => void },
  ) {
    this.name = `dependencies of ${plan.declaration.for.kind}`
    this.#plan = plan
    this.#indexed = (object) => indexKeys(object, plan)
    this.#onStart = onStart
  }

  start(context: SourceContext): StartedSource {
    const started = new FollowedDependencies(this.#plan, context, { name: this.name, indexed: this.#indexed })
    this.#onStart(context.cache, started)
    return started
  }
}

export class FollowedDependencies implements StartedSource {
  readonly name: string
  readonly #plan: DependencyPlan
  readonly #context: SourceContext
  readonly #index: string
  readonly #referers: InformerHandle<KubeObject>
  readonly #subscription: Subscription
  readonly #finder: KindFinder
  readonly #kinds = new Map<string, FollowedKind>()
  readonly #grants: FollowedKind | undefined
  readonly #usages: FollowedKind | undefined
  readonly #leaveGraph: () => void

  constructor(
    plan: DependencyPlan,
    context: SourceContext,
    { name, indexed }: { name: string; indexed: (object: KubeObject) => readonly string[] },
  ) {
    const {
      declaration: { for: kind, namespaces, labelSelector, fieldSelector },
      controller,
      number,
      kinds,
      grants,
      usages,
    } = plan
    this.name = name
    this.#plan = plan
    this.#context = context
    this.#index = `dependencies ${controller} ${number}`
    this.#finder = new KindFinder(context)
    const scope = {
      ...(namespaces !== undefined && { namespaces }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    }
    this.#referers = context.cache.getInformer<CacheKind>(kind, scope) as InformerHandle<KubeObject>
    this.#referers.addIndex(this.#index, indexed)
    this.#subscription = this.#referers.addHandler((event) => this.#unfollowUnused(event))
    this.#leaveGraph = graphOf(context.cache).add({
      kind,
      find: ({ name, namespace }) => this.#referers.find({ name, ...(namespace !== '' && { namespace }) }),
      needs: (object) => (plan.isOptional ? [] : targetsOf(object, plan.refsOf, plan.kinds)),
    })
    for (const choice of kinds === 'any' ? [] : kinds) if ('scope' in choice) this.#follow(typeOf(choice))
    this.#grants =
      grants &&
      new FollowedKind(typeOf(grants), {
        context,
        namespaces: plan.limits?.namespace === undefined ? undefined : [plan.limits.namespace],
        handler: ({ key: { namespace = '' } }) => this.#referersAt(namespaceKey(namespace)),
      })
    this.#usages = usages && new FollowedKind(typeOf(usages), { context, namespaces, handler: enqueueOwner(kind) })
    this.#usages?.addIndex(usageIndex, usageKeys)
  }

  get hasSynced(): boolean {
    return this.#referers.hasSynced && this.#all.every(({ state }) => state !== 'unknown')
  }

  get problem(): string | undefined {
    return this.#all.find(({ problem }) => problem !== undefined)?.problem
  }

  /** Does not wait for a kind that is not installed or not readable: the status of its referers says so. */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all([
      this.#subscription.waitForSync(options),
      ...this.#all.map((followed) => followed.waitForAnswer(options)),
    ])
  }

  async stop(): Promise<void> {
    this.#leaveGraph()
    await this.#subscription.remove()
    await Promise.all(this.#all.map((followed) => followed.stop()))
    this.#kinds.clear()
    await this.#referers.release()
  }

  /** All kinds that are watched now. */
  get kinds(): readonly FollowedKind[] {
    return [...this.#kinds.values()]
  }

  /** All ReferenceGrants; undefined if they cannot be read. */
  get grants(): readonly KubeObject[] | undefined {
    return this.#grants?.state === 'listed' || this.#grants?.state === 'missing' ? this.#grants.list() : undefined
  }

  /** The Usages that belong to a referer. */
  usagesOf({ metadata: { uid = '' } }: KubeObject): readonly UsageObject[] {
    return this.#usages?.list({ index: { name: usageIndex, value: uid } }) ?? []
  }

  /** The current referers of an object. */
  referersOf(ref: ObjectRef): readonly KubeObject[] {
    return this.#referers.list({ index: { name: this.#index, value: refKey(ref) } })
  }

  /** Watches a kind from now on; undefined if it is not installed. */
  async kindOf(
    choice: Kind | GroupKind,
    options: AbortOptions & { client: Pick<Client, 'resources'> },
  ): Promise<FollowedKind | undefined> {
    const known = this.#kinds.get(kindKey(choice))
    if (known && (known.state !== 'missing' || known.type.full)) return known
    const type = await this.#finder.find(choice, { ...options, fresh: known !== undefined })
    const other = this.#kinds.get(kindKey(choice))
    if (!type || other?.type.apiVersion === type.apiVersion) return other
    // Its version is no longer served: another version shows the same objects.
    if (other) this.#unfollow(other)
    return this.#follow(type)
  }

  get #all(): readonly FollowedKind[] {
    return [...this.#kinds.values(), ...(this.#grants ? [this.#grants] : []), ...(this.#usages ? [this.#usages] : [])]
  }

  #follow(type: FollowedType): FollowedKind {
    const {
      declaration: { namespaces },
      staysInside,
      isProtected,
      limits,
    } = this.#plan
    const followed = new FollowedKind(type, {
      context: this.#context,
      namespaces: limits?.namespace === undefined ? (staysInside ? namespaces : undefined) : [limits.namespace],
      names: limits?.names,
      byFinalizer: isProtected,
      handler: (event) => this.#referersFor(event),
      onLate: () => {
        this.#enqueueAll(type)
      },
    })
    this.#kinds.set(kindKey(type), followed)
    return followed
  }

  #referersFor(event: CacheEvent): readonly CacheKey[] {
    const lost = this.#plan.annotations?.lost(event)
    if (lost) return lost.flatMap((key) => this.#referersAt(key))
    const { group, kind, namespace = '', name } = event.key
    return this.#referersAt(refKey({ group, kind, namespace, name }))
  }

  #referersAt(value: string): readonly CacheKey[] {
    return this.#referers
      .list({ index: { name: this.#index, value } })
      .map(({ metadata: { name = '', namespace } }) => ({ name, ...(namespace !== undefined && { namespace }) }))
  }

  #enqueueAll(type: FollowedType): void {
    for (const key of this.#referersAt(kindKey(type)))
      this.#context.enqueue(key, { type: 'event', source: this.name, note: `${type.kind} is readable now` })
  }

  /** Stops the watch of a kind that is named by references alone, when the last of them is gone. */
  #unfollowUnused({ type, old, object }: CacheEvent): void {
    const before = type === 'delete' ? object : old
    if (!before || (this.#plan.kinds !== 'any' && this.#plan.kinds.every((choice) => 'scope' in choice))) return
    for (const followed of this.#kinds.values()) {
      if (followed.type.full || this.#referersAt(kindKey(followed.type)).length > 0) continue
      this.#unfollow(followed)
    }
  }

  #unfollow(followed: FollowedKind): void {
    this.#kinds.delete(kindKey(followed.type))
    followed.stop().catch((error: unknown) => {
      this.#context.log.error('cannot stop the informer of a dependency kind', { kind: followed.type.kind, error })
    })
  }
}

function indexKeys(object: KubeObject, { refsOf, kinds, annotations }: DependencyPlan): readonly string[] {
  const { namespace } = refOf(object)
  const targets: readonly Target[] = targetsOf(object, refsOf, kinds).filter(({ choice }) => choice !== undefined)
  return [
    ...targets.flatMap((target) => [refKey(target), kindKey(target)]),
    // The scope of a kind without a full definition is unknown, so its references are indexed for both scopes.
    ...targets
      .filter(({ choice, namespace: at }) => at !== '' && choice && !('scope' in choice))
      .map((target) => refKey({ ...target, namespace: '' })),
    ...targets
      .filter(({ namespace: at }) => at !== '' && at !== namespace)
      .map(({ namespace: at }) => namespaceKey(at)),
    ...(annotations ? [annotations.keyOf(object)] : []),
  ]
}
