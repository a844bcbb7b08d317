/**
 * Which endpoints a Service has: one for each Process and Container that it selects and that is Ready, and those that users have
 * written.
 *
 *   Processes ───┬─selector──▶ Ready? ──▶ its port, of a Container the published one ──▶ Endpoint (a child of the Service)
 *   Containers ──┘
 *   Endpoints of users with spec.service ──────────▶ as they are
 */
import { createHash } from 'node:crypto'
import { isConditionTrue, isOwnedBy } from 'evenkeel'
import type { ContainerObject } from '../containers/container-kind.ts'
import type { ProcessObject } from '../process-kind.ts'
import type { SocketAddress } from './network.ts'
import type { EndpointObject, ServiceObject } from './service-kind.ts'

/** Where a Process listens. */
const processAddress = '127.0.0.1'

/** What a Service can have behind it. */
type Backend =
  | { readonly kind: 'Process'; readonly object: ProcessObject }
  | { readonly kind: 'Container'; readonly object: ContainerObject }

/** A workload by kind and name. */
type BackendName = Pick<Backend, 'kind'> & { readonly name: string }

/** An endpoint for a workload. */
interface Target extends BackendName {
  readonly at: SocketAddress
}

export interface Targets {
  readonly ready: readonly Target[]
  /** Those that are selected, ready or not. */
  readonly selected: readonly BackendName[]
  /** One that is Ready and does not have the port. */
  readonly problem?: string | undefined
}

export function isSelected(
  { spec }: Pick<ServiceObject, 'spec'>,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const wanted = Object.entries(spec.selector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value)
}

/** The endpoints for the Processes and Containers of a Service. */
export function targetsOf(service: ServiceObject, backends: readonly Backend[]): Targets {
  const selected = backends
    .filter(({ object: { metadata } }) => metadata.namespace === service.metadata.namespace)
    .filter(({ object: { metadata } }) => isSelected(service, metadata.labels))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const found = selected.filter(isReady).map((backend) => ({ backend, at: addressOf(service, backend) }))
  const withoutPort = found.find(({ at }) => at === undefined)?.backend
  return {
    ready: found.flatMap(({ backend, at }) => (at === undefined ? [] : [{ ...nameOf(backend), at }])),
    selected: selected.map(nameOf),
    problem: withoutPort && describeMissingPort(service, withoutPort),
  }
}

function nameOf({ kind, object }: Backend): BackendName {
  return { kind, name: object.metadata.name }
}

function keyOf(backend: Backend): string {
  const { kind, name } = nameOf(backend)
  return `${name} ${kind}`
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

/** The Endpoint of a workload. Its name has a digest, because two names joined by a dash may be those of others. */
export function endpointFor({ metadata: { name } }: ServiceObject, { kind, name: target, at }: Target) {
  const identity = kind === 'Process' ? `${name}/${target}` : `${name}/${kind}/${target}`
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 6)
  return {
    metadata: { name: `${`${name}-${target}`.slice(0, 240).replace(/[-.]+$/, '')}-${digest}` },
    spec: { service: name, ...at, targetRef: { kind, name: target } },
  }
}

function isReady({ object: { metadata, status, spec } }: Backend): boolean {
  return (
    metadata.deletionTimestamp === undefined && spec.running !== false && isConditionTrue(status?.conditions, 'Ready')
  )
}

function addressOf(service: ServiceObject, backend: Backend): SocketAddress | undefined {
  if (backend.kind === 'Container') return publishedAddress(service, backend.object)
  const port = portOfProcess(service, backend.object)
  return port === undefined ? undefined : { address: processAddress, port }
}

function portOfProcess({ spec: { targetPort } }: ServiceObject, { status }: ProcessObject): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const ports = status?.run?.ports ?? []
  return (targetPort === undefined ? ports[0] : ports.find(({ name }) => name === targetPort))?.port
}

/** Where a port that listens on all addresses of this machine is reached. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Of a port that the container publishes: a number is that of the port in the container. */
function publishedAddress(
  { spec: { targetPort } }: ServiceObject,
  { spec, status }: ContainerObject,
): SocketAddress | undefined {
  const own = (spec.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  const wanted = own.find(
    ({ name, containerPort }) => targetPort === undefined || targetPort === name || targetPort === containerPort,
  )
  const port = status?.run?.ports?.find(({ name }) => name === wanted?.name)?.port
  const { hostIP = processAddress } = wanted ?? {}
  return port === undefined ? undefined : { address: reachable[hostIP] ?? hostIP, port }
}

function describeMissingPort({ spec: { targetPort } }: ServiceObject, { kind, object }: Backend): string {
  const names = (object.status?.run?.ports ?? []).map(({ name }) => name)
  const wanted = targetPort === undefined ? 'no port' : `no port ${JSON.stringify(targetPort)}`
  return `${kind} ${object.metadata.name} has ${wanted} (${names.length > 0 ? `it has ${names.join(', ')}` : 'its spec.ports is empty'}): correct spec.targetPort, or add the port to the ${kind}`
}
