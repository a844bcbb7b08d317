/**
 * Everything that can happen next in a simulated world, and which of it does.
 *
 * Nothing in a world happens by itself: a request that waits to be carried out, an answer or an event on its way, a call
 * to the outside are actions on this list. The default policy takes the oldest one; a test case is that policy and a
 * few deviations from it.
 *
 * Invariant: the same actions added in the same order, with the same holds, come out in the same order.
 */

/** What an action is, for those who hold some back and for the trace. */
type QueuedEventType = 'request' | 'answer' | 'event' | 'call' | 'reply' | 'collect'

interface QueuedEvent {
  /** Whose it is: `A`, `B`, `gc`. */
  readonly actor: string
  readonly type: QueuedEventType
  /** `create configmaps default/a` */
  readonly about: string
  /** For events: the plural of the kind that is watched. */
  readonly resource?: string
  run(): void | Promise<void>
}

type IsHeld = (action: QueuedEvent) => boolean

export class EventQueue {
  readonly #actions: QueuedEvent[] = []
  readonly #holds = new Set<IsHeld>()

  /** @returns what takes it away again, if it has not happened */
  add(action: QueuedEvent): () => void {
    this.#actions.push(action)
    return () => {
      this.#remove(action)
    }
  }

  /** The next thing to happen; it is off the list. */
  take(): QueuedEvent | undefined {
    const index = this.#holds.size === 0 ? 0 : this.#actions.findIndex((action) => !this.#isHeld(action))
    return index < 0 ? undefined : this.#actions.splice(index, 1)[0]
  }

  /** Keeps actions from happening until the hold is released; in their order they stay. */
  hold(isHeld: IsHeld): () => void {
    this.#holds.add(isHeld)
    return () => {
      this.#holds.delete(isHeld)
    }
  }

  /** Takes away everything that fits: what belonged to a process that died. */
  drop(fits: (action: QueuedEvent) => boolean): void {
    for (const action of this.#actions.filter((one) => fits(one))) this.#remove(action)
  }

  /** What is there to happen, in its order. */
  get waiting(): readonly Pick<QueuedEvent, 'actor' | 'type' | 'about'>[] {
    return this.#actions
  }

  /** How many are held back at present. */
  get held(): number {
    return this.#holds.size === 0 ? 0 : this.#actions.filter((action) => this.#isHeld(action)).length
  }

  #isHeld(action: QueuedEvent): boolean {
    for (const hold of this.#holds) if (hold(action)) return true
    return false
  }

  #remove(action: QueuedEvent): void {
    const index = this.#actions.indexOf(action)
    if (index >= 0) this.#actions.splice(index, 1)
  }
}
