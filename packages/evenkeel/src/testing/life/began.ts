/**
 * What a process had been shown when a run began: what arrives later the run cannot know, unless it looks.
 *
 * Following a run through everything it waits for costs as much as the run. So a run that is alone in its process is
 * remembered by the process, and only runs beside it are followed. What is asked for outside of runs while one is alone
 * counts as its own: then too little is held against the program, never too much.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { BaseContext, ControllerDeclaration } from '#controller'
import { noteReconcile } from '../escapes/blocked.ts'
import type { ObservedState } from './sight.ts'

/** For runs beside others: how much had arrived when they began. */
const concurrentRuns = new AsyncLocalStorage<number>()

/** How much a process had been shown when the current run began; undefined outside of runs. */
export function arrivalsAtRunStart({ runStartArrivals: alone }: ObservedState): number | undefined {
  return concurrentRuns.getStore() ?? alone
}

/** No run is followed any more, and nothing is paid for it. */
export function stopTrackingRuns(): void {
  concurrentRuns.disable()
}

/** The same controller, whose runs remember when they began. */
export function trackRuns(declaration: ControllerDeclaration, observed: ObservedState): ControllerDeclaration {
  const dated =
    <P extends unknown[], R>(run: (...parameters: P) => R, self: object) =>
    (...parameters: P): R => {
      const begin = (): R => run.apply(self, parameters)
      const { namespace = '', name } = (parameters[1] as Pick<BaseContext, 'key'>).key
      noteReconcile(declaration.name ?? declaration.for.kind.toLowerCase(), `${namespace}/${name}`)
      return observed.runStartArrivals === undefined
        ? runAlone(begin, observed)
        : concurrentRuns.run(observed.arrivals, begin)
    }
  const { reconcile, reconcileKey, cleanup } = declaration
  const runs = {
    ...(reconcile && { reconcile: dated(reconcile, declaration) }),
    ...(reconcileKey && { reconcileKey: dated(reconcileKey, declaration) }),
    ...(typeof cleanup === 'function' && { cleanup: dated(cleanup, declaration) }),
    ...(Array.isArray(cleanup) && {
      cleanup: cleanup.map((step) => ({ ...step, cleanup: dated(step.cleanup, step) })),
    }),
  }
  return Object.assign(
    Object.create(Object.getPrototypeOf(declaration) as object) as ControllerDeclaration,
    declaration,
    runs,
  )
}

function runAlone<R>(begin: () => R, observed: ObservedState): R {
  const end = (): void => {
    observed.runStartArrivals = undefined
  }
  observed.runStartArrivals = observed.arrivals
  let result: unknown
  try {
    return (result = begin())
  } finally {
    if (result instanceof Promise) result.then(end, end)
    else end()
  }
}
