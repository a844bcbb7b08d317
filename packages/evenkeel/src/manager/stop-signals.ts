/**
 * The signals by which a process is told to stop: the first is a request, the second an order.
 */

/** What of a process is needed; `process` itself has it. */
export interface SignalledProcess {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  off(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): void
}

/** A signal that aborts with the first SIGTERM or SIGINT; the second ends the process with code 1. Dispose of it to stop listening. */
export interface StopSignal extends Disposable {
  readonly signal: AbortSignal
}

export function stopSignal(target: SignalledProcess = process): StopSignal {
  const controller = new AbortController()
  const listener = (): void => {
    if (controller.signal.aborted) target.exit(1)
    else controller.abort(new Error('the process was told to stop'))
  }
  for (const name of names) target.on(name, listener)
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of names) target.off(name, listener)
    },
  }
}

const names = ['SIGTERM', 'SIGINT'] as const
