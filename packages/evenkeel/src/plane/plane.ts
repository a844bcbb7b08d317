/**
 * A whole control plane: an API server, and the controllers without which it would be a database.
 *
 * The server is ready when `startPlane` resolves; the controllers follow. What they do comes a little later than what the
 * server does itself, as on any cluster: whoever waits for it watches, and tests wait for {@link PlaneControllers.idle}.
 * Stopping goes in order: controllers end, then the server does. What is needed is loaded when it is called for.
 */
import type { AbortOptions } from '#base'
import type { LeaseTimes } from '#manager'
import type { Server, ServerOptions } from '#server'
import type { PlaneControllerName } from './plane-controllers.ts'

export interface PlaneOptions extends ServerOptions {
  /**
   * Which controllers run; those that are not named do.
   *
   * @default all
   */
  readonly controllers?: false | Partial<Readonly<Record<PlaneControllerName, boolean>>>
  /**
   * How long the server is left alone before they start: for a program that has something to say first.
   *
   * @default 0
   */
  readonly controllersDelayMs?: number
  /**
   * Controllers work only while this plane holds a Lease in `kube-system`: of several planes on one store those of one. The times of the lease, or whether
   * there is one at all.
   *
   * @default true when others can have the store open as well, as they can with etcd
   */
  readonly leaderElection?: boolean | LeaseTimes
}

interface PlaneControllers {
  /** Resolves when they have heard of everything and have nothing to do now; what waits for a time, or for another plane that leads, is left to it. */
  idle(options?: AbortOptions): Promise<void>
}

export interface Plane extends Server {
  readonly controllers: PlaneControllers
}

/**
 * Starts a server and, after it, the controllers. The server is ready when this resolves.
 *
 * @throws {RangeError} for a controller that there is not, and for times of a lease that make no sense.
 */
export async function startPlane(options: PlaneOptions = {}): Promise<Plane> {
  const parts = await import('./start-plane.ts')
  return parts.startServerWithControllers(options)
}
