/**
 * The API server as something to start and stop.
 *
 * `startServer` opens nothing but what it is given: a store, a clock, chance. With `listen` it also takes requests
 * from sockets; without, it is a function ({@link Server.transport}) and nothing else, ready in milliseconds.
 * Stopping goes in order: not ready, no new connections, watches end cleanly, requests under way finish, then rest.
 */
import { defaultCluster, type Kind } from '#api'
import { silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import { columnsFor, makeCatalog, strategyFor, type Resource } from '#builtins'
import { openMemoryStore, type Store } from '#store'
import { acceptingLightSignals, type Transport } from '#wire'
import type { AdmissionHook } from './admission/admission-hooks.ts'
import { chainAdmission } from './admission/admission.ts'
import { admissionPlugins } from './admission/plugins.ts'
import { WebhookMetrics } from './admission/webhook-metrics.ts'
import { Admission } from './admission/write-admission.ts'
import type { AuditLog, AuditOptions } from './audit/audit-log.ts'
import type { AuthenticationOptions } from './auth/authentication-options.ts'
import { makeAuthentication, type Authentication } from './auth/authentication.ts'
import { makeIdentity, type Identity } from './auth/identity.ts'
import type { SecretClaims } from './auth/service-account-claims.ts'
import { administrator, withAuthenticatedGroup } from './auth/user.ts'
import { makeAuthorizer, type AuthorizationOption, type AuthorizerChain } from './authz/authorizer.ts'
import { RbacAuthorizer } from './authz/rbac.ts'
import type { ConvertObject } from './crd/conversion.ts'
import { CrdController } from './crd/crd-controller.ts'
import { installKinds } from './crd/install-kinds.ts'
import { FlowControl } from './flowcontrol/flow-control.ts'
import type { LimitOptions } from './flowcontrol/limits.ts'
import { RequestHandler, ResourceDispatcher } from './handler.ts'
import { ActionHandlers, type ActionHandler } from './handlers/actions.ts'
import { makeResourceHandlers, type ResourceHandlers } from './handlers/handlers.ts'
import { Informers } from './informers.ts'
import { CompressedRunCache } from './list/compressed-list.ts'
import { listen, type ListenOptions } from './listen/listener.ts'
import { guardOrigin } from './listen/origin-guard.ts'
import { RequestMetrics } from './metrics.ts'
import { makeNonResourceHandler, type HealthCheck } from './non-resource-paths.ts'
import { bootstrap } from './registry/bootstrap.ts'
import { CoreObjects } from './registry/core-objects.ts'
import { Registry } from './registry/registry.ts'
import type { User } from './request-context.ts'
import { startCompaction, Storage } from './storage/storage.ts'
import type { WebhookOptions } from './webhooks/client.ts'

export interface ServerOptions {
  /**
   * Where objects are kept. A store that is given is not closed by the server.
   *
   * @default a new memory store
   */
  store?: Store
  /**
   * Take requests from sockets as well: on this address, with this identity.
   *
   * @default no sockets
   */
  listen?: ServerListenOptions
  /** @default the system's */
  clock?: Clock
  /** @default the system's */
  random?: Random
  /** @default silent */
  log?: Logger
  /**
   * How often old history is forgotten; it is kept for one to two times as long.
   *
   * @default 300_000
   */
  compactionMs?: number
  /**
   * How many bytes of compressed lists are remembered, for clients that read gzip; 0 for none.
   *
   * @default 33_554_432
   */
  compressedListBytesMax?: number
  /**
   * Kinds to serve: their definitions are there when the server is ready.
   *
   * @default none
   */
  kinds?: readonly Kind[]
  /**
   * Functions that turn objects of custom kinds from one version into another, by the name of the definition
   * (`widgets.example.com`); they take the place of what the definition says.
   *
   * @default what definitions say
   */
  conversions?: Readonly<Record<string, ConvertObject>>
  /**
   * How webhooks are reached.
   *
   * @default over the network, by URL only
   */
  webhooks?: WebhookOptions
  /**
   * How callers over sockets are known: certificates, tokens, service accounts, OpenID Connect, proxies.
   *
   * @default the administrator's token, client certificates of the server's own authority, tokens of service accounts
   */
  authentication?: AuthenticationOptions
  /**
   * Who decides what callers may do. Members of `system:masters`, and whoever holds {@link Server.transport}, may always
   * do everything.
   *
   * @default 'rbac'
   */
  authorization?: AuthorizationOption
  /**
   * What may change or refuse writes beside what the objects of the cluster configure.
   *
   * @default nothing
   */
  admission?: AdmissionOptions
  /**
   * How much callers may have under way at once, and how long it may take.
   *
   * @default as upstream, fair by user
   */
  limits?: LimitOptions
  /**
   * Make what must be there before anybody asks: namespaces, and the roles that permissions begin with. Without, it has
   * to be in the store already.
   *
   * @default true
   */
  bootstrap?: boolean
  /**
   * Write down who did what.
   *
   * @default nothing is written down
   */
  audit?: AuditOptions
}

export interface AdmissionOptions {
  /**
   * Functions of this process, asked in order, before policies and webhooks.
   *
   * @default none
   */
  hooks?: readonly AdmissionHook[]
  /**
   * Who changes the owners of an object must be allowed to delete it, and who makes an owner wait for it must be allowed
   * to set finalizers on the owner.
   *
   * @default false
   */
  ownerReferences?: boolean
}

export interface ServerListenOptions extends Pick<ListenOptions, 'host' | 'port' | 'limits'> {
  /**
   * Certificates and token; see `ensureIdentity` for one that lasts.
   *
   * @default one that lives as long as the server
   */
  identity?: Identity
  /**
   * More names under which the server is called; its certificate must have them too.
   *
   * @default none
   */
  names?: readonly string[]
  /**
   * Plain HTTP. Tokens then travel in the clear: for loopback and for tests.
   *
   * @default true
   */
  tls?: boolean
}

export interface Server {
  /** The server as a function, for callers in this process: whoever holds it is an administrator. */
  readonly transport: Transport
  /** The same for callers in this process who are somebody else: they may do what that user may. */
  as(user: User): Transport
  /** Who may do what: the door that every call goes through, for callers in this process who want to know before. */
  readonly authorizer: AuthorizerChain
  /** The token that belongs into a Secret of type `kubernetes.io/service-account-token`, for whoever fills these. It has no end. */
  tokenForSecret(secret: SecretClaims): string
  /** How to reach it from outside; undefined when it does not listen. */
  readonly address: ServerAddress | undefined
  /** Forgets all history up to now: who asks for older versions is told to list again. */
  compact(): Promise<void>
  /** Answers an action of the form `call`, until the function that this gives is called. */
  onAction(kind: Pick<Resource, 'group' | 'kind'>, action: string, answerer: ActionHandler): () => void
  /**
   * Not ready, no new requests, watches end cleanly, requests under way may finish within `graceMs` (default 5000);
   * then everything is closed, also the store if it was made here.
   */
  stop(options?: { graceMs?: number }): Promise<void>
}

export interface ServerAddress {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  readonly port: number
  /** The authority to trust; undefined without TLS. */
  readonly caPem: string | undefined
  /** The administrator's bearer token. */
  readonly token: string
}

/** Starts a server. It is ready when this resolves. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const base = makeBase(options)
  const security = await makeSecurity(options, base)
  const admission = makeAdmission(options, base, security)
  const actionHandlers = new ActionHandlers()
  const { handlers, flowControl } = makeHandlers(options, { ...base, ...security, ...admission, actionHandlers })
  const { conversions = {}, webhooks = {}, compactionMs: intervalMs = 300_000 } = options
  const crds = new CrdController({ ...base, ...handlers, conversions: { conversions, webhooks } })
  const audit = options.audit && (await openAuditLog(options.audit, base))
  const listener = makeListener(options, { ...base, ...security })
  const parts = { ...base, ...security, ...admission, handlers, flowControl, crds, audit, listener }
  const handler = makeRequestHandler(parts)
  const transport = acceptingLightSignals(handler.transport([() => administrator]))
  const stop = makeStop(
    { ...parts, ownsStore: options.store === undefined },
    startCompaction(base.store, { ...base, intervalMs }),
  )
  try {
    await crds.start()
    await base.informers.start()
    if (options.bootstrap !== false) await bootstrap({ ...base, ...handlers }, { port: options.listen?.port ?? 443 })
    await installKinds(transport, options.kinds ?? [], base)
    await listener?.start(handler)
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

/** The parts that all stages are built on. */
interface ServerBase {
  readonly store: Store
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly stop: AbortController
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

function makeBase({
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  store = openMemoryStore({ clock }),
}: ServerOptions): ServerBase {
  const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))
  const informers = new Informers({ store, registry, clock, log, cluster: defaultCluster })
  const storage = new Storage(store, { clock, cluster: defaultCluster })
  const stop = new AbortController()
  return { store, storage, registry, informers, clock, random, log, stop, stopping: stop.signal }
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

function makeAdmission(
  { admission: { hooks = [], ownerReferences = false } = {}, webhooks = {} }: ServerOptions,
  base: ServerBase,
  security: ServerSecurity,
): ServerAdmission {
  const webhookMetrics = new WebhookMetrics()
  const options = { webhooks, metrics: webhookMetrics, hooks, ownerReferences }
  const admission = new Admission(chainAdmission(admissionPlugins({ ...base, ...security }, options)))
  return { admission, webhookMetrics }
}

function makeHandlers(
  { limits = {}, compressedListBytesMax: bytesMax }: ServerOptions,
  parts: ServerBase & ServerSecurity & ServerAdmission & { readonly actionHandlers: ActionHandlers },
): { readonly handlers: ResourceHandlers; readonly flowControl: FlowControl } {
  const flowControl = new FlowControl(limits, parts)
  const compressedRuns = new CompressedRunCache({ ...(bytesMax !== undefined && { bytesMax }) })
  return { handlers: makeResourceHandlers({ ...parts, flowControl, compressedRuns }), flowControl }
}

async function openAuditLog(options: AuditOptions, base: ServerBase): Promise<AuditLog> {
  const { AuditLog } = await import('./audit/audit-log.ts')
  return AuditLog.open(options, base)
}

interface ServerParts extends ServerBase, ServerSecurity, ServerAdmission {
  readonly handlers: ResourceHandlers
  readonly flowControl: FlowControl
  readonly crds: CrdController
  readonly audit: AuditLog | undefined
  readonly listener: ServerListener | undefined
}

function makeRequestHandler(parts: ServerParts): RequestHandler {
  const { registry, flowControl, webhookMetrics, audit, listener, authentication } = parts
  const metrics = new RequestMetrics(registry, () => [
    ...flowControl.metrics(),
    ...webhookMetrics.lines(),
    ...(audit?.metrics() ?? []),
  ])
  const nonResources = makeNonResourceHandler({
    registry,
    metrics,
    authentication,
    checks: healthChecks(parts),
    address: () => listener?.address?.url.replace(/^https?:\/\//, ''),
  })
  return new RequestHandler({ ...parts, resources: new ResourceDispatcher(parts), nonResources, metrics })
}

function makeStop(
  { stop, store, crds, informers, audit, listener, ownsStore }: ServerParts & { readonly ownsStore: boolean },
  stopCompaction: () => void,
): Server['stop'] {
  return async ({ graceMs = 5000 } = {}) => {
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

  get address(): ServerAddress | undefined {
    return this.#running?.address
  }

  async start(handler: RequestHandler): Promise<void> {
    const { options, identity, authentication, clock, log } = this.#services
    const { host = '127.0.0.1', port = 0, names = [], tls: hasTls = true, limits = {} } = options
    const transport = guardOrigin(handler.transport(authentication.authenticators), { hosts: [...names, host] })
    const { keyPem: key, certificatePem: cert } = identity.server
    const tls = hasTls ? { tls: { key, cert, ca: authentication.authoritiesPem } } : {}
    const listening = await listen(transport, { host, port, limits, clock, log, ...tls })
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

function healthChecks({ store, stopping }: ServerBase): HealthCheck[] {
  return [
    { name: 'ping', failure: () => undefined },
    { name: 'store', failure: () => (store.failure()?.state === 'failed' ? store.failure()?.message : undefined) },
    { name: 'storage-readiness', readyOnly: true, failure: () => store.failure()?.message },
    { name: 'shutdown', readyOnly: true, failure: () => (stopping.aborted ? 'the server is stopping' : undefined) },
  ]
}
