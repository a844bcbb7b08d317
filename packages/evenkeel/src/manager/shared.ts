/**
 * What everything in a manager shares: one connection, one cache, one ledger, and two clients.
 *
 * The leader's client refuses to write from the moment on at which another replica may lead; the open one is for those
 * who work on every replica, for events and for questions. Both tell the ledger and the cache what they wrote.
 */
import { Metrics, silentLogger, SystemClock, SystemRandom } from '#base'
import type { Clock, Logger, Random } from '#base'
import { defaultCluster } from '#api'
import { ObjectCache } from '#cache'
import { Client } from '#client'
import { ControllerSet, findTracing, Ledger, writeHooks } from '#controller'
import type { ContextPlugin, ControllerEnvironment } from '#controller'
import type { Rbac } from './access/roles.ts'
import { connectionTo } from './connection.ts'
import type { Connection } from './connection.ts'
import { gateWrites } from './election/gate/gate.ts'
import { LeaseDeadline } from './election/gate/lease-deadline.ts'
import type { ElectionSettings } from './leading.ts'
import type { ManagerOptions } from './options.ts'
import { countRequests } from './request-counts.ts'
import { inspectRequests } from './request-rules.ts'

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
