/**
 * Structured logging: a constant message plus fields, written as JSON or for a terminal.
 *
 * Invariants: a logger never throws and never waits; a line below the level costs one comparison;
 * the fields of a child come before those of the call and never change; one record is one line of JSON,
 * whatever it contains; control characters never reach the terminal, so that the name of an object
 * cannot move the cursor or change colors.
 *
 * An error has its place in the program (`at`) and its stack, the lines of the program first, causes included: on a
 * terminal indented below the line, in JSON as fields of the error. The same stack is written once: a reconcile that fails
 * again and again has one line for each failure, with the place.
 */
import type { Clock } from './clock.ts'
import { describeError, placeOf } from './error-place.ts'

const levels = { debug: 10, info: 20, warn: 30, error: 40 } as const

export type Level = keyof typeof levels

/** Values by name; an `Error` is written with its message, stack and cause. */
export type Fields = Readonly<Record<string, unknown>>

/** The logger interface; the loggers of well-known libraries fit it with a few lines of wrapping. */
export interface Logger {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  /** A logger that adds these fields to every line. */
  child(fields: Fields): Logger
}

/** One line before formatting. */
export interface LogRecord {
  readonly level: Level
  readonly timeMs: number
  readonly message: string
  readonly fields: Fields
}

interface LoggerOptions {
  clock: Clock
  /** Receives the records: {@link jsonLines} or {@link prettyLines} over a writer, or a list in a test. */
  sink: (record: LogRecord) => void
  /**
   * The lowest level that is written.
   *
   * @default 'info'
   */
  level?: Level
}

export function createLogger({ clock, sink, level = 'info' }: LoggerOptions): Logger {
  const lowest = levels[level]
  const make = (own: Fields): Logger => {
    const at =
      (lineLevel: Level) =>
      (message: string, fields?: Fields): void => {
        if (levels[lineLevel] < lowest) return
        try {
          sink({ level: lineLevel, timeMs: clock.now(), message, fields: fields ? { ...own, ...fields } : own })
        } catch {
          // A line that cannot be written is dropped: logging must not break the caller.
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

/** A logger that writes nothing: the default wherever a logger is optional. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
}

/** Receives formatted text, newline included. */
type WriteText = (text: string) => void

/** One JSON object per line: `time`, `level`, `msg`, then the fields. Errors are `{ message, at, stack, cause }`. */
export function jsonLines(write: WriteText): (record: LogRecord) => void {
  const known = new KnownStacks()
  return ({ level, timeMs, message, fields }) => {
    write(`${printable(safeStringify({ time: stamp(timeMs), level, msg: message, ...fields }, known))}\n`)
  }
}

interface PrettyOptions {
  /**
   * Whether to use colors.
   *
   * @default true
   */
  color?: boolean
}

const codes = { debug: 90, info: 36, warn: 33, error: 31, faint: 90 } as const satisfies Record<Level | 'faint', number>

/** Lines for a terminal: time of day, level, message, `name=value` pairs; below them the stacks of errors. */
export function prettyLines(write: WriteText, { color = true }: PrettyOptions = {}): (record: LogRecord) => void {
  const known = new KnownStacks()
  const paint = (style: keyof typeof codes, text: string): string =>
    color ? `\u001b[${codes[style]}m${text}\u001b[39m` : text
  return ({ level, timeMs, message, fields }) => {
    const pairs = Object.entries(fields).flatMap(([name, value]) => {
      const at = value instanceof Error ? placeOf(value) : undefined
      return [[name, short(value)], ...(at === undefined ? [] : [['at', at]])]
    })
    const text = pairs.map(([name = '', value = '']) => ` ${paint('faint', `${printable(name)}=`)}${printable(value)}`)
    const below = level === 'error' ? Object.values(fields).flatMap((value) => known.newLines(value)) : []
    const start = `${paint('faint', stamp(timeMs).slice(11, 23))} ${paint(level, level.padEnd(5))}`
    const stacks = below.map((line) => `${paint('faint', printable(`    ${line}`))}\n`)
    write(`${start} ${printable(message)}${text.join('')}\n${stacks.join('')}`)
  }
}

const stacksMax = 200

/** Stacks that were written, the oldest forgotten first. */
class KnownStacks {
  readonly #texts = new Set<string>()

  /** The description of an error, if it was not written before. */
  newLines(value: unknown): string[] {
    if (!(value instanceof Error)) return []
    const lines = describeError(value)
    const text = lines.join('\n')
    if (lines.length < 2 || this.#texts.has(text)) return []
    this.#texts.add(text)
    for (const oldest of this.#texts) {
      if (this.#texts.size <= stacksMax) break
      this.#texts.delete(oldest)
    }
    return lines
  }
}

function stamp(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

function short(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  if (value instanceof Error) return JSON.stringify(value.message)
  return safeStringify(value)
}

/**
 * JSON that never throws, with support for cycles, bigints and errors.
 *
 * @param known stacks that are left out; without it no stack is written
 */
function safeStringify(value: unknown, known?: KnownStacks): string {
  const above: { readonly item: unknown; readonly shown: unknown }[] = []
  const replace = function (this: unknown, name: string, item: unknown): unknown {
    if (typeof item === 'bigint') return item.toString()
    if (typeof item !== 'object' || item === null) return item
    while (above.length > 0 && above.at(-1)?.shown !== this) above.pop()
    if (above.some((outer) => outer.item === item)) return '[circular]'
    // The stack of an error describes its causes as well.
    const isCause = name === 'cause' && above.at(-1)?.item instanceof Error
    const shown = item instanceof Error ? errorFields(item, isCause ? [] : (known?.newLines(item) ?? [])) : item
    above.push({ item, shown })
    return shown
  }
  try {
    return JSON.stringify(value, replace) ?? String(value)
  } catch (cause) {
    return JSON.stringify(`[cannot be serialized: ${String(cause)}]`)
  }
}

function errorFields(error: Error, stack: readonly string[]): object {
  return {
    message: error.message,
    at: placeOf(error),
    ...(stack.length > 0 && { stack: stack.join('\n') }),
    cause: error.cause,
  }
}

// eslint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

/** Escapes control characters; in JSON the meaning stays the same. */
function printable(text: string): string {
  return text.replace(controlCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
