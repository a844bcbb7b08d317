/**
 * The newest state of the object of a stream, for a handler that waits for it to change.
 *
 * A log that is followed waits for two things at once: more bytes, and an object that starts again or is deleted.
 */
import type { UnstructuredObject } from '#api'
import { deferred, onAbort, type Deferred } from '#base'
import type { StreamRequest } from './streams.ts'

interface FollowedObjectOptions {
  /**
   * Called when the object cannot be followed any more; it then counts as gone.
   *
   * @default nothing
   */
  readonly onFailure?: (error: unknown) => void
}

/**
 * The newest state of the object of a stream, until it is deleted or the client leaves.
 *
 * @example
 * const object = new FollowedObject(request)
 * const state = await object.until(({ status }) => status.state, (found) => found === 'Running')
 */
export class FollowedObject {
  #newest: UnstructuredObject
  #isGone = false
  #changed: Deferred<undefined> = deferred()

  constructor(
    { object, changes, signal }: Pick<StreamRequest, 'object' | 'changes' | 'signal'>,
    { onFailure }: FollowedObjectOptions = {},
  ) {
    this.#newest = object
    const stop = onAbort(signal, () => {
      this.#end()
    })
    this.#follow(changes())
      .catch((error: unknown) => {
        if (!signal.aborted) onFailure?.(error)
      })
      .finally(() => {
        stop()
        this.#end()
      })
  }

  /** As of its last change. */
  get newest(): UnstructuredObject {
    return this.#newest
  }

  /** It was deleted, or the client left. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Resolves when it changes or is gone, at once when it is gone. */
  changed(): Promise<unknown> {
    return this.#isGone ? Promise.resolve() : this.#changed.promise
  }

  /** Reads something of the object after every change, until it is as wanted or the object is gone. */
  async until<T>(read: (object: UnstructuredObject) => T, isWanted: (found: T) => boolean): Promise<T> {
    for (;;) {
      const found = read(this.#newest)
      if (this.#isGone || isWanted(found)) return found
      await this.changed()
    }
  }

  async #follow(changes: AsyncIterable<UnstructuredObject>): Promise<void> {
    for await (const object of changes) {
      this.#newest = object
      const changed = this.#changed
      this.#changed = deferred()
      changed.resolve(undefined)
    }
  }

  #end(): void {
    this.#isGone = true
    this.#changed.resolve(undefined)
  }
}
