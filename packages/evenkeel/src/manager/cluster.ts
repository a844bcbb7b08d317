/**
 * The cluster of a manager: one connection, one cache, one ledger and two clients, shared by all its controllers.
 *
 * The client of the leader refuses writes as soon as another replica may be the leader. The other client is for
 * controllers on every replica, events and access reviews. Both report their writes to the ledger and to the cache.
 *
 * Requests are counted under the metric names of client-go, because dashboards use them. Every attempt counts, also one
 * without an answer (`<error>`). The thread that renews the lease is not counted.
 */
import { defaultCluster } from '#api'
import {
  acceptLightSignals,
  Metrics,
  silentLogger,
  SystemClock,
  SystemRandom,
  type Clock,
  type Counter,
  type Logger,
  type Random,
} from '#base'
import { ObjectCache } from '#cache'
import {
  Client,
  openConnection,
  type ClientOptions,
  type ConnectionConfig,
  type CredentialSource,
  type Host,
} from '#client'
import {
  ControllerSet,
  findTracing,
  Ledger,
  writeHooks,
  type ContextPlugin,
  type ControllerEnvironment,
} from '#controller'
import type { ElectionSettings } from './election/leader-election.ts'
import { gateWrites, LeaseDeadline } from './election/write-gate.ts'
import type { ManagerOptions } from './manager.ts'
import type { Rbac } from './rbac.ts'

type Transport = ClientOptions['transport']

export interface Cluster {
  readonly connection: Connection
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  readonly userAgent: string
  readonly ledger: Ledger
  readonly cache: ObjectCache
  /** Writes at any time. */
  readonly client: Client
  /** Writes only while the lease is ours; the same as `client` without an election. */
  readonly leaderClient: Client
  readonly deadline: LeaseDeadline
  /** False without leader election. */
  readonly election: false | ElectionSettings
  /** Controllers that reconcile on every replica. */
  readonly replicaControllers: ControllerSet
  /** Controllers that reconcile on the leader only. */
  readonly leaderControllers: ControllerSet
}

/** Creates the cluster of a manager. `plugins` come before those of the options. */
export function makeCluster(
  options: ManagerOptions,
  { plugins, rbac }: { plugins: readonly ContextPlugin[]; rbac: () => Rbac },
): Cluster {
  const {
    name,
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    metrics = new Metrics(),
    cluster = defaultCluster,
  } = options
  const system = { clock, random, log }
  if (name === '') throw new RangeError('a manager needs a name: set the option name')
  const connection = countedConnection(options, { clock, metrics })
  const { leaderElection = connection.config ? {} : false } = options
  const deadline = new LeaseDeadline({ clock })
  const ledger = new Ledger({ ...options.ledger, cluster })
  const userAgent = `evenkeel (${name})`
  const created: { cache?: ObjectCache } = {}
  // Only our own requests are inspected: a manager that shares the connection is another program.
  const own = options.rules ? inspectRequests(connection.transport, options.rules, rbac) : connection.transport
  const clientOptions = {
    ...options.client,
    ...system,
    userAgent,
    namespace: connection.namespace,
    ...writeHooks({ ledger, cache: () => created.cache }),
    kinds: options.kinds ?? [],
  }
  const client = new Client({ ...clientOptions, transport: own })
  const gated = leaderElection === false ? undefined : gateWrites(own, deadline, { clock })
  const leaderClient = gated ? new Client({ ...clientOptions, transport: gated }) : client
  const cache = (created.cache = new ObjectCache({ client, cluster, ...system, metrics, ...options.cache }))
  const environment: ControllerEnvironment = {
    client,
    cache,
    ledger,
    ...system,
    cluster,
    metrics,
    tracing: options.tracing ?? findTracing(),
    plugins: [...plugins, ...(options.plugins ?? [])],
    ...(options.hotLoops && { hotLoops: options.hotLoops }),
  }
  return {
    connection,
    ...system,
    metrics,
    userAgent,
    ledger,
    cache,
    client,
    leaderClient,
    deadline,
    election: leaderElection,
    replicaControllers: new ControllerSet(environment),
    leaderControllers: new ControllerSet({ ...environment, client: leaderClient }),
  }
}

/** How a manager reaches its cluster: either a transport or a config. */
export interface ClusterSource {
  /** The transport of a server in this process, or your own. */
  readonly transport?: Transport
  /** The result of `loadConfig` or `findConfig`. */
  readonly config?: ConnectionConfig
  /** Where the files and programs of the config come from. @default this machine */
  readonly host?: Host
}

export interface Connection {
  readonly transport: Transport
  readonly config: ConnectionConfig | undefined
  /** Set if other connections must share the credentials: getting them runs a program, or uses a custom host. */
  readonly credentials: CredentialSource | undefined
  /** The default namespace. */
  readonly namespace: string
  close(): Promise<void>
}

/** The connection, with counted requests. */
function countedConnection(
  source: ClusterSource,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
): Connection {
  const opened = connectionTo(source, { clock })
  const host = opened.config ? new URL(opened.config.server).host : 'in-process'
  return { ...opened, transport: countRequests(opened.transport, metrics, { host }) }
}

/** Opens the connection without a request. @throws {RangeError} for both or neither of transport and config. */
function connectionTo({ transport, config, host }: ClusterSource, { clock }: { clock: Clock }): Connection {
  if ((transport === undefined) === (config === undefined))
    throw new RangeError('a manager needs either a transport or a config: use loadConfig to find one')
  if (transport)
    return {
      transport,
      config: undefined,
      credentials: undefined,
      namespace: 'default',
      close: () => Promise.resolve(),
    }
  const opened = openConnection(config as ConnectionConfig, { clock, ...(host && { host }) })
  const isShared = config?.exec !== undefined || host !== undefined
  return {
    ...opened,
    config,
    credentials: isShared ? opened.credentials : undefined,
    namespace: config?.namespace ?? 'default',
  }
}

/** The same transport, with a counter. `host` is the label value of the server. */
export function countRequests(transport: Transport, metrics: Metrics, { host }: { readonly host: string }): Transport {
  const family = metrics.counter('rest_client_requests_total', {
    help: 'Requests by HTTP code, method and host.',
    labels: ['code', 'host', 'method'],
  })
  const known = new Map<string, Counter>()
  const count = (code: string, method: string): void => {
    const key = `${code} ${method}`
    const counter = known.get(key) ?? family.with({ code, host, method })
    known.set(key, counter)
    counter.add()
  }
  const counting: Transport = async (request) => {
    let code = '<error>'
    try {
      const response = await transport(request)
      code = String(response.status)
      return response
    } finally {
      count(code, request.method)
    }
  }
  return acceptLightSignals(counting, { like: transport })
}

/** The permission that a request needs. */
export interface Grant {
  readonly verb: string
  readonly group: string
  /** With its subresource: `pods/status`. */
  readonly resource: string
}

export interface RequestRules {
  /** Called with every request before it is sent. `grants`: whether the RBAC rules of the program contain a permission. */
  onRequest(request: Parameters<Transport>[0], facts: { grants(grant: Grant): boolean }): void
  /** The violations so far, as JSON. */
  findings(): readonly object[]
}

/** The same transport, with an inspection of every request. */
function inspectRequests(transport: Transport, rules: RequestRules, rbac: () => Rbac): Transport {
  // Only positive results are cached: controllers may be added later.
  const granted = new Set<string>()
  const grants = ({ verb, group, resource }: Grant): boolean => {
    const key = `${verb} ${group}/${resource}`
    if (granted.has(key)) return true
    const declared = rbac().scopes.flatMap((scope) => scope.rules)
    const isGranted =
      declared.length === 0 ||
      declared.some(
        ({ apiGroups, resources, verbs }) => has(apiGroups, group) && has(resources, resource) && has(verbs, verb),
      )
    if (isGranted) granted.add(key)
    return isGranted
  }
  return (request) => {
    rules.onRequest(request, { grants })
    return transport(request)
  }
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}
