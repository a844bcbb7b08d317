/**
 * Which endpoints a Service has: one for each Process that it selects and that is Ready, and those that users have written.
 *
 *   Processes ──selector──▶ Ready? ──▶ its port ──▶ Endpoint (a child of the Service)
 *   Endpoints of users with spec.service ──────────▶ as they are
 */
import { createHash } from 'node:crypto'
import { isConditionTrue, isOwnedBy } from 'evenkeel'
import type { ProcessObject } from '../process-kind.ts'
import type { SocketAddress } from './network.ts'
import type { EndpointObject, ServiceObject } from './service-kind.ts'

/** Where a Process listens. */
const processAddress = '127.0.0.1'

/** An endpoint for a Process. */
interface Target {
  readonly process: string
  readonly at: SocketAddress
}

export interface Targets {
  readonly ready: readonly Target[]
  /** The names of the Processes that are selected, ready or not. */
  readonly selected: readonly string[]
  /** A Process that is Ready and does not have the port. */
  readonly problem?: string | undefined
}

export function isSelected(
  { spec }: Pick<ServiceObject, 'spec'>,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const wanted = Object.entries(spec.selector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value)
}

/** The endpoints for the Processes of a Service. */
export function targetsOf(service: ServiceObject, processes: readonly ProcessObject[]): Targets {
  const selected = processes
    .filter(({ metadata }) => metadata.namespace === service.metadata.namespace && isSelected(service, metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const found = selected.filter(isReady).map((process) => ({ process, port: portOf(service, process) }))
  const withoutPort = found.find(({ port }) => port === undefined)?.process
  return {
    ready: found.flatMap(({ process, port }) =>
      port === undefined ? [] : [{ process: process.metadata.name, at: { address: processAddress, port } }],
    ),
    selected: selected.map(({ metadata }) => metadata.name),
    problem: withoutPort && describeMissingPort(service, withoutPort),
  }
}

/** Where the Endpoints of users lead. */
export function endpointsOfUsers(
  service: ServiceObject,
  endpoints: readonly EndpointObject[],
): readonly SocketAddress[] {
  return endpoints
    .filter(
      (endpoint) =>
        endpoint.metadata.namespace === service.metadata.namespace &&
        endpoint.spec.service === service.metadata.name &&
        endpoint.metadata.deletionTimestamp === undefined &&
        !isOwnedBy(endpoint, service),
    )
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ spec: { address = processAddress, port } }) => ({ address, port }))
}

/** The Endpoint of a Process. Its name has a digest, because two names joined by a dash may be those of others. */
export function endpointFor({ metadata: { name } }: ServiceObject, { process, at }: Target) {
  const digest = createHash('sha256').update(`${name}/${process}`).digest('hex').slice(0, 6)
  return {
    metadata: { name: `${`${name}-${process}`.slice(0, 240).replace(/[-.]+$/, '')}-${digest}` },
    spec: { service: name, ...at, targetRef: { kind: 'Process', name: process } },
  }
}

function isReady({ metadata, status, spec }: ProcessObject): boolean {
  return (
    metadata.deletionTimestamp === undefined && spec.running !== false && isConditionTrue(status?.conditions, 'Ready')
  )
}

function portOf({ spec: { targetPort } }: ServiceObject, { status }: ProcessObject): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const ports = status?.run?.ports ?? []
  return (targetPort === undefined ? ports[0] : ports.find(({ name }) => name === targetPort))?.port
}

function describeMissingPort({ spec: { targetPort } }: ServiceObject, { metadata, status }: ProcessObject): string {
  const names = (status?.run?.ports ?? []).map(({ name }) => name)
  const wanted = targetPort === undefined ? 'no port' : `no port ${JSON.stringify(targetPort)}`
  return `Process ${metadata.name} has ${wanted} (${names.length > 0 ? `it has ${names.join(', ')}` : 'its spec.ports is empty'}): correct spec.targetPort, or add the port to the Process`
}
