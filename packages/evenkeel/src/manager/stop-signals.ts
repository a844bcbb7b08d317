/**
 * SIGTERM and SIGINT: the first one stops the process gracefully, the second one ends it at once.
 *
 * One Ctrl-C often arrives twice, from the terminal and from the parent process, so signals within 100 ms count as one.
 */
import { SystemClock } from '#base'
import type { Clock } from '#base'

/** The part of `process` that is used. */
export interface SignalledProcess {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  off(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): void
}

/** Dispose it to remove the signal handlers. */
export interface StopSignal extends Disposable {
  /** Aborts on the first SIGTERM or SIGINT; the second one exits the process with code 1. */
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
      controller.abort(new Error('the process received SIGTERM or SIGINT'))
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
