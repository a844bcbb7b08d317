/**
 * What makes a referer run when something it refers to changes: references in an index, and a watch of each kind.
 *
 *   referer changes ──▶ index: what it refers to now      object changes ──▶ index ──▶ whoever refers to it
 *
 * It works before the object is there and needs no word on it. Invariants: a referer is found under what it refers to
 * now and under nothing else; a kind that only references name is followed while one of them does.
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
  /** Which one of the controller's: indexes have names. */
  readonly number: number
  readonly isOptional: boolean
  /** Whether references stay in the namespace of the referer. */
  readonly staysInside: boolean
  /** The kind that gives leave, where leave is needed. */
  readonly grants: Kind | undefined
  /** Whether objects are held by a finalizer. */
  readonly isProtected: boolean
  /** The kind of the Usages, where there are any. */
  readonly usages: Kind | undefined
  /** Under what else a referer is found, and what of a change on an object is of no interest to all. */
  readonly annotations?:
    | { keyOf(object: KubeObject): string; lost(event: CacheEvent): readonly string[] | undefined }
    | undefined
}

const usageIndex = 'owners'

/** A Usage is found by who owns it; what only looks like one is not touched. */
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
    this.#referers = context.cache.getInformer<CacheKind>(kind, scope) as unknown as InformerHandle<KubeObject>
    this.#referers.addIndex(this.#index, indexed)
    this.#subscription = this.#referers.addHandler((event) => this.#leaveKinds(event))
    this.#leaveGraph = graphOf(context.cache).add({
      kind,
      find: ({ name: called, namespace }) =>
        this.#referers.find({ name: called, ...(namespace !== '' && { namespace }) }),
      needs: (object) => (plan.isOptional ? [] : targetsOf(object, plan.refsOf, plan.kinds)),
    })
    for (const choice of kinds === 'any' ? [] : kinds) if ('scope' in choice) this.#follow(typeOf(choice))
    this.#grants =
      grants &&
      new FollowedKind(typeOf(grants), {
        context,
        namespaces: undefined,
        handler: ({ key: { namespace = '' } }) => this.#referersAt(namespaceKey(namespace)),
      })
    this.#usages = usages && new FollowedKind(typeOf(usages), { context, namespaces, handler: enqueueOwner(kind) })
    this.#usages?.addIndex(usageIndex, usageKeys)
  }

  get hasSynced(): boolean {
    return this.#referers.hasSynced && this.#all.every(({ state: standing }) => standing !== 'unknown')
  }

  get problem(): string | undefined {
    return this.#all.find(({ problem }) => problem !== undefined)?.problem
  }

  /** A kind that is missing or may not be read is no reason to wait: the status of the referers says so. */
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

  /** Everything that is followed now. */
  get kinds(): readonly FollowedKind[] {
    return [...this.#kinds.values()]
  }

  /** Leave that was given; undefined when it cannot be known. */
  get grants(): readonly KubeObject[] | undefined {
    return this.#grants?.state === 'listed' || this.#grants?.state === 'missing' ? this.#grants.list() : undefined
  }

  /** The Usages that belong to a referer. */
  usagesOf({ metadata: { uid = '' } }: KubeObject): readonly UsageObject[] {
    return this.#usages?.list({ index: { name: usageIndex, value: uid } }) ?? []
  }

  /** Who refers to a place now. */
  referersOf(place: ObjectRef): readonly KubeObject[] {
    return this.#referers.list({ index: { name: this.#index, value: refKey(place) } })
  }

  /** The kind, followed from now on; undefined when the server does not have it. */
  async kindOf(
    choice: Kind | GroupKind,
    options: AbortOptions & { client: Pick<Client, 'resources'> },
  ): Promise<FollowedKind | undefined> {
    const known = this.#kinds.get(kindKey(choice))
    if (known && (known.state !== 'missing' || known.type.full)) return known
    const type = await this.#finder.find(choice, { ...options, fresh: known !== undefined })
    const other = this.#kinds.get(kindKey(choice))
    if (!type || other?.type.apiVersion === type.apiVersion) return other
    // Its version was taken out of service: the one that came instead shows the same objects.
    if (other) this.#leave(other)
    return this.#follow(type)
  }

  get #all(): readonly FollowedKind[] {
    return [...this.#kinds.values(), ...(this.#grants ? [this.#grants] : []), ...(this.#usages ? [this.#usages] : [])]
  }

  #follow(type: FollowedType): FollowedKind {
    const {
      declaration: { namespaces },
      staysInside,
      isProtected: isHeld,
    } = this.#plan
    const followed = new FollowedKind(type, {
      context: this.#context,
      namespaces: staysInside ? namespaces : undefined,
      byFinalizer: isHeld,
      handler: (event) => this.#concerned(event),
      onLate: () => {
        this.#enqueueAll(type)
      },
    })
    this.#kinds.set(kindKey(type), followed)
    return followed
  }

  #concerned(event: CacheEvent): readonly CacheKey[] {
    const lost = this.#plan.annotations?.lost(event)
    if (lost) return lost.flatMap((mark) => this.#referersAt(mark))
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
      this.#context.enqueue(key, { type: 'event', source: this.name, note: `${type.kind} can be read now` })
  }

  /** Kinds that only references name are left when the last one does no more. */
  #leaveKinds({ type, old, object }: CacheEvent): void {
    const before = type === 'delete' ? object : old
    if (!before || (this.#plan.kinds !== 'any' && this.#plan.kinds.every((choice) => 'scope' in choice))) return
    for (const followed of this.#kinds.values()) {
      if (followed.type.full || this.#referersAt(kindKey(followed.type)).length > 0) continue
      this.#leave(followed)
    }
  }

  #leave(followed: FollowedKind): void {
    this.#kinds.delete(kindKey(followed.type))
    followed.stop().catch((error: unknown) => {
      this.#context.log.error('a kind is not let go', { kind: followed.type.kind, error })
    })
  }
}

function indexKeys(object: KubeObject, { refsOf, kinds, annotations: marks }: DependencyPlan): readonly string[] {
  const { namespace } = refOf(object)
  const targets: readonly Target[] = targetsOf(object, refsOf, kinds).filter(({ choice }) => choice !== undefined)
  return [
    ...targets.flatMap((target) => [refKey(target), kindKey(target)]),
    // Whether a kind has namespaces is not known of all of them; an object is in one or in none.
    ...targets
      .filter(({ choice, namespace: at }) => at !== '' && choice && !('scope' in choice))
      .map((target) => refKey({ ...target, namespace: '' })),
    ...targets
      .filter(({ namespace: at }) => at !== '' && at !== namespace)
      .map(({ namespace: at }) => namespaceKey(at)),
    ...(marks ? [marks.keyOf(object)] : []),
  ]
}
