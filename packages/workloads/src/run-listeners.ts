/**
 * Who is called when a run has changed: of all objects, or of one. A thousand runs that end together have a listener each, and each of
 * their changes reaches its own only.
 */
import type { RunOwner } from './runs.ts'

export type RunListener = (owner: RunOwner, note: string) => void

export class RunListeners {
  readonly #ofAll = new Set<RunListener>()
  readonly #ofOne = new Map<string, Set<RunListener>>()

  add(call: RunListener, uid: string | undefined): () => void {
    if (uid === undefined) {
      this.#ofAll.add(call)
      return () => this.#ofAll.delete(call)
    }
    const own = this.#ofOne.get(uid) ?? new Set()
    this.#ofOne.set(uid, own.add(call))
    return () => {
      own.delete(call)
      if (own.size === 0 && this.#ofOne.get(uid) === own) this.#ofOne.delete(uid)
    }
  }

  call(owner: RunOwner, note: string): void {
    for (const call of [...this.#ofAll, ...(this.#ofOne.get(owner.uid) ?? [])]) call(owner, note)
  }
}
