/**
 * What a process had been shown when a run began: what arrives later the run cannot know, unless it looks.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ControllerDeclaration } from '#controller'
import type { Sight } from './sight.ts'

const began = new AsyncLocalStorage<number>()

/** How much had arrived when the current run began; undefined outside of runs. */
export function arrivedBefore(): number | undefined {
  return began.getStore()
}

/** The same controller, whose runs remember when they began. */
export function remembering(declaration: ControllerDeclaration, sight: Sight): ControllerDeclaration {
  const dated = <P extends unknown[], R>(run: (...parameters: P) => R, self: object) => (...parameters: P): R => began.run(sight.arrivals, () => run.apply(self, parameters))
  const { reconcile, reconcileKey, cleanup } = declaration
  const runs = {
    ...reconcile && { reconcile: dated(reconcile, declaration) }, ...reconcileKey && { reconcileKey: dated(reconcileKey, declaration) },
    ...typeof cleanup === 'function' && { cleanup: dated(cleanup, declaration) },
    ...Array.isArray(cleanup) && { cleanup: cleanup.map((step) => ({ ...step, cleanup: dated(step.cleanup, step) })) },
  }
  return Object.assign(Object.create(Object.getPrototypeOf(declaration) as object) as ControllerDeclaration, declaration, runs)
}
