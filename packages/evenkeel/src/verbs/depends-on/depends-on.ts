/**
 * `dependsOn`: objects that refer to others run when those change, and go on when those are ready.
 *
 * One declaration gives the index, the watches, the permissions, the condition and the lines in the status. References
 * are found in the cache, so it works before the other object is there, needs no word on it and leaves nothing behind.
 *
 * @example
 * const app = dependsOn(App, (route: RouteObject) => route.spec.targetRefs)
 * const route = { for: Route, verbs: [app], async reconcile(object, context) { const apps = await app.resolve(context) } }
 */
import type { Infer, JsonObject, Kind, KubeObject, SchemaSource, Stored, UnstructuredObject } from '#api'
import type { ReadOf } from '#client'
import type { BaseContext, Verb } from '#controller'
import type { ReadyRule } from '../readiness.ts'
import { DependencyVerb } from './dependency-verb.ts'
import type { GroupKind, KindChoice, Reference } from './reference.ts'

type Refs<T, R> = (object: T) => R | readonly R[] | undefined

/** What references may be: objects, or plain names. */
type ReferenceOf<R> = R extends string ? Reference : R extends Reference ? R : never

/**
 * Declares that objects depend on others: the controller runs when those change, and waits until those are ready.
 *
 * @example
 * const secret = dependsOn(Secret, (site: ObjectOf<typeof Website>) => site.spec.secretName)
 * const websites = defineController({
 *   for: Website,
 *   verbs: [secret],
 *   async reconcile(site, context) {
 *     const [found] = await secret.resolve(context)
 *   },
 * })
 *
 * @param kind one kind, in a version or in none; several, of which references name one; or `'any'` that they name.
 * @param refsOf what an object refers to: a function of the object and nothing else.
 * @throws {RangeError} for options that cannot be used together.
 */
export function dependsOn<
  K extends Kind,
  T extends KubeObject,
  const R extends Reference | string,
  const O extends DependsOnOptions<ReadOf<K>, SchemaSource>,
>(kind: K, refsOf: Refs<T, R>, options?: O): DependsOn<ObjectFor<ReadOf<K>, O>, ContractOf<O>, ReferenceOf<R>>
export function dependsOn<
  T extends KubeObject,
  const R extends Reference | string,
  const O extends DependsOnOptions<Stored<UnstructuredObject>, SchemaSource>,
>(
  kind: GroupKind | readonly (Kind | GroupKind)[] | 'any',
  refsOf: Refs<T, R>,
  options?: O,
): DependsOn<ObjectFor<Stored<UnstructuredObject>, O>, ContractOf<O>, ReferenceOf<R>>
export function dependsOn(
  kind: Kind | GroupKind | KindChoice,
  refsOf: Refs<never, Reference | string>,
  options: DependsOnOptions<never, SchemaSource> = {},
): unknown {
  const kinds: KindChoice = kind === 'any' || Array.isArray(kind) ? (kind as KindChoice) : [kind as Kind | GroupKind]
  return new DependencyVerb(kinds, refsOf, options)
}

/*
 * What `dependsOn` can be told, and what it gives.
 */

export interface Contract<S extends SchemaSource = SchemaSource> {
  /** Where the object publishes it: `status.endpoint`; a list of names where one of them has a dot. */
  readonly path: string | readonly string[]
  /** A schema of a Standard Schema library, or a JSON Schema; the value has its type. */
  readonly schema: S
}

export interface DependsOnOptions<T = JsonObject, S extends SchemaSource = SchemaSource> {
  /**
   * When an object will do: a function, or an expression in CEL about `object`.
   *
   * @default what it says about itself: its controller has seen its latest generation, and its conditions are good
   */
  readonly ready?: ReadyRule<T>
  /** Go on without it. @default false */
  readonly optional?: boolean
  /**
   * `'oncePerGeneration'`: who was ready once may be unready until the referer's spec changes. Needs room in the status.
   *
   * @default 'continuous'
   */
  readonly gate?: 'continuous' | 'oncePerGeneration'
  /** What it must publish. @default nothing */
  readonly contract?: Contract<S>
  /**
   * References into other namespaces: never, where a ReferenceGrant there allows it, or always.
   *
   * @default 'deny'
   */
  readonly crossNamespace?: 'deny' | 'granted' | 'allow'
  /** The kind of the grants: `ReferenceGrant`, or `GatewayReferenceGrant`. @default ReferenceGrant of evenkeel.dev */
  readonly grants?: Kind
  /**
   * `'whileInUse'`: a Usage says who uses it, and our server refuses to delete it. `'finalizer'`: it is held by a
   * finalizer until nobody uses it, on any server; needs room in the status.
   *
   * @default 'none'
   */
  readonly protect?: 'none' | 'whileInUse' | 'finalizer'
  /** Why it is used, for the Usage. @default `the KIND depends on it` */
  readonly reason?: string
  /**
   * Write on the object who uses it: an annotation for each referer, below this prefix. Needs room in the status.
   *
   * @default false; true for `used-by.` and the group of the referer
   */
  readonly annotate?: boolean | string
  /** Go on with the contract as it was last right, when it is not right any more. Needs a contract, and room in the status. @default false */
  readonly keepLastGood?: boolean
}

/** Why an object will not do. */
export type DependencyReason =
  | 'NotFound'
  | 'NotReady'
  | 'ContractMissing'
  | 'ContractInvalid'
  | 'Terminating'
  | 'Forbidden'
  | 'KindNotInstalled'
  | 'NotGranted'
  | 'Cycle'

/** A dependency that will do. */
export interface ResolvedDependency<T, C, R extends Reference> {
  /** As it is now. With `keepLastGood` it may have gone. */
  readonly object: T
  readonly contract: C
  readonly reference: R
}

/** A dependency, whether it will do or not. */
export interface FoundDependency<T, C, R extends Reference> {
  /** Absent when there is none, or when nothing may be known of it. */
  readonly object: T | undefined
  /** Absent unless it is right; with `keepLastGood`, as it was last right. */
  readonly contract: C | undefined
  readonly reference: R
  readonly isReady: boolean
  readonly reason: DependencyReason | undefined
  readonly message: string
}

type RunContext = Pick<BaseContext, 'signal'>

/** A dependency of the objects of a controller: list it in its `verbs`, and ask it in `reconcile`. */
export interface DependsOn<T = KubeObject, C = undefined, R extends Reference = Reference> extends Verb {
  /**
   * What the object depends on, all of it ready, in the order of its references; optional ones that are not ready are
   * left out. In a cleanup, whatever is there.
   *
   * @throws {StopReconcile} when something is not ready: the reconcile ends there, and the status says why.
   */
  resolve(context: RunContext): Promise<readonly ResolvedDependency<T, C, R>[]>
  /** The only one; undefined when there is no reference, or an optional one is not ready. @throws {StopReconcile} as `resolve`. @throws {RangeError} when there are several. */
  one(context: RunContext): Promise<ResolvedDependency<T, C, R> | undefined>
  /** Everything the object refers to, ready or not; never ends the reconcile. */
  find(context: RunContext): Promise<readonly FoundDependency<T, C, R>[]>
}

/** The type of a contract; none without one. */
export type ContractOf<O> = O extends { readonly contract: { readonly schema: infer S } }
  ? Infer<S, 'stored'>
  : undefined

/** What may be missing when the last good state is kept. */
export type ObjectFor<T, O> = O extends { readonly keepLastGood: true } ? T | undefined : T
