/**
 * The etcd client: calls with retries over one connection at a time, to one of the endpoints.
 *
 *   connecting ──probe succeeded──▶ connected ──connection lost──▶ connecting (the next endpoint) … ──▶ closed
 *
 * Invariants: a call that may have been carried out is retried only if it is idempotent; a call
 * waits for a connection no longer than its retry time; a server counts as reachable once it has
 * answered a status request and knows a leader, not when it merely accepts a connection.
 */
import {
  abortable,
  deadline,
  deferred,
  ExponentialBackoff,
  sleep,
  type AbortOptions,
  type Clock,
  type Deferred,
  type Logger,
  type Random,
} from '#base'
import { EtcdConnection, type EtcdTlsOptions } from './connection.ts'
import { notSent, RpcError } from './grpc.ts'
import { decodeStatus, decodeToken, encodeLogin } from './messages.ts'
import { ProtobufWriter } from './protobuf.ts'

/** Timeouts in milliseconds. */
export interface EtcdTimeouts {
  /**
   * For opening a connection, and for its first response.
   *
   * @default 3_000
   */
  connectMs?: number
  /**
   * For the response to one call.
   *
   * @default 10_000
   */
  requestMs?: number
  /**
   * For a call with all its retries.
   *
   * @default 15_000
   */
  retryMs?: number
  /**
   * Silence while calls wait, before a ping is sent. etcd closes connections that ping more often than every 5 seconds.
   *
   * @default 6_000
   */
  pingMs?: number
  /**
   * For the response to a ping.
   *
   * @default 4_000
   */
  pingTimeoutMs?: number
}

interface EtcdClientOptions {
  endpoints: readonly string[]
  tls: EtcdTlsOptions
  user: string | undefined
  password: string | undefined
  timeouts: Required<EtcdTimeouts>
  clock: Clock
  random: Random
  log: Logger
}

interface EtcdCallOptions extends AbortOptions {
  /**
   * The call is not idempotent: do not retry it when it may have been carried out.
   *
   * @default false
   */
  isOnce?: boolean
}

/** The gRPC methods of etcd in use. */
export const methods = {
  range: '/etcdserverpb.KV/Range',
  put: '/etcdserverpb.KV/Put',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  grant: '/etcdserverpb.Lease/LeaseGrant',
  revoke: '/etcdserverpb.Lease/LeaseRevoke',
  keepAlive: '/etcdserverpb.Lease/LeaseKeepAlive',
  timeToLive: '/etcdserverpb.Lease/LeaseTimeToLive',
  login: '/etcdserverpb.Auth/Authenticate',
  status: '/etcdserverpb.Maintenance/Status',
} as const

export class EtcdClient {
  readonly #options: EtcdClientOptions
  readonly #backoff: ExponentialBackoff
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  /** The connection, and those that are no longer it but still have calls to end. */
  readonly #open = new Set<EtcdConnection>()
  #connection: EtcdConnection | undefined
  #next: Deferred<EtcdConnection> = deferred()
  #failure: string | undefined

  constructor(options: EtcdClientOptions) {
    this.#options = options
    const { random } = options
    this.#backoff = new ExponentialBackoff({ random, baseMs: 50, maxMs: 3000, jitter: { from: 0.5, by: 0.5 } })
    this.#next.promise.catch(() => undefined)
    this.#running = this.#run()
  }

  /** Why etcd cannot be reached just now. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** The connection; waits until there is one. Rejects with an {@link RpcError} once the client is closed. */
  connection({ signal }: AbortOptions = {}): Promise<EtcdConnection> {
    return this.#connection ? Promise.resolve(this.#connection) : abortable(this.#next.promise, { signal })
  }

  /** One question, one answer; repeated while that is safe and there is time. */
  call(path: string, request: ProtobufWriter, { signal, isOnce = false }: EtcdCallOptions = {}): Promise<Uint8Array> {
    return this.attempt((connection) => connection.unary(path, request, { signal }), { signal, isOnce })
  }

  /** Runs something on a connection; again, perhaps on another one, while that is safe and there is time. */
  async attempt<T>(
    work: (connection: EtcdConnection) => Promise<T>,
    { signal, isOnce = false }: EtcdCallOptions = {},
  ): Promise<T> {
    const {
      clock,
      timeouts: { retryMs },
    } = this.#options
    const until = clock.monotonic() + retryMs
    for (let failures = 0; ; failures++) {
      const connection = this.#connection ?? (await this.#wait(until, { signal }))
      try {
        const answer = await work(connection)
        this.#failure = undefined
        return answer
      } catch (error) {
        if (!(error instanceof RpcError) || !error.isPassing) throw error
        this.report(connection, error)
        if ((isOnce && error.isUncertain) || clock.monotonic() >= until || this.#closing.signal.aborted) throw error
      }
      await this.pause(failures, { signal })
    }
  }

  /** Waits for the back-off after so many earlier failures. */
  pause(failures: number, { signal }: AbortOptions = {}): Promise<void> {
    return sleep(this.#options.clock, this.#backoff.delayMs(failures), { signal })
  }

  /** A call failed, though the connection may stand: the next ones get a new connection, a new token, perhaps another server. */
  report(connection: EtcdConnection, error: RpcError): void {
    if (error.isLoginOver) {
      connection.retire('the login is over')
    } else if (error.code === 'Unavailable') {
      this.#failure ??= `${connection.endpoint}: ${error.message}; trying again`
      connection.retire(error.message)
    }
  }

  /** Ends every call and the connection. */
  async close(): Promise<void> {
    this.#closing.abort(notSent('the store was closed'))
    const ending = [...this.#open].map((connection) => {
      connection.destroy('the store was closed')
      return connection.closed
    })
    await Promise.all([this.#running, ...ending])
  }

  async #wait(until: number, { signal }: AbortOptions): Promise<EtcdConnection> {
    const { clock, endpoints } = this.#options
    const limit = deadline(clock, Math.max(0, until - clock.monotonic()), { signal })
    try {
      return await this.connection({ signal: limit.signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error instanceof RpcError ? error : notSent(this.#failure ?? `${endpoints.join(', ')} cannot be reached`)
    } finally {
      limit.done()
    }
  }

  /** Connects, over and over, until the client is closed. */
  async #run(): Promise<void> {
    const { endpoints } = this.#options
    const { signal } = this.#closing
    let failures = 0
    for (let turn = 0; !signal.aborted; turn++) {
      const endpoint = endpoints[turn % endpoints.length] ?? ''
      failures = (await this.#serve(endpoint)) ? 0 : failures + 1
      const isRound = failures % endpoints.length === 0
      if (isRound) await this.pause(failures / endpoints.length, { signal }).catch(() => undefined)
    }
    this.#next.reject(signal.reason)
  }

  /** Uses one endpoint until it fails; false when it was never of use. */
  async #serve(endpoint: string): Promise<boolean> {
    const { log } = this.#options
    let connection: EtcdConnection
    try {
      connection = await this.#connect(endpoint)
    } catch (error) {
      if (this.#failure === undefined) log.warn('cannot connect to etcd; retrying', { endpoint, error })
      if (!this.#closing.signal.aborted)
        this.#failure = `${error instanceof Error ? error.message : String(error)}; trying again`
      return false
    }
    this.#failure = undefined
    this.#connection = connection
    this.#next.resolve(connection)
    log.info('connected to etcd', { endpoint })
    const reason = await connection.gone
    this.#connection = undefined
    this.#next = deferred()
    this.#next.promise.catch(() => undefined)
    if (this.#closing.signal.aborted) return true
    this.#failure = `lost ${endpoint}: ${reason}; trying again`
    log.warn('lost the connection to etcd', { endpoint, reason })
    return true
  }

  async #connect(endpoint: string): Promise<EtcdConnection> {
    const { clock, tls, timeouts } = this.#options
    const { signal } = this.#closing
    const connection = await EtcdConnection.open(endpoint, { clock, tls, ...timeouts, signal })
    this.#open.add(connection)
    void connection.closed.then(() => this.#open.delete(connection))
    try {
      await this.#login(connection)
      await this.#probe(connection)
      return connection
    } catch (error) {
      connection.destroy('the first call failed')
      throw error
    }
  }

  async #login(connection: EtcdConnection): Promise<void> {
    const { user, password = '', timeouts } = this.#options
    if (user === undefined) return
    connection.token = decodeToken(
      await connection.unary(methods.login, encodeLogin(user, password), {
        signal: this.#closing.signal,
        timeoutMs: timeouts.connectMs,
      }),
    )
  }

  async #probe(connection: EtcdConnection): Promise<void> {
    const { timeouts } = this.#options
    try {
      const status = decodeStatus(
        await connection.unary(methods.status, new ProtobufWriter(), {
          signal: this.#closing.signal,
          timeoutMs: timeouts.connectMs,
        }),
      )
      if (!status.hasLeader) throw notSent(`${connection.endpoint} has no leader`)
      connection.isProgressOrdered = isProgressOrdered(status.version)
    } catch (error) {
      // A server that denies the status request is reachable.
      if (!(error instanceof RpcError) || (error.code !== 'PermissionDenied' && error.code !== 'Unauthenticated'))
        throw error
    }
  }
}

/** Since 3.4.25 and 3.5.8 the response to a progress request is ordered with the events; before, it may overtake them. */
function isProgressOrdered(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 25
  return minor === 5 ? patch >= 8 : minor > 5
}
