/**
 * The controller of Services: an address at once, before there is a program behind it, and Ready with the first Endpoint.
 *
 *   Service ──▶ port ──▶ listens ──▶ effectiveAddress, effectivePort     stay the same as long as the Service is there
 *      ▲ Endpoints that name it ──▶ where its connections go ──▶ Ready, NotReady
 *   Proxyless: nothing listens; the address is that of the first Endpoint, as long as that one is there
 *
 * Invariants: a Service that is gone listens nowhere; a port that is taken is tried again, and said once in the log.
 */
import type { ChangeFeed, Runner } from '@evenkeel/workloads'
import type { ControllerDeclaration, ObjectOf, ReconcileResult, Stored } from 'evenkeel'
import { watching, type ManagedContext } from 'evenkeel/controller'
import { Endpoint, Service } from '../kinds/network.ts'
import { clusterScoped } from './cluster-scoped.ts'
import type { ObjectLog } from './object-log.ts'
import type { PortBook } from './port-book.ts'
import { addressesOf } from './service-addresses.ts'
import { serviceName, socketAddress } from './service-producers.ts'

interface ServiceControllerOptions {
  readonly runner: Runner
  readonly ports: PortBook
  readonly feed: ChangeFeed
  readonly objectLog: ObjectLog
}

type ServiceObject = Stored<ObjectOf<typeof Service>>
type EndpointObject = Stored<ObjectOf<typeof Endpoint>>
type Context = Parameters<NonNullable<ControllerDeclaration<typeof Service, ManagedContext>['reconcile']>>[1]
type Owner = Parameters<Runner['proxies']['listen']>[0]

const [retryMs, concurrency] = [1000, 16]

export class ServiceController {
  readonly #options: ServiceControllerOptions
  /** By uid: the problem that was said last. */
  readonly #problems = new Map<string, string>()

  constructor(options: ServiceControllerOptions) {
    this.#options = options
  }

  declaration(): ControllerDeclaration<typeof Service, ManagedContext> {
    return {
      for: Service,
      concurrency,
      watches: [watching(Endpoint, { map: ({ spec }) => [{ name: serviceName(spec?.serviceName ?? '') }] })],
      sources: [clusterScoped('connections', this.#options.feed)],
      reconcile: (service, context) => this.#reconcile(service, context),
      cleanup: (service) => this.#cleanup(service),
    }
  }

  async #reconcile(service: ServiceObject, context: Context): Promise<ReconcileResult | undefined> {
    const { runner } = this.#options
    if (runner.session.isClosing) return { park: 'dcp is stopping' }
    await runner.session.open()
    runner.proxies.open()
    const endpoints = await endpointsOf(service, context)
    if (service.spec?.addressAllocationMode === 'Proxyless') {
      reportProxyless(service, endpoints, context)
      return undefined
    }
    if (service.spec?.protocol?.toUpperCase() === 'UDP')
      return this.#explain(service, 'UDP has no proxy here: use addressAllocationMode Proxyless', context)
    const { listen, effective } = addressesOf(service.spec?.address ?? '', service.spec?.addressAllocationMode ?? '')
    const routes = endpoints.map(({ spec }) => socketAddress(spec?.address ?? '', spec?.port ?? 0))
    const port = await this.#listen(service, listen, context)
    for (const owner of ownersOf(service)) runner.proxies.of(owner).setEndpoints(routes)
    if (typeof port === 'string') {
      await this.#explain(service, port, context)
      return { afterMs: retryMs }
    }
    this.#problems.delete(service.metadata.uid)
    context.status.set({
      state: routes.length > 0 ? 'Ready' : 'NotReady',
      effectiveAddress: effective,
      effectivePort: port,
      proxyProcessPid: process.pid,
    })
    return undefined
  }

  /** Listens; returns the port, or why it cannot be done. */
  async #listen(
    service: ServiceObject,
    [first, second]: readonly [first: string, second?: string],
    { client }: Context,
  ): Promise<number | string> {
    const { runner, ports } = this.#options
    const { uid } = service.metadata
    const [owner, other] = ownersOf(service)
    const current = runner.proxies.addressOf(uid)?.port
    const wanted = service.spec?.port ?? 0
    // A port that is ours already is taken, by ourselves.
    const port = wanted || current || (await ports.chooseForService(uid, client))
    const failure = await runner.proxies.listen(owner, { address: first, port })
    if (failure) return failure.message
    if (second !== undefined) await runner.proxies.listen(other, { address: second, port })
    return port
  }

  async #explain(service: ServiceObject, problem: string, { status }: Context): Promise<undefined> {
    const { uid } = service.metadata
    if (this.#problems.get(uid) !== problem)
      await this.#options.objectLog.write(service, `it has no address: ${problem}`)
    this.#problems.set(uid, problem)
    status.set({ state: 'NotReady', effectiveAddress: undefined, effectivePort: undefined, proxyProcessPid: undefined })
  }

  async #cleanup(service: ServiceObject): Promise<undefined> {
    const { runner, ports } = this.#options
    runner.proxies.open()
    for (const { uid } of ownersOf(service)) {
      await runner.proxies.unlisten(uid)
      runner.proxies.forget(uid)
    }
    ports.release(service.metadata.uid)
    this.#problems.delete(service.metadata.uid)
  }
}

/** A proxy listens on one address; a Service for `localhost` has two. */
function ownersOf({ metadata: { uid, name } }: ServiceObject): readonly [Owner, Owner] {
  return [
    { uid, namespace: 'services', name },
    { uid: `${uid}/second`, namespace: 'services', name },
  ]
}

async function endpointsOf({ metadata }: ServiceObject, { client }: Context): Promise<readonly EndpointObject[]> {
  const { items } = await client.list(Endpoint)
  return (items as readonly EndpointObject[])
    .filter(
      (endpoint) =>
        serviceName(endpoint.spec?.serviceName ?? '') === metadata.name &&
        endpoint.metadata.deletionTimestamp === undefined,
    )
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** The Endpoint that was chosen stays chosen as long as it is there. */
function reportProxyless({ status }: ServiceObject, endpoints: readonly EndpointObject[], context: Context): void {
  const chosen = endpoints.find(({ metadata }) => metadata.name === status?.proxylessEndpointName) ?? endpoints[0]
  context.status.set({
    state: chosen ? 'Ready' : 'NotReady',
    proxylessEndpointNamespace: undefined,
    proxylessEndpointName: chosen?.metadata.name,
    effectiveAddress: chosen?.spec?.address ?? undefined,
    effectivePort: chosen?.spec?.port ?? undefined,
  })
}
