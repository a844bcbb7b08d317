/**
 * One key that is not idle: what is asked of it next, and whether somebody works on it now.
 *
 * Invariants: priority and reasons belong to what comes next; they start afresh when a worker takes the key. While
 * `next` is `none`, somebody works on it.
 */
import { ReadyNode } from './ready-keys.ts'

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
