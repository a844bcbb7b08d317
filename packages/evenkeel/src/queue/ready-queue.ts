/**
 * A line of those who wait: join at the end, leave from anywhere, each in O(1) and without making anything.
 *
 * The links are fields of those who wait, because there may be a hundred thousand of them and every object less per
 * key is time that the garbage collector does not take. Invariant: one stands in at most one line at a time.
 */
import { assert, Heap } from '#base'

/** One that can stand in a line. The fields belong to {@link Fifo}. */
abstract class FifoNode {
  list: Fifo<this> | undefined = undefined
  before: this | undefined = undefined
  after: this | undefined = undefined
}

class Fifo<T extends FifoNode> {
  #first: T | undefined
  #last: T | undefined

  /** Who has been here longest. */
  get first(): T | undefined {
    return this.#first
  }

  join(one: T): void {
    assert(one.list === undefined, 'one stands in one line at a time')
    one.list = this
    one.before = this.#last
    if (this.#last) this.#last.after = one
    else this.#first = one
    this.#last = one
  }

  leave(one: T): void {
    assert(one.list === this, 'one leaves the line one stands in')
    if (one.before) one.before.after = one.after
    else this.#first = one.after
    if (one.after) one.after.before = one.before
    else this.#last = one.before
    one.list = one.before = one.after = undefined
  }
}

/*
 * What is ready to be taken, and who is next.
 *
 *   priority    0:  d ─ e         The first of the highest priority is next. But on every eighth turn (`agedTurns`)
 *   priority −100:  a ─ b ─ c     the oldest is that stands first in its line, if it is older than `agedMs`.
 *
 * Inside a priority it is first come, first served. With priorities alone, an endless stream of high ones would starve
 * the rest; if all grew in priority as they grow older, a fresh change would wait behind a long start-up backlog. So
 * old ones get a share of the turns instead.
 *
 * Invariant: of any `agedTurns` turns in a row one goes to the oldest of those who stand first in their lines, if it is
 * aged. So whoever joined its line after `n` others had become ready is next within `(n + 1) * agedTurns` turns, counted
 * from when it has stood there for `agedMs`.
 */

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

/** One that can be ready. */
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

  /** Puts one at the end of its priority. */
  push(one: T): void {
    this.#levelOf(one.priority).fifo.join(one)
    this.#size++
  }

  /** Takes one out, wherever it is; `priority` is the one it was pushed with. */
  delete(one: T, priority: number): void {
    const level = this.#levelOf(priority)
    level.fifo.leave(one)
    this.#size--
    // The last level may stay empty: most queues have one, and it is about to be used again.
    if (level.fifo.first === undefined && this.#byPriority.size > 1) this.#drop(level)
  }

  /** Takes out whoever is next. */
  shift(nowMs: number): T | undefined {
    if (this.#size === 0) return undefined
    this.#turn = (this.#turn + 1) % this.#agedTurns
    const next = (this.#turn === 0 ? this.#aged(nowMs) : undefined) ?? this.#highest()
    this.delete(next, next.priority)
    return next
  }

  /** The one that is ready longest, if that is long. One look per priority, and only on every so many turns. */
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
    assert(first !== undefined, 'somebody who is ready stands in the line of its priority')
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

/** By age; of two that became ready in the same moment the one with the higher priority, so that a run can be repeated. */
function isBefore(one: ReadyNode, other: ReadyNode): boolean {
  return one.readyMs < other.readyMs || (one.readyMs === other.readyMs && one.priority > other.priority)
}

/*
 * One key that is not idle: what is asked of it next, and whether somebody works on it now.
 *
 * Invariants: priority and reasons belong to what comes next; they start afresh when a worker takes the key. While
 * `next` is `none`, somebody works on it.
 */

/** A key to work on, and why. */
export interface WorkItem<Reason = string> {
  readonly key: string
  readonly priority: number
  /** Why it was added, since it was taken last; oldest first, each once. */
  readonly reasons: readonly Reason[]
  /** Adds whose reasons were left out because there were too many. */
  readonly reasonsLeftOut: number
}

/** What a queue knows of a key that is not idle. */
export interface KeyState<Reason = string> extends WorkItem<Reason> {
  /** What will happen to it, after the work that goes on; `none`: nothing, unless it is added again. */
  readonly next: 'none' | 'waiting' | 'ready'
  /** How long until a waiting key is ready. */
  readonly dueInMs?: number
  /** How long the work on it has taken so far, when it is being worked on. */
  readonly workingMs?: number
}

/** The record of a key; once it is idle, it may become another key's. */
export class Entry<Reason> extends ReadyNode {
  /** Another one when the record is used again. */
  key = ''
  override priority = 0
  next: KeyState['next'] = 'none'
  isWorking = false
  workingSinceMs = 0
  dueOrder = 0
  /** Most keys are added for one reason: it takes no array. */
  #reason: Reason | undefined
  #more: Reason[] | undefined
  #reasonsLeftOut = 0

  /** Merges one more ask into what comes next; gives the priority it had before, or has now if this is the first. */
  merge(priority: number, reason: Reason | undefined, reasonsMax: number): number {
    if (reason !== undefined) this.#note(reason, reasonsMax)
    const before = this.next === 'none' ? priority : this.priority
    this.priority = Math.max(before, priority)
    return before
  }

  /** Hands out what is asked and starts afresh. */
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
