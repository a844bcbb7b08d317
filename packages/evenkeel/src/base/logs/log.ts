/**
 * What the library says about itself: a constant message, then fields.
 *
 * Invariants: a logger never throws and never waits; a line below the level costs one
 * comparison; fields of a child come before those of the call and never change.
 */
import type { Clock } from '../clock.ts'

const levels = { debug: 10, info: 20, warn: 30, error: 40 } as const

export type Level = keyof typeof levels

/** Values by name; an `Error` is written with its message, stack and cause. */
export type Fields = Readonly<Record<string, unknown>>

/** What the library needs of a logger; those of the well-known libraries have this shape once wrapped in two lines. */
export interface Logger {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  /** The same logger with fields that every line carries. */
  child(fields: Fields): Logger
}

/** One line, before it has a form. */
export interface LogRecord {
  readonly level: Level
  readonly timeMs: number
  readonly message: string
  readonly fields: Fields
}

export interface LoggerOptions {
  clock: Clock
  /** Where lines go: {@link jsonLines} or {@link prettyLines} over some writer, or a list in a test. */
  sink: (record: LogRecord) => void
  /**
   * The least level that is written.
   *
   * @default 'info'
   */
  level?: Level
}

export function createLogger({ clock, sink, level = 'info' }: LoggerOptions): Logger {
  const least = levels[level]
  const make = (own: Fields): Logger => {
    const at =
      (lineLevel: Level) =>
      (message: string, fields?: Fields): void => {
        if (levels[lineLevel] < least) return
        try {
          sink({ level: lineLevel, timeMs: clock.now(), message, fields: fields ? { ...own, ...fields } : own })
        } catch {
          // A line that cannot be written is lost; what it was about goes on.
        }
      }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (more) => make({ ...own, ...more }),
    }
  }
  return make({})
}

/** A logger that says nothing: the default of everything that takes one. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}
