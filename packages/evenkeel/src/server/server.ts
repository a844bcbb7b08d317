/**
 * Builds an API server from its stages, starts and stops it.
 *
 * The order of construction is the order of dependence: storage, registry and informers; authorization and
 * authentication; admission; handlers; the CRD controller; the request handler; the listener. A stage gets its
 * collaborators in its constructor, and nothing is filled in later. With `listen` the server accepts requests from
 * sockets; without, it is a function ({@link Server.transport}), ready in milliseconds. Stopping has an order too: not
 * ready, no new connections, watches end cleanly, running requests finish, everything closes.
 */
import { acceptLightSignals, sleep, SystemClock, type Clock, type Logger } from '#base'
import { loadCbor, type MediaFormat, type Transport } from '#wire'
import { WebhookMetrics } from './admission/webhook-metrics.ts'
import type { Admission } from './admission/write-admission.ts'
import { Aggregation } from './aggregation/aggregation.ts'
import type { PublishedProxies } from './aggregation/request-header-values.ts'
import type { AuditLog, AuditOptions } from './audit/audit-log.ts'
import { makeAuthentication, type Authentication } from './auth/authentication.ts'
import { makeFrontProxyIdentity, type FrontProxyIdentity } from './auth/front-proxy-identity.ts'
import { makeIdentity, type Identity } from './auth/identity.ts'
import { administrator, withAuthenticatedGroup } from './auth/user.ts'
import { makeAuthorizer } from './authz/authorization-modes.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import { RbacAuthorizer } from './authz/rbac.ts'
import { CrdController } from './crd/crd-controller.ts'
import { installKinds } from './crd/install-kinds.ts'
import { Routes } from './extensions/routes.ts'
import { FlowControl } from './flowcontrol/flow-control.ts'
import { withDefaultLimits } from './flowcontrol/limits.ts'
import { RequestHandler, ResourceDispatcher } from './handler.ts'
import type { UpdateHandler } from './handlers/update.ts'
import { ActionHandlers } from './handlers/actions.ts'
import { makeResourceHandlers, type ResourceHandlers } from './handlers/handlers.ts'
import { CompressedRunCache } from './list/compressed-list.ts'
import type { StartWorker } from './large-writes/large-write-thread.ts'
import { LargeWrites, replicaOptions } from './large-writes/large-writes.ts'
import { listen } from './listen/listener.ts'
import { guardOrigin } from './listen/origin-guard.ts'
import { RequestMetrics } from './metrics.ts'
import { makeNonResourceHandler, type HealthCheck } from './non-resource-paths.ts'
import { publishApiServer, withdrawApiServer } from './registry/api-server-objects.ts'
import { bootstrap } from './registry/bootstrap.ts'
import { CoreObjects } from './registry/core-objects.ts'
import { makeAdmission, makeBase, type ServerBase } from './server-parts.ts'
import type { Server, ServerAddress, ServerListenOptions, ServerOptions } from './server-options.ts'
import { startCompaction } from './storage/storage.ts'
import { StoreProbe } from './storage/store-probe.ts'

/** Starts a server. It is ready when this resolves. */
export function startServer(options: ServerOptions = {}): Promise<Server> {
  return startServerWith(options, {})
}

/** What tests replace. */
interface ServerSeams {
  readonly startWorker?: StartWorker
}

/** Starts a server with some of its parts replaced. */
export async function startServerWith(options: ServerOptions, { startWorker }: ServerSeams): Promise<Server> {
  const base = makeBase(options)
  const security = await makeSecurity(options, base)
  const webhookMetrics = new WebhookMetrics()
  const admission = { admission: makeAdmission(options, base, { ...security, webhookMetrics }), webhookMetrics }
  const actionHandlers = new ActionHandlers()
  const { handlers, flowControl } = makeHandlers(options, { ...base, ...security, ...admission, actionHandlers })
  const { conversions = {}, webhooks = {}, compactionMs: intervalMs = 300_000 } = options
  const crds = new CrdController({ ...base, ...handlers, conversions: { conversions, webhooks } })
  const audit = options.audit && (await openAuditLog(options.audit, base))
  const listener = makeListener(options, { ...base, ...security })
  const { aggregation, frontProxy } = makeAggregation(options, { ...base, ...security, ...handlers, flowControl })
  const formats = await formatsOf(options)
  const largeWrites = makeLargeWrites(options, { ...base, ...security, ...admission, formats, startWorker })
  const parts = {
    ...base,
    ...security,
    ...admission,
    handlers,
    flowControl,
    crds,
    aggregation,
    audit,
    listener,
    largeWrites,
  }
  const handler = makeRequestHandler(parts, { ...options, formats })
  const transport = acceptLightSignals(handler.transport([() => administrator]))
  const stop = makeStop(
    { ...parts, ownsStore: options.store === undefined },
    startCompaction(base.store, { ...base, intervalMs }),
  )
  try {
    await startParts({ ...parts, handler, transport, frontProxy }, options)
  } catch (error) {
    // A timer of a server that did not start would keep the process alive.
    await stop()
    throw error
  }
  return {
    transport,
    as(user) {
      const known = withAuthenticatedGroup(user)
      return handler.transport([() => known])
    },
    authorizer: security.authorizer,
    onAction: (kind, action, answerer) => actionHandlers.add(kind, action, answerer),
    tokenForSecret: (secret) => security.authentication.serviceAccounts.tokens.issueForSecret(secret),
    address: listener?.address,
    async compact() {
      await base.store.compact(await base.store.head())
    },
    stop,
  }
}

async function startParts(
  parts: ServerParts & { handler: RequestHandler; transport: Transport } & Pick<ServerAggregation, 'frontProxy'>,
  { bootstrap: bootstraps = true, listen: listenOptions, kinds = [], authentication }: ServerOptions,
): Promise<void> {
  const { handlers, crds, informers, aggregation, listener, handler, transport, frontProxy } = parts
  await crds.start()
  await informers.start()
  if (bootstraps) await bootstrap({ ...parts, ...handlers }, { port: listenOptions?.port ?? 443 })
  await installKinds(transport, kinds, parts)
  aggregation.start()
  await listener?.start(handler)
  if (bootstraps) await publish(parts, () => ({ identity: frontProxy(), others: authentication?.frontProxy }))
}

/** Publishes the address and the authorities of a server that listens. */
async function publish(parts: ServerParts, proxies: () => PublishedProxies): Promise<void> {
  const { listener, authentication } = parts
  if (listener?.address === undefined) return
  const { clientCaPem } = authentication
  await publishApiServer(parts, {
    host: listener.host,
    port: listener.address.port,
    clientCaPem,
    proxies: proxies(),
  })
}

/** The stages that decide who sends a request and what they may do. */
interface ServerSecurity {
  readonly rbac: RbacAuthorizer
  readonly authorizer: AuthorizerChain
  readonly identity: Identity | undefined
  readonly authentication: Authentication
  readonly objects: CoreObjects
}

async function makeSecurity(
  { authorization = 'rbac', authentication: options = {}, webhooks = {}, listen: listenOptions }: ServerOptions,
  base: ServerBase,
): Promise<ServerSecurity> {
  const { connect } = webhooks
  const rbac = new RbacAuthorizer(base.informers)
  const authorizer = makeAuthorizer(authorization, { ...base, rbac: rbac.authorizer, connect })
  const identity = listenOptions && identityOf(listenOptions, base)
  const objects = new CoreObjects(base)
  const accounts = base.informers.forResource('', 'serviceaccounts')
  const authentication = await makeAuthentication(options, { ...base, identity, accounts, objects, connect })
  return { rbac, authorizer, identity, authentication, objects }
}

interface ServerAdmission {
  readonly admission: Admission
  readonly webhookMetrics: WebhookMetrics
}

function makeHandlers(
  { limits = {}, compressedListBytesMax: bytesMax }: ServerOptions,
  parts: ServerBase & ServerSecurity & ServerAdmission & { readonly actionHandlers: ActionHandlers },
): { readonly handlers: ResourceHandlers; readonly flowControl: FlowControl } {
  const flowControl = new FlowControl(limits, parts)
  const compressedRuns = new CompressedRunCache({ ...(bytesMax !== undefined && { bytesMax }) })
  return { handlers: makeResourceHandlers({ ...parts, flowControl, compressedRuns }), flowControl }
}

/** Only for servers with sockets on the clock of the system: a simulation has no threads. */
function makeLargeWrites(
  {
    listen: listenOptions,
    limits = {},
    admission = {},
    webhooks = {},
    conversions,
    serviceClusterIpRanges,
  }: ServerOptions,
  parts: ServerBase &
    ServerSecurity &
    ServerAdmission & {
      readonly formats: readonly MediaFormat[]
      readonly startWorker: StartWorker | undefined
    },
): LargeWrites | undefined {
  const isPlain = conversions === undefined && webhooks.connect === undefined && parts.clock instanceof SystemClock
  if (!listenOptions || !isPlain) return undefined
  return new LargeWrites(parts, {
    webhooks,
    replica: replicaOptions(admission, { ...parts, serviceClusterIpRanges }),
    bytesMax: withDefaultLimits(limits).largeWriteBytes,
    startWorker: parts.startWorker,
  })
}

interface ServerAggregation {
  readonly aggregation: Aggregation
  /** The certificates of this server as a proxy, made on first use. */
  frontProxy(): FrontProxyIdentity
}

function makeAggregation(
  { webhooks = {}, proxyClient }: ServerOptions,
  parts: ServerBase & ServerSecurity & { readonly updates: UpdateHandler; readonly flowControl: FlowControl },
): ServerAggregation {
  let made = parts.identity?.frontProxy
  const frontProxy = (): FrontProxyIdentity => (made ??= makeFrontProxyIdentity(parts))
  const aggregation = new Aggregation({
    ...parts,
    webhooks,
    proxyClient: () => proxyClient ?? frontProxy().client,
  })
  return { aggregation, frontProxy }
}

async function openAuditLog(options: AuditOptions, base: ServerBase): Promise<AuditLog> {
  const { AuditLog } = await import('./audit/audit-log.ts')
  return AuditLog.open(options, base)
}

interface ServerParts extends ServerBase, ServerSecurity, ServerAdmission {
  readonly handlers: ResourceHandlers
  readonly flowControl: FlowControl
  readonly crds: CrdController
  readonly aggregation: Aggregation
  readonly audit: AuditLog | undefined
  readonly listener: ServerListener | undefined
  readonly largeWrites: LargeWrites | undefined
}

/** The formats of requests and responses. */
async function formatsOf({ featureGates = {} }: ServerOptions): Promise<readonly MediaFormat[]> {
  const standard = ['json', 'yaml', 'protobuf'] as const
  if (!featureGates.CBORServingAndStorage) return standard
  await loadCbor()
  return [...standard, 'cbor']
}

function makeRequestHandler(
  parts: ServerParts,
  { formats, routes = [] }: Pick<ServerOptions, 'routes'> & { readonly formats: readonly MediaFormat[] },
): RequestHandler {
  const { registry, aggregation, flowControl, webhookMetrics, largeWrites, audit, listener, authentication } = parts
  const metrics = new RequestMetrics(registry, () => [
    ...flowControl.metrics(),
    ...webhookMetrics.lines(),
    ...(largeWrites?.metrics() ?? []),
    ...(audit?.metrics() ?? []),
  ])
  const nonResources = makeNonResourceHandler({
    registry,
    aggregation,
    metrics,
    authentication,
    routes: new Routes(routes, parts),
    checks: healthChecks(parts),
    address: () => listener?.address?.url.replace(/^https?:\/\//, ''),
  })
  return new RequestHandler({ ...parts, resources: new ResourceDispatcher(parts), nonResources, metrics, formats })
}

function makeStop(parts: ServerParts & { readonly ownsStore: boolean }, stopCompaction: () => void): Server['stop'] {
  const { stop, store, crds, informers, audit, listener, ownsStore } = parts
  return async ({ graceMs = 5000 } = {}) => {
    if (listener?.address && store.isShared) await withdraw(parts, listener.host, listener.address.port)
    const closing = listener?.close(graceMs)
    const reason = new Error('the server is stopping')
    stop.abort(reason)
    stopCompaction()
    crds.stop(reason)
    informers.stop(reason)
    await closing
    await audit?.close()
    if (ownsStore) await store.close()
  }
}

const withdrawMs = 1000

/** A store that cannot be written must not keep a server from stopping. */
async function withdraw(parts: ServerParts, host: string, port: number): Promise<void> {
  try {
    await Promise.race([withdrawApiServer(parts, { host, port }), sleep(parts.clock, withdrawMs)])
  } catch (error) {
    parts.log.warn('cannot remove the address of this server from the Service kubernetes', { error })
  }
}

function identityOf(
  { host = '127.0.0.1', names = [], identity }: ServerListenOptions,
  { clock, random }: ServerBase,
): Identity {
  return identity ?? makeIdentity({ clock, random, names: [...names, host] })
}

interface ListenerServices {
  readonly options: ServerListenOptions
  readonly identity: Identity
  readonly authentication: Authentication
  readonly clock: Clock
  readonly log: Logger
}

/** The sockets of a server. Its address is known once it is started. */
class ServerListener {
  readonly #services: ListenerServices
  #running: { readonly address: ServerAddress; close(graceMs: number): Promise<void> } | undefined

  constructor(services: ListenerServices) {
    this.#services = services
  }

  get host(): string {
    return this.#services.options.host ?? '127.0.0.1'
  }

  get address(): ServerAddress | undefined {
    return this.#running?.address
  }

  async start(handler: RequestHandler): Promise<void> {
    const { options, identity, authentication, clock, log } = this.#services
    const { port = 0, names = [], tls: hasTls = true, limits = {}, http = 'own' } = options
    const { host } = this
    const transport = guardOrigin(handler.transport(authentication.authenticators), { hosts: [...names, host] })
    const { keyPem: key, certificatePem: cert } = identity.server
    const tls = hasTls ? { tls: { key, cert, ca: authentication.authoritiesPem } } : {}
    const listening = await listen(transport, { host, port, limits, http, clock, log, ...tls })
    const caPem = hasTls ? identity.authority.certificatePem : undefined
    this.#running = {
      address: { url: listening.url, port: listening.port, caPem, token: identity.token },
      close: (graceMs) => listening.close({ graceMs }),
    }
  }

  async close(graceMs: number): Promise<void> {
    await this.#running?.close(graceMs)
  }
}

function makeListener(
  { listen: options }: ServerOptions,
  { identity, authentication, clock, log }: ServerBase & ServerSecurity,
): ServerListener | undefined {
  return options && identity && new ServerListener({ options, identity, authentication, clock, log })
}

function healthChecks({ store, clock, stopping }: ServerBase): HealthCheck[] {
  const probe = new StoreProbe(store, clock)
  return [
    { name: 'ping', failure: () => undefined },
    { name: 'store', failure: () => (store.failure()?.state === 'failed' ? store.failure()?.message : undefined) },
    { name: 'storage-readiness', readyOnly: true, failure: () => probe.failure() },
    { name: 'shutdown', readyOnly: true, failure: () => (stopping.aborted ? 'the server is stopping' : undefined) },
  ]
}
