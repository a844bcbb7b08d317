/**
 * What a store throws when it cannot do its work. Normal outcomes are values (see `store`);
 * a caller's mistake is a `RangeError`.
 *
 * Invariant: the message is one line that says what happened, to what, and what to do.
 */

/**
 * - `NoSpace`: the disk is full; nothing was written.
 * - `TooLarge`: the commit is bigger than the engine takes; nothing was written.
 * - `NoLease`: the lease named in the commit is gone; nothing was written.
 * - `Failed`: the disk or the server failed; the commit may or may not have been stored.
 * - `Closed`: the store was closed before the call.
 * - `Locked`: another process owns the folder.
 * - `Damaged`, `Foreign`, `NewerFormat`: the files cannot be used as they are; nothing was changed.
 * - `Unusable`: the folder cannot be read or written.
 */
export type StoreErrorReason =
  | 'NoSpace'
  | 'TooLarge'
  | 'NoLease'
  | 'Failed'
  | 'Closed'
  | 'Locked'
  | 'Damaged'
  | 'Foreign'
  | 'NewerFormat'
  | 'Unusable'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly reason: StoreErrorReason

  constructor(reason: StoreErrorReason, message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

/** True for a {@link StoreError}, also one of another copy of this package, of the given reason if one is given. */
export function isStoreError(error: unknown, reason?: StoreErrorReason): error is StoreError {
  if (!(error instanceof Error) || error.name !== 'StoreError' || !('reason' in error)) return false
  return reason === undefined || error.reason === reason
}
