/**
 * Something that is wrong for a while: what is asked for meanwhile is refused, and then it is over.
 */
import type { ErrorResponse } from '../../life/answers.ts'
import type { RequestInfo } from '../../life/asked.ts'
import type { RequestDecision, Interaction } from '../../life/effect.ts'

export interface Fault {
  /** What ends it: the next rest, making everything well, or only itself. @default 'rest' */
  readonly endsAt?: 'rest' | 'healing' | 'itself'
  /** What becomes of an effect or a look; undefined when it is not concerned. */
  decide?(
    point: Pick<Interaction, 'about' | 'requestInfo' | 'call' | 'process' | 'request' | 'type'>,
  ): RequestDecision | undefined
  /** What the server says to any request of a process, watches too; undefined when it is not concerned. */
  respond?(requestInfo: RequestInfo): ErrorResponse | undefined
  end?(): void | Promise<void>
}

/** All troubles of a world at this moment. */
export class ActiveFaults {
  readonly #faults = new Set<Fault>()

  add(fault: Fault): void {
    this.#faults.add(fault)
  }

  decisionFor(point: Parameters<NonNullable<Fault['decide']>>[0]): RequestDecision | undefined {
    for (const fault of this.#faults) {
      const fate = fault.decide?.(point)
      if (fate) return fate
    }
    return undefined
  }

  get hasServerErrors(): boolean {
    for (const { respond: answer } of this.#faults) if (answer) return true
    return false
  }

  errorFor(requestInfo: RequestInfo): ErrorResponse | undefined {
    for (const fault of this.#faults) {
      const answer = fault.respond?.(requestInfo)
      if (answer) return answer
    }
    return undefined
  }

  /** Those that a rest ends, or all of them. @returns whether there was any */
  async end({ all = false } = {}): Promise<boolean> {
    const over = [...this.#faults].filter(
      ({ endsAt: lasts = 'rest' }) => lasts === 'rest' || (all && lasts === 'healing'),
    )
    for (const fault of over) {
      this.#faults.delete(fault)
      await fault.end?.()
    }
    return over.length > 0
  }
}
