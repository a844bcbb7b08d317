/**
 * The controllers of the plane for those who run them elsewhere: on another cluster, or in a simulated world.
 *
 * Loaded when asked for, as the plane itself does: a server is ready before its controllers.
 */
import type { garbageCollector } from '../garbage/garbage-collector.ts'
import type { namespaceController } from '../namespaces/namespace-controller.ts'

export interface LoadedControllers {
  readonly garbageCollector: typeof garbageCollector
  readonly namespaceController: typeof namespaceController
}

export async function loadPlaneControllers(): Promise<LoadedControllers> {
  const [garbage, namespaces] = await Promise.all([
    import('../garbage/garbage-collector.ts'),
    import('../namespaces/namespace-controller.ts'),
  ])
  return { garbageCollector: garbage.garbageCollector, namespaceController: namespaces.namespaceController }
}
