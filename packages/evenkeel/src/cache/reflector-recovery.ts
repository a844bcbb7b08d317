/**
 * What a reflector does after an error: one table with a next step for every error, the wait before it, and the watchdog
 * that notices a silent connection.
 *
 * The watchdog has one timer, which checks the time of the last message when it fires; a message costs one reading of
 * the clock. Invariant: no error ends a reflector.
 */
import {
  ApiError,
  findCause,
  isApiError,
  isBadRequest,
  isExpired,
  isForbidden,
  isGone,
  isInvalid,
  isMethodNotAllowed,
  isNotAcceptable,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnsupportedMediaType,
} from '#api'
import { ExponentialBackoff, type Cancel, type Clock, type Random } from '#base'
import { isConnectionError, isUnknownKind } from '#client'

/** What a reflector was doing: receiving everything as a stream, listing, or watching. */
export type ReflectorStep = 'stream' | 'list' | 'watch'

export interface Recovery {
  /** `sync`: request everything, as a stream where the server can. */
  readonly next: 'sync' | 'list' | 'watch'
  /** Wait first, by the back-off. */
  readonly pause: boolean
  /** Our version is useless: request the newest. */
  readonly forgetVersion?: boolean
  /** The server does not stream lists: do not request one again. */
  readonly noStreams?: boolean
  /** The server does not have the kind: wait for it. */
  readonly park?: boolean
}

/** The server ended a watch at once without an event; an immediate retry would become a load. */
export class ShortWatchError extends Error {
  override readonly name = 'ShortWatchError'
}

/** No data for too long. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError'
}

/** A streamed list ended before it was complete. */
export class CutListError extends Error {
  override readonly name = 'CutListError'
}

/** A streamed list does not become complete: this server does not send the bookmark. */
export class EndlessListError extends Error {
  override readonly name = 'EndlessListError'
}

/** The data of the watch turned out to be wrong. */
export class RelistError extends Error {
  override readonly name = 'RelistError'
}

interface FailureContext {
  readonly step: ReflectorStep
  /** Whether the newest state was requested, not that of a version. */
  readonly askedNewest: boolean
  /** Whether the watch worked before it failed. */
  readonly worked: boolean
  /** Streamed lists that were cut in a row, this one included. */
  readonly cuts: number
}

export function recoveryFor(error: unknown, context: FailureContext): Recovery {
  if (isNotFound(error) || isUnknownKind(error)) return { next: 'sync', pause: true, park: true }
  if (error instanceof RelistError) return { next: 'sync', pause: true }
  switch (context.step) {
    case 'watch':
      return watchRecovery(error, context)
    case 'list':
      return isVersionError(error)
        ? { next: 'list', pause: context.askedNewest, forgetVersion: true }
        : { next: 'sync', pause: true }
    case 'stream':
      return streamRecovery(error, context)
  }
}

function watchRecovery(error: unknown, { worked }: FailureContext): Recovery {
  if (error instanceof SilenceError) return { next: 'watch', pause: false }
  if (isTooLarge(error)) return { next: 'sync', pause: true, forgetVersion: true }
  if (isApiError(error) && !isTooManyRequests(error)) return { next: 'sync', pause: true }
  return { next: 'watch', pause: !worked || isTooManyRequests(error) || isConnectionError(error, 'refused') }
}

function streamRecovery(error: unknown, { askedNewest, cuts }: FailureContext): Recovery {
  if (error instanceof EndlessListError || isUnsupported(error)) return { next: 'list', pause: false, noStreams: true }
  if (isVersionError(error)) return { next: askedNewest ? 'list' : 'sync', pause: false, forgetVersion: true }
  if (isTooManyRequests(error) || isConnectionError(error, 'refused') || isForbidden(error) || isUnauthorized(error))
    return { next: 'sync', pause: true }
  if (isApiError(error)) return { next: 'list', pause: false }
  return cuts < 2 ? { next: 'sync', pause: true } : { next: 'list', pause: true }
}

function isUnsupported(error: unknown): boolean {
  return (
    isBadRequest(error) ||
    isInvalid(error) ||
    isMethodNotAllowed(error) ||
    isNotAcceptable(error) ||
    isUnsupportedMediaType(error)
  )
}

function isVersionError(error: unknown): boolean {
  return isExpired(error) || isGone(error) || isTooLarge(error)
}

function isTooLarge(error: unknown): boolean {
  return findCause(error, 'ResourceVersionTooLarge') !== undefined
}

interface RefusedCollection {
  readonly group: string
  readonly kind: string
  readonly namespace: string | undefined
}

/** A refusal with the collection that cannot be cached. */
export function refusalOf(error: ApiError, { group, kind, namespace }: RefusedCollection): ApiError {
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${JSON.stringify(namespace)}`
  const what = group === '' ? kind : `${kind} (${group})`
  return new ApiError(error.reason, `cannot list and watch ${what} ${where} for the cache: ${error.message}`, {
    subject: { group, kind },
    cause: error,
    code: error.code,
  })
}

/** A reflector without a failure for this long starts with the shortest wait. */
const forgetMs = 120_000

/** The wait before a reflector asks again: 0.8 s, doubled up to 30 s, times a random factor from 1 to 2. */
export class RetryDelay {
  readonly #clock: Clock
  readonly #backoff: ExponentialBackoff
  #lastAtMs = -Infinity

  constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock
    this.#backoff = new ExponentialBackoff({ random, baseMs: 800, maxMs: 30_000, jitter: { from: 1, by: 1 } })
  }

  /** Forgets the failures: there is reason to expect success. */
  reset(): void {
    this.#backoff.reset()
  }

  /** The next wait; never shorter than what the server asked for. */
  nextMs(retryAfterMs = 0): number {
    const now = this.#clock.monotonic()
    if (now - this.#lastAtMs > forgetMs) this.#backoff.reset()
    const delayMs = Math.max(this.#backoff.next(), retryAfterMs)
    this.#lastAtMs = now + delayMs
    return delayMs
  }
}

export class Watchdog {
  readonly #clock: Clock
  readonly #onSilence: () => void
  #limitMs: number
  #heardAtMs: number
  #cancel: Cancel = () => undefined

  constructor({ clock, limitMs, onSilence }: { clock: Clock; limitMs: number; onSilence: () => void }) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onSilence = onSilence
    this.#heardAtMs = clock.monotonic()
    this.#arm(limitMs)
  }

  /** Something arrived. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonic()
  }

  /** Sets another limit from now on. */
  allow(limitMs: number): void {
    this.#limitMs = limitMs
    this.heard()
    this.stop()
    this.#arm(limitMs)
  }

  stop(): void {
    this.#cancel()
  }

  #arm(inMs: number): void {
    this.#cancel = this.#clock.after(inMs, () => {
      const leftMs = this.#heardAtMs + this.#limitMs - this.#clock.monotonic()
      if (leftMs > 0) this.#arm(leftMs)
      else this.#onSilence()
    })
  }
}
