/**
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
