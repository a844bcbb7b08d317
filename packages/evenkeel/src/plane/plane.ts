/**
 * A control plane: an API server and the standard controllers.
 *
 * The server is ready when `startPlane` resolves; the controllers start afterwards. Their work is asynchronous, as on
 * any cluster: a client that waits for it uses a watch, and tests wait for {@link PlaneControllers.idle}. Stopping has
 * an order: first the controllers, then the server. Modules are loaded when they are needed.
 */
import type { AbortOptions } from '#base'
import type { LeaseTimes } from '#manager'
import type { Server, ServerOptions } from '#server'
import type { PlaneControllerName } from './plane-controllers.ts'

export interface PlaneOptions extends ServerOptions {
  /**
   * The controllers to run; those that are not named run as well.
   *
   * @default all
   */
  readonly controllers?: false | Partial<Readonly<Record<PlaneControllerName, boolean>>>
  /**
   * The delay before the controllers start, for a program that has to use the server first.
   *
   * @default 0
   */
  readonly controllersDelayMs?: number
  /**
   * Controllers work only while this plane holds a Lease in `kube-system`: of several planes on one store, one is
   * active. The durations of the lease, or whether there is one at all.
   *
   * @default true when other planes can open the same store, as with etcd
   */
  readonly leaderElection?: boolean | LeaseTimes
}

interface PlaneControllers {
  /**
   * Resolves when the controllers have handled all events and have no work now. Delayed work, and the work of another
   * leader, is not waited for.
   */
  idle(options?: AbortOptions): Promise<void>
}

export interface Plane extends Server {
  readonly controllers: PlaneControllers
}

/**
 * Starts a server and then the controllers. The server is ready when this resolves.
 *
 * @throws {RangeError} for an unknown controller, and for invalid durations of a lease.
 */
export async function startPlane(options: PlaneOptions = {}): Promise<Plane> {
  const parts = await import('./start-plane.ts')
  return parts.startServerWithControllers(options)
}
