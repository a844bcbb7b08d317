/**
 * What everything in a manager shares: one connection, one cache, one ledger, and two clients.
 *
 * The leader's client refuses to write from the moment on at which another replica may lead; the open one is for those
 * who work on every replica, for events and for questions. Both tell the ledger and the cache what they wrote.
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
  /** Writes while the lease is ours; the same as `client` when there is no election. */
  readonly leaderClient: Client
  readonly deadline: LeaseDeadline
  /** False when this process works whoever else does. */
  readonly election: false | ElectionSettings
  /** Controllers that work on every replica, and those that work on the leader. */
  readonly replicaControllers: ControllerSet
  readonly leaderControllers: ControllerSet
}

/** `plugins` come before those of the options. */
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
  if (name === '') throw new RangeError('a manager needs a name')
  const opened = connectionTo(options, { clock })
  const connection = {
    ...opened,
    transport: countRequests(opened.transport, metrics, {
      host: opened.config ? new URL(opened.config.server).host : 'in-process',
    }),
  }
  const { leaderElection = connection.config ? {} : false } = options
  const deadline = new LeaseDeadline({ clock })
  const ledger = new Ledger({ ...options.ledger, cluster })
  const userAgent = `evenkeel (${name})`
  const late: { cache?: ObjectCache } = {}
  const make = (transport: Connection['transport']): Client =>
    new Client({
      ...options.client,
      clock,
      random,
      log,
      userAgent,
      namespace: connection.namespace,
      ...writeHooks({ ledger, cache: () => late.cache }),
      transport,
      kinds: options.kinds ?? [],
    })
  // Whoever shares the connection is another program: its requests say nothing about this one.
  const own = options.rules ? inspectRequests(connection.transport, options.rules, rbac) : connection.transport
  const client = make(own)
  const leaderClient = leaderElection === false ? client : make(gateWrites(own, deadline, { clock }))
  const cache = (late.cache = new ObjectCache({ client, cluster, clock, random, log, metrics, ...options.cache }))
  const environment: ControllerEnvironment = {
    client,
    cache,
    ledger,
    clock,
    random,
    log,
    cluster,
    metrics,
    tracing: options.tracing ?? findTracing(),
    plugins: [...plugins, ...(options.plugins ?? [])],
    ...(options.hotLoops && { hotLoops: options.hotLoops }),
  }
  return {
    connection,
    clock,
    random,
    log,
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

/*
 * How a manager reaches its cluster: a server in this process, or one that a configuration names.
 */

/** One of the two. */
export interface ClusterSource {
  /** That of a server in this process, or one of your own. */
  readonly transport?: ClientOptions['transport']
  /** What `loadConfig` or `findConfig` found. */
  readonly config?: ConnectionConfig
  /** Whom the configuration's files and programs come from. @default this machine */
  readonly host?: Host
}

export interface Connection {
  readonly transport: ClientOptions['transport']
  readonly config: ConnectionConfig | undefined
  /** Whoever else connects must take them from here: getting them runs a program, or asks a host of the caller's. */
  readonly credentials: CredentialSource | undefined
  /** Where objects without a namespace live. */
  readonly namespace: string
  close(): Promise<void>
}

/** Nothing is sent yet. @throws {RangeError} when it is not clear which cluster is meant. */
function connectionTo({ transport, config, host }: ClusterSource, { clock }: { clock: Clock }): Connection {
  if ((transport === undefined) === (config === undefined))
    throw new RangeError('a manager needs either a transport or a config: loadConfig finds one')
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

/*
 * What is asked of the server, counted under the name that client-go gave it, because dashboards have it.
 *
 * Every attempt counts, also one that got no answer (`<error>`). What the thread that renews the lease asks is not seen
 * from here.
 */

type CountedTransport = ClientOptions['transport']

/** The same transport. `host` is whom it leads to. */
export function countRequests(
  transport: CountedTransport,
  metrics: Metrics,
  { host }: { readonly host: string },
): CountedTransport {
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
  const counting: CountedTransport = async (request) => {
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

/*
 * Somebody who looks at the requests of a running program and says what is wrong with them.
 */

type Transport = ClientOptions['transport']

/** What a request asks to be allowed. */
export interface Grant {
  readonly verb: string
  readonly group: string
  /** With its subresource: `pods/status`. */
  readonly resource: string
}

export interface RequestRules {
  /** Every request, before it is sent. `grants`: whether the program says that it needs this. */
  onRequest(request: Parameters<Transport>[0], facts: { grants(grant: Grant): boolean }): void
  /** What was found so far, as plain data. */
  findings(): readonly object[]
}

/** The same transport, whose requests are looked at first; whoever looks never stands in the way. */
function inspectRequests(transport: Transport, rules: RequestRules, rbac: () => Rbac): Transport {
  // Controllers may be added later: only what is granted stays so.
  const granted = new Set<string>()
  const grants = ({ verb, group, resource }: Grant): boolean => {
    const key = `${verb} ${group}/${resource}`
    if (granted.has(key)) return true
    const asked = rbac().scopes.flatMap((scope) => scope.rules)
    const isGranted =
      asked.length === 0 ||
      asked.some(
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

function has(list: readonly string[], word: string): boolean {
  return list.includes('*') || list.includes(word)
}
