/**
 * A command that cannot be run as it was given. Its message is for the person who typed it.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
