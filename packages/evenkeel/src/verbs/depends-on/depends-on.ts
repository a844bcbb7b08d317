/**
 * `dependsOn`: reconciles an object when an object that it refers to changes, and continues when that one is ready.
 *
 * One declaration gives the index, the watches, the RBAC rules, the condition and the entries in the status. Referers are
 * found by an index over the cache, so a reference works before its target exists, and the target needs no back reference.
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

/** The type of a reference: an object, or a plain name. */
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
 * @param kind one kind, with or without a version; several kinds, of which each reference names one; or `'any'`.
 * @param refsOf the references of an object: a pure function of the object.
 * @throws {RangeError} for options that cannot be used together.
 */
export function dependsOn<
  K extends Kind,
  T extends KubeObject,
  const R extends Reference | string,
  const O extends DependsOnOptions<ReadOf<K>, SchemaSource>,
>(
  kind: K,
  refsOf: Refs<T, R>,
  options?: O,
): DependsOn<ObjectFor<ReadOf<K>, O>, ContractOf<O>, ReferenceOf<R>, IsOptional<O>>
export function dependsOn<
  T extends KubeObject,
  const R extends Reference | string,
  const O extends DependsOnOptions<Stored<UnstructuredObject>, SchemaSource>,
>(
  kind: GroupKind | readonly (Kind | GroupKind)[] | 'any',
  refsOf: Refs<T, R>,
  options?: O,
): DependsOn<ObjectFor<Stored<UnstructuredObject>, O>, ContractOf<O>, ReferenceOf<R>, IsOptional<O>>
export function dependsOn(
  kind: Kind | GroupKind | KindChoice,
  refsOf: Refs<never, Reference | string>,
  options: DependsOnOptions<never, SchemaSource> = {},
): unknown {
  const kinds: KindChoice = kind === 'any' || Array.isArray(kind) ? (kind as KindChoice) : [kind as Kind | GroupKind]
  return new DependencyVerb(kinds, refsOf, options)
}

/** A value that a dependency must publish. */
export interface Contract<S extends SchemaSource = SchemaSource> {
  /** Path of the value: `status.endpoint`; a list of field names if one of them contains a dot. */
  readonly path: string | readonly string[]
  /** A schema of a Standard Schema library, or a JSON Schema. It gives the value its type. */
  readonly schema: S
}

export interface DependsOnOptions<T = JsonObject, S extends SchemaSource = SchemaSource> {
  /**
   * When a dependency is ready: a function, or a CEL expression about `object`.
   *
   * @default its controller has observed its latest generation, and its conditions are good
   */
  readonly ready?: ReadyRule<T>
  /** Continue without it. @default false */
  readonly optional?: boolean
  /**
   * `'oncePerGeneration'`: a dependency that was ready once may become unready until the spec of the referer changes.
   * Needs `status.dependencies`.
   *
   * @default 'continuous'
   */
  readonly gate?: 'continuous' | 'oncePerGeneration'
  /** A value that it must publish. @default none */
  readonly contract?: Contract<S>
  /**
   * References into other namespaces: never, if a ReferenceGrant there allows it, or always.
   *
   * @default 'deny'; 'allow' with `namespace`
   */
  readonly crossNamespace?: 'deny' | 'granted' | 'allow'
  /**
   * The only namespace of the dependencies: references without a namespace lead there, others are Forbidden. The watch
   * and the RBAC rule are limited to it.
   *
   * @default the namespace of the referer, or what `crossNamespace` allows
   */
  readonly namespace?: string
  /** The only names of the dependencies, up to 50. The watch and the RBAC rule are limited to them. @default all */
  readonly names?: readonly string[]
  /** The kind of the grants: `ReferenceGrant`, or `GatewayReferenceGrant`. @default ReferenceGrant of evenkeel.dev */
  readonly grants?: Kind
  /**
   * `'whileInUse'`: a Usage names the referer, and an Evenkeel server refuses to delete the dependency. `'finalizer'`: a
   * finalizer keeps the dependency while it is in use, on any server; needs `status.dependencies`.
   *
   * @default 'none'
   */
  readonly protect?: 'none' | 'whileInUse' | 'finalizer'
  /** Why it is used, for the Usage. @default `the KIND depends on it` */
  readonly reason?: string
  /**
   * Annotate the dependency with its referers: one annotation for each, with this prefix. Needs `status.dependencies`.
   *
   * @default false; true is the prefix `used-by.` and the group of the referer
   */
  readonly annotate?: boolean | string
  /** Continue with the last valid contract when the current one is invalid. Needs a contract and `status.dependencies`. @default false */
  readonly keepLastGood?: boolean
}

/** Why a dependency is not ready. */
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

/** A dependency that is ready. */
export interface ResolvedDependency<T, C, R extends Reference> {
  /** Its current state. With `keepLastGood` it may be gone. */
  readonly object: T
  readonly contract: C
  readonly reference: R
}

/** A dependency, ready or not. */
export interface FoundDependency<T, C, R extends Reference> {
  /** Undefined if it does not exist, or if the reference is not allowed. */
  readonly object: T | undefined
  /** Undefined unless it is valid; with `keepLastGood`, the last valid value. */
  readonly contract: C | undefined
  readonly reference: R
  readonly isReady: boolean
  readonly reason: DependencyReason | undefined
  readonly message: string
}

type RunContext = Pick<BaseContext, 'signal'>

/** The verb: list it in `verbs` of a controller, and use it in `reconcile`. */
export interface DependsOn<
  T = KubeObject,
  C = undefined,
  R extends Reference = Reference,
  O extends boolean = boolean,
> extends Verb {
  /** Whether the object continues without it. */
  readonly optional: O
  /**
   * The dependencies of the object, all ready, in the order of its references. Optional ones that are not ready are
   * omitted. In a cleanup, all that exist.
   *
   * @throws {StopReconcile} if one is not ready: the reconcile ends there, and the status says why.
   */
  resolve(context: RunContext): Promise<readonly ResolvedDependency<T, C, R>[]>
  /** The only dependency; undefined without a reference, or if an optional one is not ready. @throws {StopReconcile} as `resolve`. @throws {RangeError} if there are several. */
  one(context: RunContext): Promise<ResolvedDependency<T, C, R> | undefined>
  /** All dependencies of the object, ready or not. Never ends the reconcile. */
  find(context: RunContext): Promise<readonly FoundDependency<T, C, R>[]>
}

/** The type of the contract; undefined without one. */
type ContractOf<O> = O extends { readonly contract: { readonly schema: infer S } } ? Infer<S, 'stored'> : undefined

/** Whether the options say `optional: true`. */
type IsOptional<O> = O extends { readonly optional: true } ? true : false

/** The object; with `keepLastGood` it may be undefined. */
type ObjectFor<T, O> = O extends { readonly keepLastGood: true } ? T | undefined : T
