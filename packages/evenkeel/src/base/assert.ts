/**
 * Assertions. A failed assertion is a bug in Evenkeel, never invalid input:
 * invalid input gets an error that says what to do.
 */

/** Thrown by {@link assert} and {@link unreachable}: a bug in the code. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Throws unless the condition holds; `claim` is the sentence that must be true. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new AssertionError(`bug: assertion failed: ${claim}`)
}

/** Ends a `switch` over a union: a new member of the union is a compile error. */
export function unreachable(value: never): never {
  throw new AssertionError(`bug: unhandled case: ${String(value)}`)
}
