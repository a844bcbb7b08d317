/**
 * One reconcile under way: its signal, and what it works on.
 */
import type { Cancel, Clock } from '#base'
import type { KubeObject } from '#api'
import type { RunRecord } from '../ledger/run-record.ts'
import type { ObjectFields } from './log-fields.ts'
import { RunAborted } from './run-aborted.ts'
import type { AbortReason } from './run-aborted.ts'

interface RunOptions {
  readonly fields: ObjectFields
  readonly clock: Clock
  readonly timeoutMs: number | undefined
  readonly onTimeout: () => void
}

export class Run {
  readonly startedMs: number
  readonly #clock: Clock
  readonly #controller = new AbortController()
  readonly #cancelTimeout: Cancel
  /** Its place in the ledger, once it has begun. */
  record: RunRecord | undefined
  /** The object as the run got it; a run by key alone has none. */
  object: KubeObject | undefined
  /** Which object it is, for the log. */
  readonly fields: ObjectFields
  /** A cleanup expects its object to be on its way out. */
  isCleanup = false

  constructor({ fields, clock, timeoutMs, onTimeout }: RunOptions) {
    this.fields = fields
    this.#clock = clock
    this.startedMs = clock.monotonic()
    this.#cancelTimeout =
      timeoutMs === undefined
        ? () => undefined
        : clock.after(timeoutMs, () => {
            if (this.signal.aborted) return
            onTimeout()
            this.abort(new RunAborted('timeout'))
          })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why it was told to end; undefined while it was not. */
  get abortedFor(): AbortReason | undefined {
    return this.signal.aborted ? (this.signal.reason as RunAborted).abortReason : undefined
  }

  get durationMs(): number {
    return this.#clock.monotonic() - this.startedMs
  }

  /** The first reason stays. */
  abort(reason: RunAborted): void {
    this.#cancelTimeout()
    this.#controller.abort(reason)
  }

  done(): void {
    this.#cancelTimeout()
  }
}
