/**
 * What a process has seen of things and may forget at any time: it then waits longer, looks again, and comes to the same.
 */
interface CachedObservation {
  /** Which attempt, and when this process first heard of it: clocks of other processes do not count. */
  attemptKey?: string
  attemptSeenMs?: number
  /** The attempt that the system said no to: nothing came of it. */
  refusedKey?: string
  /** What an attempt of this process has made, if it could not be written down. */
  made?: { readonly key: string; readonly id: string }
  /** Since when it is not shown, although it should be there. */
  absentSinceMs?: number
  /** Since when it is shown to be otherwise than it was brought to. */
  driftSinceMs?: number
  /** When its removal was last asked for. */
  removedAtMs?: number
  /** When it was first asked for. */
  removingSinceMs?: number
  /** When it was last looked at. */
  lastSeenMs?: number
  /** Other things that say they belong to the same object. */
  duplicates?: readonly string[]
}

const entriesMax = 100_000

export class ObservationCache {
  readonly #byUid = new Map<string, CachedObservation>()
  #swept: ReadonlySet<string> | undefined

  of(uid: string): CachedObservation {
    let known = this.#byUid.get(uid)
    if (!known) {
      known = {}
      // The oldest goes: it is asked for again if it still matters.
      const oldest = this.#byUid.size >= entriesMax ? this.#byUid.keys().next() : undefined
      if (oldest && oldest.done !== true) this.#byUid.delete(oldest.value)
      this.#byUid.set(uid, known)
    }
    return known
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }

  /** The owners of everything that was in the last list. */
  noteSwept(uids: ReadonlySet<string>): void {
    this.#swept = uids
  }

  /** Whether there may be a thing for an object that remembers none: only a list can say so. */
  mayHave(uid: string): boolean {
    return this.#swept === undefined || this.#swept.has(uid) || this.#byUid.get(uid)?.attemptKey !== undefined
  }

  /** Since when this process knows of an attempt. */
  attemptSeen(uid: string, key: string, nowMs: number): number {
    const known = this.of(uid)
    if (known.attemptKey !== key || known.attemptSeenMs === undefined) {
      known.attemptKey = key
      known.attemptSeenMs = nowMs
    }
    return known.attemptSeenMs
  }
}
