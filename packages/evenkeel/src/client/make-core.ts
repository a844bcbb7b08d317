/**
 * A client's options, and what its verbs work with.
 */
import { silentLogger, SystemClock, SystemRandom } from '#base'
import type { Clock, Logger, Random } from '#base'
import type { Kind } from '#api'
import type { Transport } from '#wire'
import type { ClientDefaults, ClientCore, WriteHooks } from './core.ts'
import { RestMapper } from './mapping/mapper.ts'
import { RestClient } from './request/exchange.ts'
import { Warnings } from './request/warnings.ts'
import type { WarningHandler } from './request/warnings.ts'
import { withRateLimit } from './transport/rate-limit.ts'
import { withRetry } from './transport/retry.ts'

export interface ClientOptions extends ClientDefaults, WriteHooks {
  /** How requests get to the server: that of a server in this process, or one of `httpTransport`. */
  readonly transport: Transport
  /** Called by `close`. */
  readonly close?: () => Promise<void>
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** @default 'evenkeel' */
  readonly userAgent?: string
  /** What the server warns of, each text once. @default the log */
  readonly onWarning?: WarningHandler
  /** Kinds that are known from the start, so that objects of them are found without asking. */
  readonly kinds?: readonly Kind[]
  /**
   * How long to wait for an answer. Servers give up after a minute.
   *
   * @default 75_000
   */
  readonly timeoutMs?: number
  /** How large an answer may be. @default 268_435_456 */
  readonly responseBytesMax?: number
  /** How large one event of a watch may be. @default 16_777_216 */
  readonly watchLineBytesMax?: number
  /** What is tried again, and how often; false for nothing. @default 10 times, waits of up to 30 s */
  readonly retry?: false | { readonly retriesMax?: number; readonly waitMaxMs?: number }
  /** No more requests than this in a second. @default no limit */
  readonly rateLimit?: { readonly perSecond: number; readonly burst?: number }
  /** How long a kind that the server did not have is not asked for again. @default 5000 */
  readonly discoveryReloadMs?: number
  /**
   * Called right before a write leaves, at every attempt, however long it waited; what it throws refuses the write. For
   * leases that may run out in the meantime.
   *
   * @default every write leaves
   */
  readonly writeGate?: () => void
}

export function makeCore(options: ClientOptions): ClientCore {
  const {
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    userAgent = 'evenkeel',
    kinds = [],
    discoveryReloadMs,
  } = options
  const { timeoutMs = 75_000, responseBytesMax = 256 * 1024 * 1024, watchLineBytesMax = 16 * 1024 * 1024 } = options
  const {
    onWarning = (text, { method, target }) => {
      log.warn('the server warns', { text, method, target })
    },
  } = options
  const exchange = new RestClient({
    transport: wrap(options, clock, random),
    clock,
    warnings: new Warnings(onWarning),
    userAgent,
    timeoutMs,
    responseBytesMax,
  })
  const mapper = new RestMapper({
    rest: exchange,
    clock,
    ...(discoveryReloadMs !== undefined && { reloadMs: discoveryReloadMs }),
  })
  for (const kind of kinds) mapper.remember(kind)
  const { namespace, fieldManager, fieldValidation, dryRun, reconcileId, beforeWrite, afterWrite } = options
  return {
    rest: exchange,
    mapper,
    clock,
    random,
    watchLineBytesMax,
    defaults: {
      ...(namespace !== undefined && { namespace }),
      ...(fieldManager !== undefined && { fieldManager }),
      ...(fieldValidation !== undefined && { fieldValidation }),
      ...(dryRun !== undefined && { dryRun }),
      ...(reconcileId !== undefined && { reconcileId }),
    },
    hooks: { ...(beforeWrite && { beforeWrite }), ...(afterWrite && { afterWrite }) },
  }
}

/** Every attempt counts against the limit and passes the gate, so both are inside, the gate last. */
function wrap({ transport, retry = {}, rateLimit, writeGate }: ClientOptions, clock: Clock, random: Random): Transport {
  const gated = writeGate ? withGate(transport, writeGate) : transport
  const limited = rateLimit ? withRateLimit(gated, { clock, ...rateLimit }) : gated
  return retry === false ? limited : withRetry(limited, { clock, random, ...retry })
}

function withGate(transport: Transport, gate: () => void): Transport {
  return async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return transport(request)
    gate()
    return transport({ ...request, beforeSend: gate })
  }
}
