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
import type { Kind, KubeObject, SchemaSource, Stored, UnstructuredObject } from '#api'
import type { ReadOf } from '#client'
import { DependencyVerb } from './dependency-verb.ts'
import type { ContractOf, DependsOn, DependsOnOptions, ObjectFor } from './options.ts'
import type { GroupKind, KindChoice, Reference } from './reference.ts'

type Refs<T, R> = (object: T) => R | readonly R[] | undefined

/** What references may be: objects, or plain names. */
type ReferenceOf<R> = R extends string ? Reference : R extends Reference ? R : never

/**
 * Declares that objects depend on others.
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
