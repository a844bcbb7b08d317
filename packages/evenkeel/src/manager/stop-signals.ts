/**
 * The signals by which a process is told to stop: the first is a request, the second an order.
 *
 * One Ctrl-C often arrives twice, from the terminal and from whatever started the process, so what comes within a
 * moment counts as one.
 */
import { SystemClock } from '#base'
import type { Clock } from '#base'

/** What of a process is needed; `process` itself has it. */
export interface SignalledProcess {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  off(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): void
}

/** Dispose of it to stop listening. */
export interface StopSignal extends Disposable {
  /** Aborts with the first SIGTERM or SIGINT; the second ends the process with code 1. */
  readonly signal: AbortSignal
}

const names = ['SIGTERM', 'SIGINT'] as const
const togetherMs = 100

export function stopSignal(
  target: SignalledProcess = process,
  { clock = new SystemClock() }: { clock?: Clock } = {},
): StopSignal {
  const controller = new AbortController()
  let firstMs = -Infinity
  const listener = (): void => {
    if (!controller.signal.aborted) {
      firstMs = clock.monotonic()
      controller.abort(new Error('the process was told to stop'))
    } else if (clock.monotonic() - firstMs >= togetherMs) target.exit(1)
  }
  for (const name of names) target.on(name, listener)
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of names) target.off(name, listener)
    },
  }
}
