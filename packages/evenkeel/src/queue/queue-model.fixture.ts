/**
 * A model of the queue: a map of keys, sorted at every read. Slow, and hopefully too simple to be wrong.
 */
import type { KeyState } from './ready-queue.ts'

interface ModelKey {
  key: string
  working: boolean
  next: KeyState['next']
  priority: number
  reasons: Set<string>
  /** When it is or was ready. */
  readyMs: number
  /** Its place among those of its priority, or among those who wait for the same moment. */
  order: number
}

export interface ModelAdd {
  readonly key: string
  readonly afterMs: number
  readonly priority: number
  readonly reason: string
}

export class QueueModel {
  readonly keys = new Map<string, ModelKey>()
  readonly #agedMs: number
  readonly #agedTurns: number
  #nowMs = 0
  #order = 0
  #turns = 0

  constructor({ agedMs, agedTurns }: { agedMs: number; agedTurns: number }) {
    this.#agedMs = agedMs
    this.#agedTurns = agedTurns
  }

  add({ key, afterMs, priority, reason }: ModelAdd): void {
    const one = this.keys.get(key) ?? {
      key,
      working: false,
      next: 'none',
      priority,
      reasons: new Set(),
      readyMs: 0,
      order: 0,
    }
    this.keys.set(key, one)
    if (one.next === 'none') one.priority = priority
    one.reasons.add(reason)
    if (one.next === 'ready') {
      if (priority > one.priority) one.order = ++this.#order
      one.priority = Math.max(one.priority, priority)
      return
    }
    one.priority = Math.max(one.priority, priority)
    if (afterMs <= 0) this.#ready(one, this.#nowMs)
    else if (one.next === 'none' || this.#nowMs + afterMs < one.readyMs)
      Object.assign(one, { next: 'waiting', readyMs: this.#nowMs + afterMs, order: ++this.#order })
  }

  advance(byMs: number): void {
    const untilMs = this.#nowMs + byMs
    const due = [...this.keys.values()].filter(({ next, readyMs }) => next === 'waiting' && readyMs <= untilMs)
    for (const one of due.sort((a, b) => a.readyMs - b.readyMs || a.order - b.order)) this.#ready(one, one.readyMs)
    this.#nowMs = untilMs
  }

  /** The key that is next, as it is handed out. */
  take(): { key: string; priority: number; reasons: string[] } | undefined {
    const ready = [...this.keys.values()].filter(({ next, working }) => next === 'ready' && !working)
    if (ready.length === 0) return undefined
    const one = ++this.#turns % this.#agedTurns === 0 ? (this.#aged(ready) ?? first(ready)) : first(ready)
    const taken = { key: one.key, priority: one.priority, reasons: [...one.reasons] }
    Object.assign(one, { next: 'none', working: true, reasons: new Set() })
    return taken
  }

  done(key: string): void {
    const one = this.keys.get(key)
    if (!one?.working) return
    one.working = false
    if (one.next === 'none') this.keys.delete(key)
    if (one.next === 'ready') one.order = ++this.#order
  }

  #ready(one: ModelKey, nowMs: number): void {
    Object.assign(one, { next: 'ready', readyMs: nowMs, order: ++this.#order })
  }

  #aged(ready: readonly ModelKey[]): ModelKey | undefined {
    const heads = [...new Set(ready.map(({ priority }) => priority))].map((level) =>
      first(ready.filter(({ priority }) => priority === level)),
    )
    const [oldest] = heads.sort((a, b) => a.readyMs - b.readyMs || b.priority - a.priority)
    return oldest && this.#nowMs - oldest.readyMs >= this.#agedMs ? oldest : undefined
  }
}

function first(ready: readonly ModelKey[]): ModelKey {
  return [...ready].sort((a, b) => b.priority - a.priority || a.order - b.order)[0] as ModelKey
}
