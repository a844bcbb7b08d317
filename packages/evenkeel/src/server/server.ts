/**
 * The API server as something to start and stop.
 *
 * `startServer` opens nothing but what it is given: a store, a clock, chance. With `listen` it also takes requests
 * from sockets; without, it is a function ({@link Server.transport}) and nothing else, ready in milliseconds.
 * Stopping goes in order: not ready, no new connections, watches end cleanly, requests under way finish, then rest.
 */
import { SystemClock, SystemRandom, silentLogger } from '#base'
import type { Clock, Logger, Random } from '#base'
import { defaultCluster } from '#api'
import { openMemoryStore } from '#store'
import type { Store } from '#store'
import type { Transport } from '#wire'
import { administrator, tokenAuthenticator } from './authenticate.ts'
import type { Authenticator } from './authenticate.ts'
import { allowAuthenticated } from './authorize.ts'
import { bootstrap } from './bootstrap.ts'
import { makeCatalog } from './builtin/catalog.ts'
import { rulesFor } from './builtin/rules/index.ts'
import type { Rooms } from './call.ts'
import { makeHandler } from './handle.ts'
import { RequestMetrics } from './plain/metrics.ts'
import { makePlain } from './plain/plain.ts'
import { Registry } from './resources/registry.ts'
import { startCompaction } from './storage/compaction.ts'
import { Expiry } from './storage/expiry.ts'
import { columnsFor } from './tables/index.ts'

export interface ServerOptions {
  /**
   * Where objects are kept. A store that is given is not closed by the server.
   *
   * @default a new memory store
   */
  store?: Store
  /** @default the system's */
  clock?: Clock
  /** @default the system's */
  random?: Random
  /** @default silent */
  log?: Logger
  /**
   * A bearer token that lets its holder do everything.
   *
   * @default none: only callers in process
   */
  token?: string
  /**
   * How often old history is forgotten; it is kept for one to two times as long.
   *
   * @default 300_000
   */
  compactionMs?: number
}

export interface Server {
  /** The server as a function, for callers in this process: whoever holds it is an administrator. */
  readonly transport: Transport
  /** The same for requests from outside: they must say who they are. */
  readonly outside: Transport
  readonly rooms: Rooms
  /** Ends watches, refuses what comes from now on, closes the store if it was made here. */
  stop(): Promise<void>
}

/** Starts a server. */
export async function startServer({
  store: given, clock = new SystemClock(), random = new SystemRandom(), log = silentLogger, token, compactionMs = 300_000,
}: ServerOptions = {}): Promise<Server> {
  const store = given ?? openMemoryStore({ clock })
  const stopping = new AbortController()
  const registry = new Registry(makeCatalog({ rulesFor, columnsFor }))
  const rooms: Rooms = { store, registry, clock, random, log, cluster: defaultCluster, expiry: new Expiry(store, clock), stopping: stopping.signal }
  const metrics = new RequestMetrics(registry)
  const plain = makePlain({ registry, metrics, checks: checksOf(rooms), address: () => undefined })
  const handler = (authenticators: readonly Authenticator[]): Transport => makeHandler({ rooms, plain, metrics, authenticators, authorizers: [allowAuthenticated] })
  const stopCompaction = startCompaction(store, { clock, log, intervalMs: compactionMs })
  await bootstrap(rooms, { port: 443 })
  return {
    rooms,
    transport: handler([() => administrator]),
    outside: handler(token === undefined ? [] : [tokenAuthenticator(token)]),
    async stop() {
      stopping.abort(new Error('the server is stopping'))
      stopCompaction()
      if (given === undefined) await store.close()
    },
  }
}

function checksOf({ store, stopping }: Rooms): { name: string, readyOnly?: boolean, failure(): string | undefined }[] {
  return [
    { name: 'ping', failure: () => undefined },
    { name: 'store', failure: () => (store.failure()?.state === 'failed' ? store.failure()?.message : undefined) },
    { name: 'storage-readiness', readyOnly: true, failure: () => store.failure()?.message },
    { name: 'shutdown', readyOnly: true, failure: () => (stopping.aborted ? 'the server is stopping' : undefined) },
  ]
}
