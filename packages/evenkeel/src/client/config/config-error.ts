/**
 * A mistake in the configuration of a client: one line that names the file, the field and what to do.
 */
const brand = Symbol.for('evenkeel.ConfigError')

export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is a {@link ConfigError}, of this or another copy of the package. */
export function isConfigError(error: unknown): error is ConfigError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}
