/**
 * Cancellation: everything that waits takes a signal, and leaves no listener behind.
 *
 * Internally we use `LightAbortController`: the contract of `AbortController` at a fraction of its price. A signal of
 * the platform is an event target with events, handlers and a registry of its own; most of ours have one listener,
 * which is never called. Code that waits by `onAbort` does not notice the difference.
 *
 *   our code ──light signal──▶ our code                          (`acceptLightSignals` marked it)
 *   our code ──light signal──▶ `signalFor` ──native signal──▶ user code, `fetch`, `AbortSignal.any`
 *
 * Light signals are internal: no public type mentions them, and user code always gets the platform's signal. A target
 * that may be either (a transport, a list-watch) is called with `signalFor(target, signal)`.
 *
 * Invariants: when a function of this file returns or its promise settles, it has removed every listener and timer that
 * it added; listeners of a light signal are called once, in order, also after one of them threw.
 */
import { setMaxListeners } from 'node:events'
import type { Cancel, Clock } from './clock.ts'

/** The last parameter of everything that waits. */
export interface AbortOptions {
  /** Ends the wait: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

/** Calls back once when the signal aborts, at once if it has. Returns a function that stops listening. */
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

/** A wrapper per listener, so that two listeners with the same function are both called. */
function listenTo(signal: LightAbortSignal, callback: (reason: unknown) => void): () => void {
  const listener = (reason: unknown): void => {
    callback(reason)
  }
  signal.listen(listener)
  return () => {
    signal.unlisten(listener)
  }
}

/** Signals with a listener of ours, and whether the limit of listeners was lifted. */
const awaitedSignals = new WeakMap<AbortSignal, boolean>()

/** Node warns about a leak from the eleventh listener on. Most signals have one, so the limit is lifted at the second. */
function allowManyListeners(signal: AbortSignal): void {
  const isLifted = awaitedSignals.get(signal)
  if (isLifted === true) return
  awaitedSignals.set(signal, isLifted !== undefined)
  if (isLifted !== undefined && signal instanceof EventTarget) setMaxListeners(0, signal)
}

/** The outcome of the promise, or the signal's reason if that comes first. The work behind the promise continues. */
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

/** Gives other work a turn; long loops call it now and then. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve)
  })
}

/** A signal that aborts after a time, or with another signal. `done` frees the timer. */
export interface Deadline {
  readonly signal: AbortSignal
  /** The same as a light signal, for code of ours that does not pass it on to user code. */
  readonly lightSignal: AbortSignal
  readonly done: () => void
}

/** The reason of a {@link deadline} that has passed. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** `AbortSignal.timeout` on the given clock. */
export function deadline(clock: Clock, delayMs: number, { signal }: AbortOptions = {}): Deadline {
  return new ClockDeadline(clock, delayMs, signal)
}

// A class: an object literal with a getter gets a hidden class of its own, which outlives it.
class ClockDeadline implements Deadline {
  readonly #stopper = new LightAbortController()
  readonly #cancel: Cancel
  readonly #unlisten: () => void

  constructor(clock: Clock, delayMs: number, signal: AbortSignal | undefined) {
    this.#cancel = clock.after(delayMs, () => {
      this.#end(new DeadlineError(`gave up after ${delayMs} ms`))
    })
    // An aborted signal calls back at once, before `#unlisten` is set.
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

type AbortCallback = (reason: unknown) => void
type AbortEventListener = ((event: Event) => void) | { handleEvent(event: Event): void }

/** Aborts a light signal. */
export class LightAbortController {
  readonly signal = new LightAbortSignal()

  /** The first reason stays. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.signal.fire(reason)
  }
}

class LightAbortSignal implements AbortSignal {
  aborted = false
  reason: unknown = undefined
  onabort: AbortSignal['onabort'] = null
  #first: AbortCallback | undefined
  #more: Set<AbortCallback> | undefined
  #wrapped: Map<unknown, AbortCallback> | undefined
  #real: AbortController | undefined

  /** The platform's signal that aborts with this one; always the same. */
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

  /** Calls back when it aborts; it must not have aborted yet. A function that was added twice is called once. */
  listen(callback: AbortCallback): void {
    if (!this.#first && !this.#more) this.#first = callback
    else (this.#more ??= new Set(this.#first ? [this.#first] : [])).add(callback)
  }

  unlisten(callback: AbortCallback): void {
    if (this.#first === callback) this.#first = undefined
    this.#more?.delete(callback)
  }

  fire(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    if (this.#more) for (const callback of this.#more) callSafely(callback, reason)
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
    const callback = (): void => {
      if (typeof listener === 'function') listener.call(this as never, new Event('abort'))
      else listener.handleEvent(new Event('abort'))
    }
    ;(this.#wrapped ??= new Map()).set(listener, callback)
    this.listen(callback)
  }

  removeEventListener(type: string, listener: AbortEventListener | null): void {
    const callback = type === 'abort' ? this.#wrapped?.get(listener) : undefined
    if (!callback) return
    this.#wrapped?.delete(listener)
    this.unlisten(callback)
  }

  dispatchEvent(): boolean {
    throw new TypeError('only its controller aborts a signal')
  }
}

/** The platform's signal for any signal. */
export function nativeSignal(signal: AbortSignal): AbortSignal {
  return signal instanceof LightAbortSignal ? signal.native : signal
}

/** The platform's signal that aborts with the first of these. */
export function anySignal(...signals: readonly AbortSignal[]): AbortSignal {
  return AbortSignal.any(signals.map(nativeSignal))
}

/** Functions and objects of ours that wait by `onAbort` only. A registry, so that no public type has to mention it. */
const lightTargets = new WeakSet()

/** Marks a target of ours: it gets light signals. With `like`, only if that target is marked: for wrappers. */
export function acceptLightSignals<T extends object>(target: T, { like }: { readonly like?: object } = {}): T {
  if (like === undefined || lightTargets.has(like)) lightTargets.add(target)
  return target
}

/** The signal to call a target with: as it is for a marked target, the platform's for any other. */
export function signalFor(target: object, signal: AbortSignal): AbortSignal {
  return lightTargets.has(target) ? signal : nativeSignal(signal)
}

/** An error of one listener concerns neither the caller of `abort` nor other listeners: it is thrown as Node does it. */
function callSafely(callback: AbortCallback, reason: unknown): void {
  try {
    callback(reason)
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
