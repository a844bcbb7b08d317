/**
 * The two forms of a log line: JSON for machines, aligned and coloured for a terminal.
 *
 * Invariants: one record is one line, whatever is in it; control characters never reach the
 * terminal, so a name in an object cannot move the cursor or recolour the screen.
 */
import type { Level, LogRecord } from './log.ts'

/** Takes finished text, newline included. */
export type WriteText = (text: string) => void

/** One JSON object a line: `time`, `level`, `msg`, then the fields. */
export function jsonLines(write: WriteText): (record: LogRecord) => void {
  return ({ level, timeMs, message, fields }) => {
    write(`${printable(safeStringify({ time: stamp(timeMs), level, msg: message, ...fields }))}\n`)
  }
}

export interface PrettyOptions {
  /**
   * Colours, for a terminal that has them.
   *
   * @default true
   */
  color?: boolean
}

const codes = { debug: 90, info: 36, warn: 33, error: 31, faint: 90 } as const satisfies Record<Level | 'faint', number>

/** One line a person can read: time of day, level, message, `name=value` pairs. */
export function prettyLines(write: WriteText, { color = true }: PrettyOptions = {}): (record: LogRecord) => void {
  const paint = (style: keyof typeof codes, text: string): string =>
    color ? `\u001b[${codes[style]}m${text}\u001b[39m` : text
  return ({ level, timeMs, message, fields }) => {
    const pairs = Object.entries(fields).map(
      ([name, value]) => ` ${paint('faint', `${printable(name)}=`)}${printable(short(value))}`,
    )
    write(
      `${paint('faint', stamp(timeMs).slice(11, 23))} ${paint(level, level.padEnd(5))} ${printable(message)}${pairs.join('')}\n`,
    )
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

/** JSON that never throws: cycles, bigints and errors are written as what they are. */
function safeStringify(value: unknown): string {
  const above: { readonly item: unknown; readonly shown: unknown }[] = []
  const replace = function (this: unknown, _name: string, item: unknown): unknown {
    if (typeof item === 'bigint') return item.toString()
    if (typeof item !== 'object' || item === null) return item
    while (above.length > 0 && above.at(-1)?.shown !== this) above.pop()
    if (above.some((outer) => outer.item === item)) return '[circular]'
    const shown = item instanceof Error ? { message: item.message, stack: item.stack, cause: item.cause } : item
    above.push({ item, shown })
    return shown
  }
  try {
    return JSON.stringify(value, replace) ?? String(value)
  } catch (cause) {
    return JSON.stringify(`[cannot be written: ${String(cause)}]`)
  }
}

/** Control characters as escapes, so that they can be read and do nothing; in JSON they mean the same. */
function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
