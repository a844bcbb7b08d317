/**
 * Checks of our own reasoning. A failed one is a bug in Evenkeel, never bad input:
 * bad input gets an error that says what to do.
 */

/** Thrown by {@link assert} and {@link unreachable}: somebody has to fix the code. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Goes on when the condition holds, otherwise throws with the sentence that turned out false. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new AssertionError(`bug: this should always hold: ${claim}`)
}

/** Closes a `switch` over a union: a new member makes the call not compile. */
export function unreachable(value: never): never {
  throw new AssertionError(`bug: a case nobody handles: ${String(value)}`)
}
