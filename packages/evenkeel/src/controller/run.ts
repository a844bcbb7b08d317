/**
 * One run of a key, from the moment a worker takes it until it is reported.
 *
 * It holds what the stages of `worker.ts` learn about the run, and the abort signal that the reconcile gets. The signal
 * is the platform's own, as it goes to user code.
 */
import { parseKey, type KubeObject, type ObjectKey } from '#api'
import type { Cancel, Clock } from '#base'
import type { WorkItem } from '#queue'
import { RunAborted, type AbortReason } from './errors.ts'
import type { Cause, RunCause, RunRecord } from './run-record.ts'

interface RunOptions {
  readonly clock: Clock
  readonly timeoutMs: number | undefined
  readonly onTimeout: () => void
}

/** An object in the log: the same two fields in every line. */
interface ObjectFields {
  readonly kind: string
  /** `namespace/name`, or the name alone. */
  readonly object: string
}

export class Run {
  /** What the queue handed out: the key as text, its priority and its reasons. */
  readonly item: WorkItem<Cause>
  readonly key: ObjectKey
  readonly fields: ObjectFields
  /** How often the key failed in a row before this run. */
  attempt = 0
  causes: readonly RunCause[] = []
  /** How often the key has caused itself in a row; see `hot-loops.ts`. */
  rounds = 0
  /** The entry in the ledger; undefined until every gate has let the run pass. */
  record: RunRecord | undefined
  /** The object as the reconcile got it; a run by key alone has none. */
  object: KubeObject | undefined
  /** Whether the object is being deleted and its cleanup runs. */
  isCleanup = false
  readonly #clock: Clock
  readonly #startedMs: number
  readonly #controller = new AbortController()
  readonly #cancelTimeout: Cancel

  constructor(item: WorkItem<Cause>, { clock, timeoutMs, onTimeout }: RunOptions) {
    this.item = item
    this.key = parseKey(item.key)
    const { kind, namespace, name } = this.key
    this.fields = { kind, object: namespace === undefined ? name : `${namespace}/${name}` }
    this.#clock = clock
    this.#startedMs = clock.monotonic()
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

  /** Why it was aborted; undefined while it was not. */
  get abortedFor(): AbortReason | undefined {
    return this.signal.aborted ? (this.signal.reason as RunAborted).abortReason : undefined
  }

  /** Whether it was cut short for a reason outside of the run; a timeout is its own fault. */
  get isCancelled(): boolean {
    const { abortedFor } = this
    return abortedFor !== undefined && abortedFor !== 'timeout'
  }

  get durationMs(): number {
    return this.#clock.monotonic() - this.#startedMs
  }

  /** The first reason stays. */
  abort(reason: RunAborted): void {
    this.#cancelTimeout()
    this.#controller.abort(reason)
  }

  /** Cancels the timeout. */
  end(): void {
    this.#cancelTimeout()
  }
}
