/**
 * A text that may lie in a file: read when it is needed, and again after a minute, because certificates are renewed.
 */
import type { Clock } from '#base'
import { ConfigError } from './config-error.ts'
import type { TextSource } from './connection-config.ts'
import type { Host } from './host.ts'

interface TextReaderOptions {
  readonly host: Pick<Host, 'readFile'>
  readonly clock: Clock
  /** What it is, for messages: `certificate-authority`. */
  readonly what: string
  /** @default 60_000 */
  readonly rereadMs?: number
}

/** The current text. While a file that was read once cannot be read, its last text is used. */
export function textReader(
  source: TextSource | undefined,
  { host, clock, what, rereadMs = 60_000 }: TextReaderOptions,
): () => Promise<string | undefined> {
  if (source === undefined || 'text' in source) return () => Promise.resolve(source?.text)
  let known: string | undefined
  let readAtMs = -Infinity
  return async () => {
    if (known !== undefined && clock.monotonic() - readAtMs < rereadMs) return known
    readAtMs = clock.monotonic()
    try {
      known = await host.readFile(source.file)
    } catch (cause) {
      if (known === undefined)
        throw new ConfigError(
          `${what} ${source.file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
          { cause },
        )
    }
    return known
  }
}
