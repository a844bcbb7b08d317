/**
 * The status of a Service: where to connect to, and whether an endpoint answers.
 *
 *   condition         True                                   False
 *   AddressAllocated  address, port and url are set          PortTaken, PortForbidden, AddressNotAvailable, NoEndpoint
 *   Listening         connections are accepted               the same; absent with `proxyless`
 *   Routed            the router serves its host name        why the router cannot listen; absent unless it is asked for
 *   Ready             it has an endpoint and an address      NoEndpoints, PortNotFound, NotSelected, or as above
 *
 * An address stays in the status when it cannot be used for a while: what depends on it is not restarted.
 */
import type { ReconcileContext } from 'evenkeel'
import type { LaunchFailure } from '../process-host.ts'
import type { Targets } from './endpoints.ts'
import { formatAddress, type ListenFailure, type SocketAddress } from './network.ts'
import type { Service, ServiceObject } from './service-kind.ts'

type Writer = ReconcileContext<typeof Service>['status']

export interface ServiceFacts {
  readonly service: ServiceObject
  readonly targets: Targets
  /** All endpoints. */
  readonly routes: readonly SocketAddress[]
  /** The address, or why there is none. */
  readonly listening: { readonly at: SocketAddress } | LaunchFailure
  /** Of a Service at the router. */
  readonly hostUrl?: string | undefined
  readonly routerFailure?: ListenFailure | undefined
}

/** What a client of this machine connects to. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export function reportService(status: Writer, facts: ServiceFacts): void {
  const { service, listening, routes, hostUrl, routerFailure } = facts
  const { appProtocol = 'tcp', proxyless = false } = service.spec
  status.set({ endpoints: routes.length, hostUrl })
  if ('at' in listening) {
    const { port } = listening.at
    const address = reachable[listening.at.address] ?? listening.at.address
    status.set({ address, port, url: `${appProtocol}://${formatAddress({ address, port })}` })
    status.condition('AddressAllocated', true, { reason: 'Allocated' })
    if (!proxyless) status.condition('Listening', true, { reason: 'Listening' })
  } else {
    const isKept = proxyless && service.status?.url !== undefined
    if (!isKept) status.condition('AddressAllocated', false, listening)
    if (!proxyless) status.condition('Listening', false, listening)
  }
  if (proxyless) status.removeCondition('Listening')
  if (hostUrl === undefined) status.removeCondition('Routed')
  else status.condition('Routed', !routerFailure, routerFailure ?? { reason: 'Routed' })
  const problem = problemOf(facts)
  status.condition('Ready', !problem, problem ?? { reason: 'EndpointsReady' })
}

function problemOf({ service, listening, routes, targets }: ServiceFacts): LaunchFailure | undefined {
  const { selector } = service.spec
  if (!('at' in listening) && service.spec.proxyless !== true) return listening
  if (routes.length > 0) return undefined
  if (targets.problem !== undefined) return { reason: 'PortNotFound', message: targets.problem }
  if (targets.selected.length > 0)
    return { reason: 'NoEndpoints', message: `none of ${targets.selected.length} selected workloads is ready` }
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`)
  return {
    reason: 'NoEndpoints',
    message:
      labels.length > 0
        ? `no Process and no Container has the labels ${labels.join(', ')}, and no Endpoint names this Service`
        : 'it has no selector, and no Endpoint names this Service',
  }
}
