/**
 * The API server as something to start and stop.
 *
 * `startServer` opens nothing but what it is given: a store, a clock, chance. With `listen` it also takes requests
 * from sockets; without, it is a function ({@link Server.transport}) and nothing else, ready in milliseconds.
 * Stopping goes in order: not ready, no new connections, watches end cleanly, requests under way finish, then rest.
 */
import { defaultCluster, type Kind } from '#api'
import {
  acceptLightSignals,
  assert,
  silentLogger,
  SystemClock,
  SystemRandom,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import { columnsFor, makeCatalog, strategyFor, type Resource } from '#builtins'
import { openMemoryStore, type Store } from '#store'
import type { Transport } from '#wire'
import type { AdmissionHook } from './admission/admission-hooks.ts'
import { chainAdmission } from './admission/admission.ts'
import { ownerReferencesPlugin } from './admission/owner-references.ts'
import { admissionPlugins } from './admission/plugins.ts'
import { resourceQuotaPlugin } from './admission/resource-quota.ts'
import { WebhookMetrics } from './admission/webhook-metrics.ts'
import type { AuditLog, AuditOptions } from './audit/audit-log.ts'
import type { AuthenticationOptions } from './auth/authentication-options.ts'
import { makeAuthentication, type Authenticator } from './auth/authentication.ts'
import { makeIdentity, type Identity } from './auth/identity.ts'
import type { SecretClaims } from './auth/service-account-claims.ts'
import { administrator, withAuthenticatedGroup } from './auth/user.ts'
import { makeAuthorizer, type AuthorizationOption, type AuthorizerChain } from './authz/authorizer.ts'
import { escalationPlugin } from './authz/escalation.ts'
import { RbacAuthorizer } from './authz/rbac.ts'
import type { ConvertObject } from './crd/conversion.ts'
import { CrdController } from './crd/crd-controller.ts'
import { installKinds } from './crd/install-kinds.ts'
import { FlowControl } from './flowcontrol/flow-control.ts'
import type { LimitOptions } from './flowcontrol/limits.ts'
import { makeHandler } from './handler.ts'
import { ActionHandlers, type ActionHandler } from './handlers/actions.ts'
import { Informers } from './informers.ts'
import { CompressedRunCache } from './list/compressed-list.ts'
import { listen, type ListenOptions } from './listen/listener.ts'
import { guardOrigin } from './listen/origin-guard.ts'
import { RequestMetrics } from './metrics.ts'
import { makeNonResourceHandler, type HealthCheck } from './non-resource-paths.ts'
import { bootstrap } from './registry/bootstrap.ts'
import { Registry } from './registry/registry.ts'
import type { ServerContext, User } from './request-context.ts'
import { LeaseManager, startCompaction } from './storage/storage.ts'
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
export async function startServer({
  store: given,
  listen: listenOptions,
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  compactionMs = 300_000,
  compressedListBytesMax: packedBytesMax,
  kinds = [],
  conversions = {},
  webhooks = {},
  authentication: authenticationOptions = {},
  authorization = 'rbac',
  admission: admissionOptions = {},
  limits = {},
  audit: auditOptions,
  bootstrap: makesFirst = true,
}: ServerOptions = {}): Promise<Server> {
  const store = given ?? openMemoryStore({ clock })
  const stopping = new AbortController()
  const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))
  const late: { definitions?: CrdController; door?: RunningListener | undefined } = {}
  const packed = new CompressedRunCache({ ...(packedBytesMax !== undefined && { bytesMax: packedBytesMax }) })
  const informers = new Informers({ store, registry, clock, log, cluster: defaultCluster })
  const permissions = new RbacAuthorizer(informers)
  const authorizer = makeAuthorizer(authorization, {
    rbac: permissions.authorizer,
    clock,
    log,
    connect: webhooks.connect,
    stopping: stopping.signal,
  })
  const webhookMetrics = new WebhookMetrics()
  const admission = chainAdmission([
    ...admissionPlugins(
      {
        informers,
        registry,
        store,
        authorizer,
        clock,
        random,
        log,
        cluster: defaultCluster,
        stopping: stopping.signal,
      },
      { webhooks, metrics: webhookMetrics, hooks: admissionOptions.hooks ?? [] },
    ),
    escalationPlugin({ rbac: permissions, authorizer }),
    ...(admissionOptions.ownerReferences ? [ownerReferencesPlugin({ authorizer, registry })] : []),
    resourceQuotaPlugin({ informers, registry, store, cluster: defaultCluster }),
  ])
  const identity = listenOptions && identityOf(listenOptions, { clock, random })
  const authentication = await makeAuthentication(authenticationOptions, {
    clock,
    random,
    log,
    identity,
    accounts: informers.forResource('', 'serviceaccounts'),
    server: () => server,
    connect: webhooks.connect,
    stopping: stopping.signal,
  })
  const server: ServerContext = {
    actionHandlers: new ActionHandlers(),
    flowControl: new FlowControl(limits, { clock, stopping: stopping.signal }),
    informers,
    authentication,
    authorizer,
    admission,
    store,
    registry,
    clock,
    random,
    log,
    cluster: defaultCluster,
    leases: new LeaseManager(store, clock),
    compressedRuns: packed,
    stopping: stopping.signal,
    waitForCrds: (revision) => late.definitions?.waitForRevision(revision) ?? Promise.resolve(),
  }
  const audit =
    auditOptions && (await (await import('./audit/audit-log.ts')).AuditLog.open(auditOptions, { clock, random, log }))
  const handlers = makeHandlerFactory(server, {
    audit,
    counted: () => webhookMetrics.lines(),
    address: () => late.door?.address,
  })
  const transport = acceptLightSignals(handlers([() => administrator]))
  const definitions = (late.definitions = new CrdController(server, crdResource(registry), {
    conversions,
    webhooks,
  }))
  const stopCompaction = startCompaction(store, { clock, log, intervalMs: compactionMs })
  const stop: Server['stop'] = async ({ graceMs = 5000 } = {}) => {
    const closing = late.door?.close(graceMs)
    const reason = new Error('the server is stopping')
    stopping.abort(reason)
    stopCompaction()
    definitions.stop(reason)
    informers.stop(reason)
    await closing
    await audit?.close()
    if (given === undefined) await store.close()
  }
  try {
    await definitions.start()
    await informers.start()
    if (makesFirst) await bootstrap(server, { port: listenOptions?.port ?? 443 })
    await installKinds(transport, kinds, { clock })
    late.door =
      listenOptions && identity && (await startListener(handlers, { options: listenOptions, identity, server }))
  } catch (error) {
    // Nothing may be left behind of a server that nobody has: a timer would keep the process alive.
    await stop()
    throw error
  }
  return {
    transport,
    as(user) {
      const known = withAuthenticatedGroup(user)
      return handlers([() => known])
    },
    authorizer,
    onAction: (kind, action, answerer) => server.actionHandlers.add(kind, action, answerer),
    tokenForSecret: (secret) => authentication.serviceAccounts.tokens.issueForSecret(secret),
    address: late.door?.address,
    async compact() {
      await store.compact(await store.head())
    },
    stop,
  }
}

function crdResource(registry: Registry): Resource {
  const resource = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')
  assert(resource, 'definitions are built in')
  return resource
}

type HandlerFactory = (authenticators: readonly Authenticator[]) => Transport

function makeHandlerFactory(
  server: ServerContext,
  {
    audit,
    counted,
    address,
  }: { audit: AuditLog | undefined; counted: () => readonly string[]; address: () => ServerAddress | undefined },
): HandlerFactory {
  const { registry, authentication, flowControl } = server
  const metrics = new RequestMetrics(registry, () => [
    ...flowControl.metrics(),
    ...counted(),
    ...(audit?.metrics() ?? []),
  ])
  const plain = makeNonResourceHandler({
    registry,
    metrics,
    authentication,
    checks: healthChecks(server),
    address: () => address()?.url.replace(/^https?:\/\//, ''),
  })
  return (authenticators) => makeHandler({ server, nonResourceHandler: plain, metrics, audit, authenticators })
}

interface RunningListener {
  readonly address: ServerAddress
  close(graceMs: number): Promise<void>
}

function identityOf(
  { host = '127.0.0.1', names = [], identity }: ServerListenOptions,
  { clock, random }: { clock: Clock; random: Random },
): Identity {
  return identity ?? makeIdentity({ clock, random, names: [...names, host] })
}

async function startListener(
  handlers: HandlerFactory,
  {
    options,
    identity,
    server: { clock, log, authentication },
  }: { options: ServerListenOptions; identity: Identity; server: ServerContext },
): Promise<RunningListener> {
  const { host = '127.0.0.1', port = 0, names = [], tls = true, limits = {} } = options
  const transport = guardOrigin(handlers(authentication.authenticators), { hosts: [...names, host] })
  const secured = tls
    ? { tls: { key: identity.server.keyPem, cert: identity.server.certificatePem, ca: authentication.authoritiesPem } }
    : {}
  const listening = await listen(transport, { host, port, limits, clock, log, ...secured })
  return {
    address: {
      url: listening.url,
      port: listening.port,
      caPem: tls ? identity.authority.certificatePem : undefined,
      token: identity.token,
    },
    close: (graceMs) => listening.close({ graceMs }),
  }
}

function healthChecks({ store, stopping }: ServerContext): HealthCheck[] {
  return [
    { name: 'ping', failure: () => undefined },
    { name: 'store', failure: () => (store.failure()?.state === 'failed' ? store.failure()?.message : undefined) },
    { name: 'storage-readiness', readyOnly: true, failure: () => store.failure()?.message },
    { name: 'shutdown', readyOnly: true, failure: () => (stopping.aborted ? 'the server is stopping' : undefined) },
  ]
}
