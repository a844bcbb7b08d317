/**
 * A deliberately naive store: the whole content after every revision, in a list.
 *
 * It is slow and simple enough to be obviously correct; engines are compared with it.
 * Values are byte strings (latin1), so that differences are readable.
 */
import { ContentHash } from 'evenkeel/unstable/store'
import type { Change, Check, Entry, Write } from 'evenkeel/unstable/store'

/** An entry that can be compared and printed. */
export interface PlainEntry {
  readonly key: string
  readonly value: string
  readonly revision: number
  readonly created: number
  readonly lease?: string
}

export interface PlainChange {
  readonly key: string
  readonly revision: number
  readonly entry?: PlainEntry
  readonly previous?: PlainEntry
}

type Contents = ReadonlyMap<string, PlainEntry>

export class StoreModel {
  readonly #states: { readonly revision: number; readonly contents: Contents }[]
  readonly changes: PlainChange[] = []
  compacted = 0

  constructor(startRevision: number) {
    this.#states = [{ revision: startRevision, contents: new Map() }]
  }

  /** The revision of the last commit, or the initial one. */
  get head(): number {
    return this.#last.revision
  }

  /** The initial revision and every committed one. */
  get revisions(): readonly number[] {
    return this.#states.map(({ revision }) => revision)
  }

  /** The first condition that does not hold now, writes before checks. */
  conflict(conditions: readonly (Write | Check)[]): { key: string; current: PlainEntry | undefined } | undefined {
    for (const { key, expect } of conditions) {
      const current = this.#last.contents.get(key)
      if ((current?.revision ?? 0) !== expect) return { key, current }
    }
    return undefined
  }

  /** Writes without checks. */
  commit(writes: readonly Omit<Write, 'expect'>[], revision: number): void {
    const contents = new Map(this.#last.contents)
    for (const write of writes) {
      const previous = contents.get(write.key)
      const entry = entryOf(write, revision, previous)
      if (entry) contents.set(write.key, entry)
      else contents.delete(write.key)
      this.changes.push({ key: write.key, revision, ...(entry && { entry }), ...(previous && { previous }) })
    }
    this.#states.push({ revision, contents })
  }

  get(key: string, revision = this.head): PlainEntry | undefined {
    return this.#at(revision).get(key)
  }

  range(prefix: string, revision = this.head): PlainEntry[] {
    return [...this.#at(revision).values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  changesAfter(revision: number, prefix = ''): PlainChange[] {
    return this.changes.filter((change) => change.revision > revision && change.key.startsWith(prefix))
  }

  hash(prefix: string, revision = this.head): string {
    const hash = new ContentHash()
    for (const { value, ...entry } of this.range(prefix, revision))
      hash.add({ ...entry, value: Buffer.from(value, 'latin1') })
    return hash.digest()
  }

  /** After a crash or a restart: the same content, at an equal or higher revision. */
  moveTo(revision: number): void {
    if (revision > this.head) this.#states.push({ revision, contents: this.#last.contents })
  }

  get #last(): { readonly revision: number; readonly contents: Contents } {
    const last = this.#states.at(-1)
    if (!last) throw new Error('a model has at least its initial state')
    return last
  }

  #at(revision: number): Contents {
    return this.#states.findLast((state) => state.revision <= revision)?.contents ?? new Map()
  }
}

function entryOf(
  { key, value, stampAt, lease }: Omit<Write, 'expect'>,
  revision: number,
  previous: PlainEntry | undefined,
): PlainEntry | undefined {
  if (!value) return undefined
  const text = Buffer.from(value).toString('latin1')
  const stamped = stampAt === undefined ? text : `${text.slice(0, stampAt)}${revision}${text.slice(stampAt)}`
  return {
    key,
    value: stamped,
    revision,
    created: previous?.created ?? revision,
    ...(lease !== undefined && { lease }),
  }
}

/** An entry of a store as the model has it. */
export function plainEntry(entry: Entry): PlainEntry
export function plainEntry(entry: Entry | undefined): PlainEntry | undefined
export function plainEntry(entry: Entry | undefined): PlainEntry | undefined {
  return entry && { ...entry, value: Buffer.from(entry.value).toString('latin1') }
}

/** A change of a watch as the model has it. */
export function plainChange({ key, revision, entry, previous }: Change): PlainChange {
  return {
    key,
    revision,
    ...(entry && { entry: plainEntry(entry) }),
    ...(previous && { previous: plainEntry(previous) }),
  }
}
