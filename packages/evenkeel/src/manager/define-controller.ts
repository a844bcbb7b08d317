/**
 * `defineController`: a controller as a value, with types that follow from its kind.
 *
 * A declaration is checked here, where its author looks, and not when a manager starts it.
 */
import type { Kind } from '#api'
import { checkDeclaration, type ControllerDeclaration } from '#controller'
import type { ManagedContext } from './manager.ts'

/** The declarations of several controllers, each typed by its kind: what a function that takes `controllers` accepts. */
export type ControllersOf<Kinds extends readonly Kind[]> = {
  readonly [Index in keyof Kinds]: ControllerDeclaration<Kinds[Index], ManagedContext>
}

/**
 * Declares a controller. `reconcile`, `cleanup` and the context know the objects of `for`; no annotation is needed.
 *
 * @example
 * const websites = defineController({
 *   for: Website,
 *   owns: [Deployment],
 *   async reconcile(site, { children, status }) {
 *     const deployment = await children.apply(Deployment, deploymentFor(site))
 *     status.condition('Ready', deployment.status?.readyReplicas === site.spec.replicas)
 *   },
 * })
 * await run({ controllers: [websites] })
 *
 * @throws {RangeError} for a declaration that cannot work: a name that is not allowed, a controller that does nothing.
 */
export function defineController<K extends Kind>(
  declaration: ControllerDeclaration<K, ManagedContext>,
): ControllerDeclaration<K, ManagedContext> {
  checkDeclaration(declaration as ControllerDeclaration)
  return declaration
}
