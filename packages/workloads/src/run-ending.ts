/**
 * Ends one run, however many steps that takes: a step, then a wait for its exit or for the next look.
 *
 * Invariant: it comes to an end. A run that survives SIGKILL for a while is returned.
 */
import { onAbort, type Clock } from 'evenkeel/unstable/base'
import type { Run, RunOwner } from './runs.ts'
import type { StopPlan, TerminationStep } from './termination.ts'

export interface EndingPlan extends Partial<StopPlan> {
  /** Why, in one word. */
  readonly reason: string
  /** Aborted: no grace any more. @default never */
  readonly urgent?: AbortSignal
  /** Called with every step. */
  readonly onStep?: (step: TerminationStep) => void
}

/** What ends runs: the session. */
interface RunKeeper {
  end(uid: string, plan: StopPlan & { readonly reason: string }): Promise<TerminationStep>
  onChange(call: (owner: RunOwner, note: string) => void, options: { readonly uid: string }): () => void
}

/** How long survivors of SIGKILL are waited for. */
const extraMs = 5000
const graceMsDefault = 10_000

/** Returns the run when it cannot be ended. */
export async function endRun(
  keeper: RunKeeper,
  run: Run,
  { signal = 'SIGTERM', graceMs = graceMsDefault, reason, urgent, onStep, clock }: EndingOptions,
): Promise<Run | undefined> {
  const isUrgent = (): boolean => urgent?.aborted === true
  // From before the first step: its exit may be reported while a step is taken.
  const changes = new Changes(clock)
  let untilMs = clock.monotonic() + graceMs + extraMs
  const stops = [
    keeper.onChange(
      () => {
        changes.note()
      },
      { uid: run.owner.uid },
    ),
    onAbort(urgent, () => {
      untilMs = clock.monotonic() + extraMs
      changes.note()
    }),
  ]
  try {
    for (;;) {
      const step = await keeper.end(run.owner.uid, { signal, graceMs: isUrgent() ? 0 : graceMs, reason })
      onStep?.(step)
      if (step.isOver) return undefined
      if (clock.monotonic() >= untilMs) return run
      await changes.next(step.afterMs)
    }
  } finally {
    for (const stop of stops) stop()
  }
}

interface EndingOptions extends EndingPlan {
  readonly clock: Clock
}

/** Something has changed since the last look, or will within some time. */
class Changes {
  readonly #clock: Clock
  #hasChanged = false
  #wake: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(): void {
    this.#hasChanged = true
    this.#wake()
  }

  async next(afterMs: number): Promise<void> {
    if (!this.#hasChanged)
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(afterMs, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
    this.#hasChanged = false
  }
}
