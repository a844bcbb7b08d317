/**
 * The controller of Services: an address that exists before the programs behind it, and the endpoints of those that are Ready.
 *
 *   Service ──▶ port ──▶ listen ──▶ endpoints of the proxy ──▶ Endpoint objects ──▶ status
 *      ▲ Processes and Containers that it selects, Endpoints of users, notes of the proxy
 *
 * Invariants: the address is in the status before anything depends on it, and stays the same until a person changes it or
 * another program takes the port; the proxy knows an endpoint only while its workload is Ready; a Service that is gone
 * listens nowhere.
 */
import type { ControllerDeclaration, ReconcileResult } from 'evenkeel'
import { channelSource, generationChanged, watching, type ManagedContext } from 'evenkeel/controller'
import type { ChangeFeed } from '../change-feed.ts'
import { Container, type ContainerObject } from '../containers/container-kind.ts'
import { Process, type ProcessObject } from '../process-kind.ts'
import { endpointFor, endpointsOfUsers, isSelected, targetsOf, type Targets } from './endpoints.ts'
import type { SocketAddress } from './network.ts'
import { requestFor, type PortClaims } from './port-claims.ts'
import type { Proxies, ServiceOwner } from './proxies.ts'
import type { Router } from './router.ts'
import { Endpoint, Service, type EndpointObject, type ServiceObject } from './service-kind.ts'
import { workloadKey, type ShutdownOrder } from '../shutdown-order.ts'
import { reportService, type ServiceFacts } from './service-status.ts'

interface ServiceControllerOptions {
  readonly proxies: Proxies
  readonly claims: PortClaims
  readonly feed: ChangeFeed
  readonly router: Router | undefined
  readonly order: ShutdownOrder | undefined
  /** The program ends: nothing is begun any more. */
  readonly isClosing: () => boolean
}

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Service, ManagedContext>['reconcile']>>[1]

const retryMs = 1000
const concurrency = 16

export class ServiceController {
  readonly #options: ServiceControllerOptions
  /** The Services that were seen, by namespace and name: which of them an event of a workload is about. */
  readonly #seen = new Map<string, ServiceObject>()

  constructor(options: ServiceControllerOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof Service, ManagedContext> {
    const { feed } = this.#options
    return {
      for: Service,
      concurrency,
      owns: [Endpoint],
      watches: [
        watching(Process, { map: ({ metadata }) => this.#servicesOf(metadata) }),
        watching(Container, { map: ({ metadata }) => this.#servicesOf(metadata) }),
        watching(Endpoint, {
          map: ({ metadata, spec }) => [{ name: spec.service, namespace: metadata.namespace ?? 'default' }],
          predicates: [generationChanged as never],
        }),
      ],
      sources: [channelSource({ name: 'connections', events: ({ signal }) => feed.events(signal) })],
      reconcile: (service, context) => this.#reconcile(service, context),
      cleanup: (service, context) => this.#cleanup(service, context),
    }
  }

  /** A Service that was not seen yet is about to be reconciled anyway. */
  #servicesOf({ namespace = 'default', labels = {} }: ProcessObject['metadata']) {
    return [...this.#seen.values()]
      .filter((service) => service.metadata.namespace === namespace && isSelected(service, labels))
      .map(({ metadata: { name } }) => ({ name, namespace }))
  }

  async #reconcile(service: ServiceObject, context: Context): Promise<ReconcileResult | undefined> {
    const { proxies, router, isClosing } = this.#options
    if (isClosing()) return { park: 'the program is stopping' }
    proxies.open()
    const owner = ownerOf(service)
    // Before anything is read: changes that come later are events.
    this.#seen.set(`${owner.namespace}/${owner.name}`, service)
    const targets = await this.#targets(service, context)
    this.#declareOrder(owner, targets)
    const users = await this.#endpointsOfUsers(service, context)
    const routes = [...targets.ready.map(({ at }) => at), ...users]
    const listening = service.spec.proxyless
      ? await this.#followEndpoint(service, routes)
      : await this.#listen(service, context)
    proxies.of(owner).setEndpoints(routes)
    for (const note of proxies.takeNotes(owner.uid)) context.event(note)
    const isRouted = router !== undefined && service.spec.appProtocol === 'http'
    if (isRouted) router.serve(owner, proxies.of(owner))
    else router?.remove(owner)
    const routerFailure = isRouted ? await router.open() : undefined
    const hostUrl = isRouted ? router.urlOf(owner) : undefined
    this.#report({ service, targets, routes, listening, hostUrl, routerFailure }, context)
    await context.children.declare(
      targets.ready.map((target) => [Endpoint, endpointFor(service, target), { prune: true }] as const),
    )
    const waitsForEndpoint = service.spec.proxyless === true
    return ('reason' in listening && !waitsForEndpoint) || routerFailure ? { afterMs: retryMs } : undefined
  }

  async #cleanup(service: ServiceObject, context: Context): Promise<ReconcileResult | undefined> {
    const { proxies, claims, router } = this.#options
    const owner = ownerOf(service)
    proxies.open()
    router?.remove(owner)
    await proxies.unlisten(owner.uid)
    const afterMs = proxies.of(owner).drain((service.spec.drainSeconds ?? 5) * 1000)
    if (afterMs !== undefined) {
      context.status.condition('Ready', false, { reason: 'Draining', message: 'waits for the end of its connections' })
      return { afterMs }
    }
    proxies.forget(owner.uid)
    claims.release(owner.uid)
    this.#seen.delete(`${owner.namespace}/${owner.name}`)
    this.#options.order?.forget(owner.uid)
    return undefined
  }

  /** At the end, who uses the service is stopped before what is behind it. */
  #declareOrder({ uid, namespace, name }: ServiceOwner, { selected }: Targets): void {
    const providers = selected.map(({ kind, name: workload }) => workloadKey(kind, { namespace, name: workload }))
    this.#options.order?.declare({ uid, key: workloadKey('Service', { namespace, name }) }, { providers })
  }

  async #targets(service: ServiceObject, { client }: Context): Promise<Targets> {
    if (!service.spec.selector) return { ready: [], selected: [] }
    const { namespace = 'default' } = service.metadata
    const processes = (await client.list(Process, { namespace })).items as readonly ProcessObject[]
    const containers = (await client.list(Container, { namespace })).items as readonly ContainerObject[]
    return targetsOf(service, [
      ...processes.map((object) => ({ kind: 'Process', object }) as const),
      ...containers.map((object) => ({ kind: 'Container', object }) as const),
    ])
  }

  async #endpointsOfUsers(service: ServiceObject, { client }: Context): Promise<readonly SocketAddress[]> {
    const { items } = await client.list(Endpoint, { namespace: service.metadata.namespace ?? 'default' })
    return endpointsOfUsers(service, items as readonly EndpointObject[])
  }

  /** Without a proxy the address is that of the first endpoint; it is kept while there is none. */
  async #followEndpoint(service: ServiceObject, routes: readonly SocketAddress[]): Promise<ServiceFacts['listening']> {
    const { proxies, claims } = this.#options
    const { uid } = service.metadata
    await proxies.unlisten(uid)
    claims.release(uid)
    const [first] = routes
    if (first) return { at: first }
    return { reason: 'NoEndpoint', message: 'it has no proxy, and no endpoint was ready yet' }
  }

  async #listen(service: ServiceObject, context: Context): Promise<ServiceFacts['listening']> {
    const { proxies, claims } = this.#options
    const owner = ownerOf(service)
    const { address = '127.0.0.1', port = 0 } = service.spec
    // A port that is ours already may be taken by ourselves.
    const current = proxies.addressOf(owner.uid)?.port
    const claimed =
      current !== undefined && claims.isKept(current, port)
        ? { ports: [{ port: current }] }
        : await claims.allocate(owner.uid, [requestFor(port)], context)
    if ('reason' in claimed) return claimed
    const at = { address, port: claimed.ports[0]?.port ?? port }
    const failure = await proxies.listen(owner, at)
    if (failure) return failure.reason === 'PortTaken' ? claims.explain(at.port) : failure
    await this.#tellMove(service, { at, context })
    return { at }
  }

  /** An event when a port that was stored could not be kept. */
  async #tellMove(
    { spec, status }: ServiceObject,
    { at, context }: { readonly at: SocketAddress; readonly context: Context },
  ): Promise<void> {
    const hadProxy = status?.conditions?.some(({ type }) => type === 'Listening') ?? false
    if (!hadProxy || status?.port === undefined || status.port === at.port || spec.port !== 0) return
    const { message } = await this.#options.claims.explain(status.port)
    context.event({ type: 'Warning', reason: 'PortChanged', note: `now on port ${at.port}: ${message}` })
  }

  #report(facts: ServiceFacts, context: Context): void {
    const { service, listening } = facts
    const known = service.status?.conditions?.find(({ type }) => type === 'AddressAllocated')
    if ('reason' in listening && known?.reason !== listening.reason)
      context.event({ type: 'Warning', reason: listening.reason, note: listening.message })
    reportService(context.status, facts)
  }
}

function ownerOf({ metadata: { uid, namespace = 'default', name } }: ServiceObject): ServiceOwner {
  return { uid, namespace, name }
}
