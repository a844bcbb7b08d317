/**
 * All kinds, in the order in which they are cleaned up when an application ends.
 */
import type { Kind } from 'evenkeel'
import { Container, ContainerExec, ContainerVolume } from './container.ts'
import { Executable, ExecutableReplicaSet } from './executable.ts'
import {
  ContainerNetwork,
  ContainerNetworkConnection,
  ContainerNetworkTunnelProxy,
  Endpoint,
  Service,
} from './network.ts'

/** A kind that is cleaned up when the objects of other kinds are gone. */
interface CleanupStep {
  readonly kind: Kind
  readonly after: readonly Kind[]
}

/**
 * What is deleted when. Kinds without an order between them are deleted at the same time; Endpoints are left to the
 * objects that own them.
 */
export const cleanupSteps: readonly CleanupStep[] = [
  { kind: ContainerExec, after: [] },
  { kind: ExecutableReplicaSet, after: [] },
  { kind: Service, after: [] },
  { kind: ContainerNetworkTunnelProxy, after: [] },
  { kind: Container, after: [ContainerExec] },
  { kind: Executable, after: [ExecutableReplicaSet] },
  { kind: ContainerNetworkConnection, after: [Container] },
  { kind: ContainerNetwork, after: [Container, ContainerNetworkConnection, ContainerNetworkTunnelProxy] },
  { kind: ContainerVolume, after: [Container] },
]

export const allKinds: readonly Kind[] = [...cleanupSteps.map(({ kind }) => kind), Endpoint]
