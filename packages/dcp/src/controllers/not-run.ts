/**
 * Kinds whose objects are not run here: their status has the reason at once, so that a host does not wait for them.
 *
 *   ContainerNetworkTunnelProxy   Failed
 */
import type { ControllerDeclaration, Kind, KubeObject } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { formatMicroTime } from 'evenkeel/unstable/api'
import { ContainerNetworkTunnelProxy } from '../kinds/network.ts'
import { textOf, valuesOf, type Values } from '../rules/field-values.ts'
import type { ObjectLog } from './object-log.ts'

const message = 'tunnels are not run by this dcp: containers reach this machine by the name that `dcp info` says'

/** The status of an object that is not run, by kind. */
const statuses: readonly (readonly [kind: Kind, statusAt: (now: string) => Values])[] = [
  [ContainerNetworkTunnelProxy, () => ({ state: 'Failed', message })],
]

export function notRunControllers(objectLog: ObjectLog): readonly ControllerDeclaration<Kind, ManagedContext>[] {
  return statuses.map(([kind, statusAt]) => ({
    for: kind,
    async reconcile(object: KubeObject, { status, clock }) {
      const values = object as object as Values
      // One that is not to be started yet has no state, as with one that is run.
      if (textOf(valuesOf(values, 'status'), 'state') !== '' || valuesOf(values, 'spec')?.['start'] === false) return
      await objectLog.write(object, message)
      status.set(statusAt(formatMicroTime(clock.now())) as never)
    },
  }))
}
