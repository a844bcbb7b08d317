/**
 * Something that is wrong for a while: what is asked for meanwhile is refused, and then it is over.
 */
import type { Refusal } from '../../life/answers.ts'
import type { Asked } from '../../life/asked.ts'
import type { Fate, Point } from '../../life/effect.ts'

export interface Trouble {
  /** What ends it: the next rest, making everything well, or only itself. @default 'rest' */
  readonly lasts?: 'rest' | 'healing' | 'itself'
  /** What becomes of an effect or a look; undefined when it is not concerned. */
  fate?(point: Pick<Point, 'about' | 'asked' | 'call' | 'life' | 'request' | 'type'>): Fate | undefined
  /** What the server says to any request of a process, watches too; undefined when it is not concerned. */
  answer?(asked: Asked): Refusal | undefined
  end?(): void | Promise<void>
}

/** All troubles of a world at this moment. */
export class Troubles {
  readonly #troubles = new Set<Trouble>()

  add(trouble: Trouble): void {
    this.#troubles.add(trouble)
  }

  fateOf(point: Parameters<NonNullable<Trouble['fate']>>[0]): Fate | undefined {
    for (const trouble of this.#troubles) {
      const fate = trouble.fate?.(point)
      if (fate) return fate
    }
    return undefined
  }

  get isAnswering(): boolean {
    for (const { answer } of this.#troubles) if (answer) return true
    return false
  }

  answerTo(asked: Asked): Refusal | undefined {
    for (const trouble of this.#troubles) {
      const answer = trouble.answer?.(asked)
      if (answer) return answer
    }
    return undefined
  }

  /** Those that a rest ends, or all of them. @returns whether there was any */
  async end({ all = false } = {}): Promise<boolean> {
    const over = [...this.#troubles].filter(({ lasts = 'rest' }) => lasts === 'rest' || (all && lasts === 'healing'))
    for (const trouble of over) {
      this.#troubles.delete(trouble)
      await trouble.end?.()
    }
    return over.length > 0
  }
}
