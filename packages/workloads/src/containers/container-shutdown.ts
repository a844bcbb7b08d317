/**
 * The end of containers with the program: each with its signal and its grace period, when the shutdown says that it is its turn.
 *
 *   runs, of this session ──▶ signal ──▶ looks until it has ended ──▶ Stopped
 *                               └── grace is over, or a hurry ──▶ SIGKILL ──▶ Killed; still there: Survived
 *
 * What has ended is removed afterwards, with the networks and volumes: see containers.ts.
 *
 * Invariants: an end takes its grace period and five seconds at most, and five seconds from a hurry on, also when the runtime does not
 * answer; `Stopped` and `Killed` are said of a container that the runtime shows as ended.
 */
import { onAbort, type Clock } from 'evenkeel/unstable/base'
import type { RunOwner } from '../runs.ts'
import type { StopPlan } from '../termination.ts'
import { labelOf, ownerOf, parseRunLabel } from './container-labels.ts'
import { ignoringEnd, type ContainerRuntime, type ContainerState } from './container-runtime.ts'

/** A container that runs while the program ends. */
export interface EndingContainer {
  readonly owner: RunOwner
  /** It is persistent, and goes on. */
  readonly isKept: boolean
  end(options: EndOptions): Promise<ContainerEnd>
}

interface EndOptions extends Partial<StopPlan> {
  /** Aborted: no grace any more. */
  readonly hurry: AbortSignal
}

interface ContainerEnd {
  readonly outcome: 'Stopped' | 'Killed' | 'Survived'
  /** Why it is still there. */
  readonly message?: string
}

interface ShutdownRuntime {
  readonly runtime: ContainerRuntime
  readonly clock: Clock
  /** Called before the container of an object gets its signal. */
  readonly onEnd: (uid: string) => void
}

/** How long survivors of SIGKILL are waited for. */
const extraMs = 5000
/** How soon to look again: the end of a container is not reported to us. */
const [lookMsMin, lookMsMax] = [20, 500]

/** The containers of a session that run. */
export async function findRunning(session: string, options: ShutdownRuntime): Promise<readonly EndingContainer[]> {
  const listed = await options.runtime.listContainers({ [labelOf.session]: session })
  return listed.flatMap(({ id, state, labels }) => {
    const owner = ownerOf(labels)
    if (!owner || isOver(state)) return []
    const graceMs = 1000 * (parseRunLabel(labels)?.graceSeconds ?? 0)
    return {
      owner,
      isKept: labels[labelOf.lifetime] === 'persistent',
      end: (plan: EndOptions) => {
        options.onEnd(owner.uid)
        return new ContainerEnding(id, { signal: 'SIGTERM', graceMs, ...plan, ...options }).run()
      },
    }
  })
}

/** The result of a call of the runtime. @throws what it throws, or that it takes more than five seconds after a hurry */
export async function withinHurry<T>(
  call: Promise<T>,
  { hurry, clock }: { readonly hurry: AbortSignal | undefined; readonly clock: Clock },
): Promise<T> {
  let cancel = (): void => undefined
  let stopListening = (): void => undefined
  const late = new Promise<never>((_, reject) => {
    stopListening = onAbort(hurry, () => {
      cancel = clock.after(extraMs, () => {
        reject(
          new Error('the container runtime does not answer: the next Evenkeel in this folder removes what is left'),
        )
      })
    })
  })
  try {
    return await Promise.race([call, late])
  } finally {
    stopListening()
    cancel()
  }
}

type EndingOptions = StopPlan & EndOptions & Pick<ShutdownRuntime, 'runtime' | 'clock'>

class ContainerEnding {
  readonly #id: string
  readonly #options: EndingOptions
  readonly #graceUntilMs: number
  #hasSignal = false
  #isKilled = false
  #isLate = false
  #problem = 'the container runtime does not answer'

  constructor(id: string, options: EndingOptions) {
    this.#id = id
    this.#options = options
    this.#graceUntilMs = options.clock.monotonic() + options.graceMs
  }

  async run(): Promise<ContainerEnd> {
    const { clock, hurry, graceMs } = this.#options
    let report: (end: ContainerEnd) => void = () => undefined
    const late = new Promise<ContainerEnd>((resolve) => {
      report = resolve
    })
    const giveUp = (): void => {
      this.#isLate = true
      report({ outcome: 'Survived', message: this.#problem })
    }
    const cancels = [clock.after(graceMs + extraMs, giveUp)]
    const stopListening = onAbort(hurry, () => {
      cancels.push(clock.after(extraMs, giveUp))
    })
    try {
      return await Promise.race([this.#untilOver(), late])
    } finally {
      stopListening()
      for (const cancel of cancels) cancel()
    }
  }

  async #untilOver(): Promise<ContainerEnd> {
    for (let lookMs = 0; !this.#isLate; lookMs = Math.min(lookMsMax, lookMs * 2 || lookMsMin)) {
      try {
        if (await this.#step()) return { outcome: this.#isKilled ? 'Killed' : 'Stopped' }
      } catch (error) {
        this.#problem = error instanceof Error ? error.message : String(error)
      }
      if (lookMs > 0) await this.#wait(lookMs)
    }
    return { outcome: 'Survived', message: this.#problem }
  }

  /** Whether it has ended. */
  async #step(): Promise<boolean> {
    const { runtime, clock, hurry, signal } = this.#options
    const found = await runtime.findContainer(this.#id)
    if (!found || isOver(found.state)) return true
    this.#problem = 'it does not end after SIGKILL'
    const isUrgent = hurry.aborted || clock.monotonic() >= this.#graceUntilMs
    if (this.#hasSignal && !isUrgent) return false
    // A container that is paused receives no signal.
    if (found.state === 'paused') await ignoringEnd(runtime.unpauseContainer(this.#id))
    await ignoringEnd(runtime.killContainer(this.#id, isUrgent ? 'SIGKILL' : signal))
    this.#hasSignal = true
    this.#isKilled ||= isUrgent
    return false
  }

  /** Until the next look, the end of the grace period, or a hurry. */
  async #wait(lookMs: number): Promise<void> {
    const { clock, hurry } = this.#options
    const graceLeftMs = this.#graceUntilMs - clock.monotonic()
    let cancel = (): void => undefined
    let stopListening = (): void => undefined
    await new Promise<void>((resolve) => {
      cancel = clock.after(graceLeftMs > 0 ? Math.min(lookMs, graceLeftMs) : lookMs, resolve)
      if (!hurry.aborted)
        stopListening = onAbort(hurry, () => {
          resolve()
        })
    })
    cancel()
    stopListening()
  }
}

function isOver(state: ContainerState): boolean {
  return state === 'exited' || state === 'created' || state === 'removing'
}
