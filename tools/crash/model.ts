/**
 * What a store should hold after each of a row of commits, and how a recovered store compares.
 *
 * The commits of a run are numbered in the order they were submitted, which is the order the store
 * applies them in. After a crash a correct store holds exactly the first n of them, for some n
 * that is at least the number that was acknowledged.
 */
import { crc32 } from 'node:zlib'
import type { Entry } from 'evenkeel/unstable/store'

/** One write of a commit, as it was submitted. */
export interface Step {
  readonly key: string
  readonly value: Buffer | undefined
}

/** How a recovered store relates to what was acknowledged. */
export type Verdict = 'right' | 'lost' | 'garbage'

export class Model {
  /** The text of the state after each commit; `#states[0]` is the empty store. */
  readonly #states: string[]
  readonly #lines: Map<string, { revision: number; created: number; line: string }>

  constructor(entries: readonly Entry[] = []) {
    this.#lines = new Map(
      entries.map((entry) => [entry.key, { revision: entry.revision, created: entry.created, line: lineOf(entry) }]),
    )
    this.#states = [textOf([...this.#lines.values()].map(({ line }) => line))]
  }

  /** How many commits were submitted. */
  get length(): number {
    return this.#states.length - 1
  }

  /** The revision a writer has to expect at this key. */
  expect(key: string): number {
    return this.#lines.get(key)?.revision ?? 0
  }

  /** Records a commit at the revision it will get. */
  submit(steps: readonly Step[], revision: number): void {
    for (const { key, value } of steps) {
      const created = this.#lines.get(key)?.created ?? revision
      if (value) this.#lines.set(key, { revision, created, line: lineOf({ key, value, revision, created }) })
      else this.#lines.delete(key)
    }
    this.#states.push(textOf([...this.#lines.values()].map(({ line }) => line)))
  }

  /** Judges what was found when `acked` of the `submitted` commits had been acknowledged. */
  judge(entries: readonly Entry[], { acked, submitted }: { acked: number; submitted: number }): Verdict {
    const found = textOf(entries.map(lineOf))
    for (let count = submitted; count >= acked; count--) if (this.#states[count] === found) return 'right'
    return this.#states.slice(0, acked).includes(found) ? 'lost' : 'garbage'
  }
}

function lineOf({ key, value, revision, created }: Entry): string {
  return `${key} ${revision} ${created} ${value.length} ${crc32(value)}`
}

function textOf(lines: readonly string[]): string {
  return [...lines].sort().join('\n')
}
