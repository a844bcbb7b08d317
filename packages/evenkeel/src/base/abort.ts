/**
 * Cancellation: everything that can wait takes a signal, and leaves no listener behind.
 *
 * Invariant: when a function of this file returns or its promise settles, it has removed
 * every listener and timer it added.
 */
import { setMaxListeners } from 'node:events'
import type { Cancel, Clock } from './clock.ts'

/** What every call that can wait takes as its last parameter. */
export interface AbortOptions {
  /** Ends the wait; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Calls back once when the signal aborts, at once if it has; gives back how to stop listening. */
export function onAbort(signal: AbortSignal | undefined, callback: (reason: unknown) => void): () => void {
  if (!signal) return () => undefined
  if (signal.aborted) {
    callback(signal.reason)
    return () => undefined
  }
  if (signal instanceof LightAbortSignal) return listenTo(signal, callback)
  allowManyListeners(signal)
  const listener = (): void => {
    callback(signal.reason)
  }
  signal.addEventListener('abort', listener, { once: true })
  return () => {
    signal.removeEventListener('abort', listener)
  }
}

/** Each who listens is told, also if two give the same function. */
function listenTo(signal: LightAbortSignal, callback: (reason: unknown) => void): () => void {
  const called = (reason: unknown): void => {
    callback(reason)
  }
  signal.listen(called)
  return () => {
    signal.unlisten(called)
  }
}

/** Signals that somebody has waited on, and whether Node knows that they may be many. */
const awaitedSignals = new WeakMap<AbortSignal, boolean>()

/** Node takes more than ten listeners for a leak; many who wait on one signal are what signals are for. Most have one only. */
function allowManyListeners(signal: AbortSignal): void {
  const isTold = awaitedSignals.get(signal)
  if (isTold === true) return
  awaitedSignals.set(signal, isTold !== undefined)
  if (isTold !== undefined && signal instanceof EventTarget) setMaxListeners(0, signal)
}

/** The promise's outcome, or the signal's reason if that comes first. The work behind it goes on. */
export function abortable<T>(promise: Promise<T>, { signal }: AbortOptions = {}): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, reject)
    promise.then(
      (value) => {
        stop()
        resolve(value)
      },
      (error: unknown) => {
        stop()
        reject(error as Error)
      },
    )
  })
}

/** Waits on the given clock. */
export function sleep(clock: Clock, delayMs: number, { signal }: AbortOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const cancel = clock.after(delayMs, () => {
      stop()
      resolve()
    })
    const stop = onAbort(signal, (reason) => {
      cancel()
      reject(reason as Error)
    })
  })
}

/** Lets waiting input and other work go first; loops over many items call it now and then. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve)
  })
}

/** A signal that aborts after a while, or with the given one. `done` frees the timer. */
export interface Deadline {
  readonly signal: AbortSignal
  /** The same for our own code, which may not give it to others. */
  readonly lightSignal: AbortSignal
  readonly done: () => void
}

/** The reason of a {@link deadline} that ran out. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** `AbortSignal.timeout` on the given clock. */
export function deadline(clock: Clock, delayMs: number, { signal }: AbortOptions = {}): Deadline {
  return new ClockDeadline(clock, delayMs, signal)
}

// A class, because an object with a getter of its own has a shape of its own, which outlives it.
class ClockDeadline implements Deadline {
  readonly #stopper = new LightAbortController()
  readonly #cancel: Cancel
  readonly #unlisten: () => void

  constructor(clock: Clock, delayMs: number, signal: AbortSignal | undefined) {
    this.#cancel = clock.after(delayMs, () => {
      this.#end(new DeadlineError(`gave up after ${delayMs} ms`))
    })
    // A signal that has aborted calls back at once, before there is anything to stop listening to.
    this.#unlisten = onAbort(signal, (reason) => {
      this.#cancel()
      this.#stopper.abort(reason)
    })
  }

  get signal(): AbortSignal {
    return this.#stopper.signal.native
  }

  get lightSignal(): AbortSignal {
    return this.#stopper.signal
  }

  readonly done = (): void => {
    this.#cancel()
    this.#unlisten()
  }

  #end(reason: unknown): void {
    this.done()
    this.#stopper.abort(reason)
  }
}

/*
 * `AbortController` for what stays among ourselves: the same contract at a fraction of its price.
 *
 * A signal of Node is an event target, with events, handlers and a registry of its own; most of ours have one listener,
 * which is never called. Who waits by `onAbort` does not notice the difference.
 *
 * Invariants: listeners are called once, in order, each even if one before it threw; a signal from here is never given to
 * the code of others, as `fetch` and `AbortSignal.any` accept only Node's: they get {@link nativeSignal}.
 */

type AbortCallback = (reason: unknown) => void
type AbortEventListener = ((event: Event) => void) | { handleEvent(event: Event): void }

/** Aborts a signal that nobody but our own code looks at. */
export class LightAbortController {
  readonly signal = new LightAbortSignal()

  /** The first reason stays. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.signal.fire(reason)
  }
}

export class LightAbortSignal implements AbortSignal {
  aborted = false
  reason: unknown = undefined
  onabort: AbortSignal['onabort'] = null
  #first: AbortCallback | undefined
  #more: Set<AbortCallback> | undefined
  #wrapped: Map<unknown, AbortCallback> | undefined
  #real: AbortController | undefined

  /** Node's own signal that aborts with this one, always the same. */
  get native(): AbortSignal {
    if (!this.#real) {
      const real = (this.#real = new AbortController())
      if (this.aborted) real.abort(this.reason)
      else
        this.listen((reason) => {
          real.abort(reason)
        })
    }
    return this.#real.signal
  }

  /** Calls back when it aborts, which it has not. The same function is called once however often it was given. */
  listen(called: AbortCallback): void {
    if (!this.#first && !this.#more) this.#first = called
    else (this.#more ??= new Set(this.#first ? [this.#first] : [])).add(called)
  }

  unlisten(called: AbortCallback): void {
    if (this.#first === called) this.#first = undefined
    this.#more?.delete(called)
  }

  fire(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    if (this.#more) for (const called of this.#more) callSafely(called, reason)
    else if (this.#first) callSafely(this.#first, reason)
    this.#first = this.#more = this.#wrapped = undefined
    if (this.onabort)
      callSafely(() => {
        this.onabort?.call(this, new Event('abort') as never)
      }, reason)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason as Error
  }

  addEventListener(type: string, listener: AbortEventListener | null): void {
    if (type !== 'abort' || listener === null || this.aborted || this.#wrapped?.has(listener)) return
    const called = (): void => {
      if (typeof listener === 'function') listener.call(this as never, new Event('abort'))
      else listener.handleEvent(new Event('abort'))
    }
    ;(this.#wrapped ??= new Map()).set(listener, called)
    this.listen(called)
  }

  removeEventListener(type: string, listener: AbortEventListener | null): void {
    const called = type === 'abort' ? this.#wrapped?.get(listener) : undefined
    if (!called) return
    this.#wrapped?.delete(listener)
    this.unlisten(called)
  }

  dispatchEvent(): boolean {
    throw new TypeError('only its Stopper aborts a signal')
  }
}

/** A signal as the code of others needs it. */
export function nativeSignal(signal: AbortSignal): AbortSignal {
  return signal instanceof LightAbortSignal ? signal.native : signal
}

/** Node's own signal that aborts with the first of these, whoever made them. */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  return AbortSignal.any(signals.map(nativeSignal))
}

/** What one listener throws is not for those who abort, and not for the other listeners: it goes where Node's goes. */
function callSafely(called: AbortCallback, reason: unknown): void {
  try {
    called(reason)
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
