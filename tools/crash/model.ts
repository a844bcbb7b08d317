/**
 * The expected content of a store after each of a series of commits, and the comparison with a recovered store.
 *
 * The commits of a run are numbered in the order of submission, which is the order in which the store
 * applies them. After a crash a correct store contains exactly the first n of them, for some n
 * that is at least the number of acknowledged ones.
 */
import { crc32 } from 'node:zlib'
import type { Entry } from 'evenkeel/unstable/store'

/** One submitted write of a commit. */
export interface Step {
  readonly key: string
  readonly value: Buffer | undefined
}

/** The relation of a recovered store to the acknowledged commits. */
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

  /** The number of submitted commits. */
  get length(): number {
    return this.#states.length - 1
  }

  /** The revision that a writer must expect at this key. */
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

  /** Compares the recovered content with `acked` of `submitted` commits. */
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
