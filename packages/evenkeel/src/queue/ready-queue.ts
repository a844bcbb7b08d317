/**
 * The keys that are ready to be taken, and which one is next.
 *
 *   priority    0:  d ─ e         The first key of the highest priority is next. But every eighth turn (`agedTurns`) goes
 *   priority −100:  a ─ b ─ c     to the oldest key that is first in its priority, if it is older than `agedMs`.
 *
 * Inside a priority the order is first in, first out. With priorities alone, an endless stream of high ones would starve
 * the rest; if keys rose in priority as they age, a fresh change would wait behind a long start-up backlog. So old keys
 * get a share of the turns instead. Worked example with `agedTurns` 3 and `agedMs` 10 s; a, b, c became ready at second
 * 0 with priority −100, and new keys of priority 0 (d, e, f …) never run out; turns are at seconds 11, 12, 13 …:
 *
 *   turn    1   2   3   4   5   6   7   8   9
 *   taken   d   e   a   f   g   b   h   i   c
 *
 * Each priority is a linked list (`Fifo`): push at the end, delete from anywhere, each in O(1) and without allocation.
 * The links are fields of the entries, because there may be a hundred thousand of them and every object less per key
 * saves time of the garbage collector.
 *
 * An `Entry` is one key that is not idle: what comes next for it, and whether a worker has it now.
 *
 * Invariants: an entry is in at most one list. Of any `agedTurns` turns in a row, one goes to the oldest of the first
 * keys, if it is aged; so a key that became ready after `n` others is taken within `(n + 1) * agedTurns` turns, counted
 * from when it has been ready for `agedMs`. Priority and reasons belong to the next run: they are reset when a worker
 * takes the key. While `next` is `none`, a worker has the key.
 */
import { assert, Heap } from '#base'

/** An element of a {@link Fifo}, which owns these fields. */
abstract class FifoNode {
  list: Fifo<this> | undefined = undefined
  before: this | undefined = undefined
  after: this | undefined = undefined
}

class Fifo<T extends FifoNode> {
  #first: T | undefined
  #last: T | undefined

  /** The oldest element. */
  get first(): T | undefined {
    return this.#first
  }

  join(one: T): void {
    assert(one.list === undefined, 'an element is in at most one list')
    one.list = this
    one.before = this.#last
    if (this.#last) this.#last.after = one
    else this.#first = one
    this.#last = one
  }

  leave(one: T): void {
    assert(one.list === this, 'an element is deleted from its own list')
    if (one.before) one.before.after = one.after
    else this.#first = one.after
    if (one.after) one.after.before = one.before
    else this.#last = one.before
    one.list = one.before = one.after = undefined
  }
}

export interface AgeingOptions {
  /**
   * How long a key is ready before it counts as aged.
   *
   * @default 10_000
   */
  agedMs?: number | undefined
  /**
   * Of so many turns one goes to the key that is ready longest, if it is aged; with 1, age beats priority.
   *
   * @default 8
   */
  agedTurns?: number | undefined
}

/** An element that can be ready. */
export abstract class ReadyNode extends FifoNode {
  abstract readonly priority: number
  /** When it became ready, on the monotonic clock. */
  readyMs = 0
}

interface PriorityLevel<T extends ReadyNode> {
  readonly priority: number
  readonly fifo: Fifo<T>
}

export class ReadyQueue<T extends ReadyNode> {
  readonly #levels = new Map<number, PriorityLevel<T>>()
  readonly #byPriority = new Heap<PriorityLevel<T>>((a, b) => b.priority - a.priority)
  readonly #agedMs: number
  readonly #agedTurns: number
  #turn = 0
  #size = 0

  constructor({ agedMs = 10_000, agedTurns = 8 }: AgeingOptions = {}) {
    if (!(agedMs >= 0)) throw new RangeError(`agedMs must be 0 or more, got ${agedMs}`)
    if (!(Number.isInteger(agedTurns) && agedTurns >= 1))
      throw new RangeError(`agedTurns must be a whole number of 1 or more, got ${agedTurns}`)
    this.#agedMs = agedMs
    this.#agedTurns = agedTurns
  }

  get size(): number {
    return this.#size
  }

  /** Adds an element at the end of its priority. */
  push(one: T): void {
    this.#levelOf(one.priority).fifo.join(one)
    this.#size++
  }

  /** Deletes an element; `priority` is the one it was pushed with. */
  delete(one: T, priority: number): void {
    const level = this.#levelOf(priority)
    level.fifo.leave(one)
    this.#size--
    // The last level may stay empty: most queues have one, and it is about to be used again.
    if (level.fifo.first === undefined && this.#byPriority.size > 1) this.#drop(level)
  }

  /** Takes the next element out. */
  shift(nowMs: number): T | undefined {
    if (this.#size === 0) return undefined
    this.#turn = (this.#turn + 1) % this.#agedTurns
    const next = (this.#turn === 0 ? this.#aged(nowMs) : undefined) ?? this.#highest()
    this.delete(next, next.priority)
    return next
  }

  /** The oldest element, if it is aged. One comparison per priority, and only on every `agedTurns`-th turn. */
  #aged(nowMs: number): T | undefined {
    let oldest: T | undefined
    for (const {
      fifo: { first },
    } of this.#levels.values()) {
      if (first && (oldest === undefined || isBefore(first, oldest))) oldest = first
    }
    return oldest && nowMs - oldest.readyMs >= this.#agedMs ? oldest : undefined
  }

  #highest(): T {
    let level = this.#byPriority.peek()
    if (level && level.fifo.first === undefined) {
      this.#drop(level)
      level = this.#byPriority.peek()
    }
    const first = level?.fifo.first
    assert(first !== undefined, 'a ready element is in the list of its priority')
    return first
  }

  #levelOf(priority: number): PriorityLevel<T> {
    const known = this.#levels.get(priority)
    if (known) return known
    const level = { priority, fifo: new Fifo<T>() }
    this.#levels.set(priority, level)
    this.#byPriority.push(level)
    return level
  }

  #drop(level: PriorityLevel<T>): void {
    this.#levels.delete(level.priority)
    this.#byPriority.delete(level)
  }
}

/** By age. Of two that became ready at the same time, the higher priority wins, so that a run can be repeated. */
function isBefore(one: ReadyNode, other: ReadyNode): boolean {
  return one.readyMs < other.readyMs || (one.readyMs === other.readyMs && one.priority > other.priority)
}

/** A key to work on, and the reasons. */
export interface WorkItem<Reason = string> {
  readonly key: string
  readonly priority: number
  /** Why it was added since it was last taken; oldest first, each once. */
  readonly reasons: readonly Reason[]
  /** Adds whose reasons were left out because there were too many. */
  readonly reasonsLeftOut: number
}

/** What a queue knows of a key that is not idle. */
export interface KeyState<Reason = string> extends WorkItem<Reason> {
  /** What happens to it after the current run; `none`: nothing, unless it is added again. */
  readonly next: 'none' | 'waiting' | 'ready'
  /** How long until a waiting key is ready. */
  readonly dueInMs?: number
  /** How long the current run has taken so far, if there is one. */
  readonly workingMs?: number
}

/** The record of a key. Once the key is idle, the record may be used for another key. */
export class Entry<Reason> extends ReadyNode {
  /** Changes when the record is used for another key. */
  key = ''
  override priority = 0
  next: KeyState['next'] = 'none'
  isWorking = false
  workingSinceMs = 0
  dueOrder = 0
  /** Most keys have one reason: it takes no array. */
  #reason: Reason | undefined
  #more: Reason[] | undefined
  #reasonsLeftOut = 0

  /** Merges an add into what comes next. Returns the priority before, or the new one if this is the first add. */
  merge(priority: number, reason: Reason | undefined, reasonsMax: number): number {
    if (reason !== undefined) this.#note(reason, reasonsMax)
    const before = this.next === 'none' ? priority : this.priority
    this.priority = Math.max(before, priority)
    return before
  }

  /** Returns what was asked for, and resets priority and reasons. */
  begin(nowMs: number): WorkItem<Reason> {
    const item = {
      key: this.key,
      priority: this.priority,
      reasons: this.#reasons(),
      reasonsLeftOut: this.#reasonsLeftOut,
    }
    this.next = 'none'
    this.isWorking = true
    this.workingSinceMs = nowMs
    this.#reason = this.#more = undefined
    this.#reasonsLeftOut = 0
    return item
  }

  describe(nowMs: number): KeyState<Reason> {
    return {
      key: this.key,
      priority: this.priority,
      reasons: this.#reasons(),
      reasonsLeftOut: this.#reasonsLeftOut,
      next: this.next,
      ...(this.next === 'waiting' && { dueInMs: Math.max(0, this.readyMs - nowMs) }),
      ...(this.isWorking && { workingMs: nowMs - this.workingSinceMs }),
    }
  }

  #reasons(): Reason[] {
    return this.#reason === undefined ? [] : [this.#reason, ...(this.#more ?? [])]
  }

  /** The first reasons are kept: they are why the key began to wait. */
  #note(reason: Reason, reasonsMax: number): void {
    if (this.#reason === reason || this.#more?.includes(reason)) return
    if (reasonsMax <= (this.#reason === undefined ? 0 : 1 + (this.#more?.length ?? 0))) this.#reasonsLeftOut++
    else if (this.#reason === undefined) this.#reason = reason
    else (this.#more ??= []).push(reason)
  }
}
