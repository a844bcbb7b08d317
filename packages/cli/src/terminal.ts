/**
 * Text for terminals: tables, durations, differences of objects, progress lines, and text without control characters.
 *
 * Objects are written by many clients. So their text never moves the cursor or rings the bell.
 */
import { isJsonObject, parseTime, type JsonObject, type JsonValue, stringifyJson } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Output } from './command.ts'

interface TableOptions {
  /** @default no limit */
  readonly columns?: number | undefined
  /** @default three, as in kubectl */
  readonly gap?: number
}

/** A table as lines. Line breaks in cells are removed: each row is one line. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, gap = 3 }: TableOptions = {},
): string {
  const clean = rows.map((row) => headings.map((_, index) => safeLine(row[index] ?? '')))
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...clean.map((row) => row[index]?.length ?? 0)),
  )
  const format = (cells: readonly string[]): string => {
    const line = cells
      .map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd((widths[index] ?? 0) + gap)))
      .join('')
      .trimEnd()
    return columns !== undefined && line.length > columns && columns > 1 ? `${line.slice(0, columns - 1)}…` : line
  }
  return [headings.map((heading) => heading.toUpperCase()), ...clean].map((row) => `${format(row)}\n`).join('')
}

/** Control characters, and those that change the direction of text or break a line. */
// eslint-disable-next-line no-control-regex -- matches the characters that must not reach a terminal
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const timeUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** The age of a time: `5s`, `3m10s`, `2h5m`, `4d`; empty for an invalid time. */
export function ago(time: string, nowMs: number): string {
  const thenMs = parseTime(time)
  return thenMs === undefined ? '' : duration(nowMs - thenMs)
}

/** The largest unit, and the next one for small counts. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1000) * 1000)
  const index = timeUnits.findIndex(([, size]) => whole >= size)
  const [unit, size] = timeUnits[index] ?? timeUnits[3]
  const [nextUnit, nextSize] = timeUnits[index + 1] ?? ['', Infinity]
  const count = Math.floor(whole / size)
  const rest = Math.floor((whole % size) / nextSize)
  return `${count}${unit}${rest > 0 && count < 10 ? `${rest}${nextUnit}` : ''}`
}

/** Fields that change with every write. */
const noise = ['metadata.resourceVersion', 'metadata.managedFields']

/** The differences of two versions of an object, in the order of the new one: `spec.replicas 1 → 3`. */
export function changesBetween(
  old: KubeObject,
  next: KubeObject,
  { except = [] }: { readonly except?: readonly string[] } = {},
): readonly string[] {
  const changes: string[] = []
  const ignored = new Set([...noise, ...except])
  compare(old as unknown as JsonValue, next as unknown as JsonValue, { path: '', changes, ignored })
  return changes
}

/**
 * What an apply of `given` changed. A controller may write its status or a finalizer between the read and the apply: these
 * count only when the apply names them.
 */
export function changesByApply(given: KubeObject, old: KubeObject, next: KubeObject): readonly string[] {
  const ofOthers = ['status', 'metadata.finalizers'].filter((path) => {
    const [field = '', inner] = path.split('.')
    const value = (given as unknown as JsonObject)[field]
    return inner === undefined ? value === undefined : !(isJsonObject(value) && inner in value)
  })
  return changesBetween(old, next, { except: ofOthers })
}

function compare(
  old: JsonValue | undefined,
  next: JsonValue | undefined,
  { path, changes, ignored }: { path: string; changes: string[]; ignored: ReadonlySet<string> },
): void {
  if (ignored.has(path) || stringifyJson(old) === stringifyJson(next)) return
  if (isJsonObject(old) && isJsonObject(next)) {
    for (const name of new Set([...Object.keys(next), ...Object.keys(old)]))
      compare(old[name], next[name], { path: path === '' ? name : `${path}.${name}`, changes, ignored })
  } else if (Array.isArray(old) && Array.isArray(next) && old.length === next.length) {
    for (const [index, value] of next.entries())
      compare(old[index], value, { path: `${path}[${nameOf(value) ?? index}]`, changes, ignored })
  } else changes.push(`${path} ${shortOf(old)} → ${shortOf(next)}`)
}

/** List entries are compared by name, not by index. */
function nameOf(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined
  const name = value['name'] ?? value['type']
  return typeof name === 'string' ? name : undefined
}

function shortOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  const text = stringifyJson(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

/** Text without control characters: each becomes a dot, except line breaks and tabs. */
export function safeText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(controls, (each) => (each === '\n' || each === '\t' ? each : '·'))
}

/** The same on one line, so that a text cannot look like the next line of the output. */
export function safeLine(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ').replace(controls, '·')
}

interface WrapOptions {
  readonly columns: number
  /** Of every line. @default none */
  readonly indent?: string
}

/** A text in lines of this width, its own line breaks kept; a longer word is broken. */
export function wrapText(text: string, { columns, indent = '' }: WrapOptions): readonly string[] {
  const width = Math.max(8, columns - indent.length)
  return text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const lines: string[] = ['']
      for (const word of line.split(/[ \t]+/)) {
        const last = lines.at(-1) ?? ''
        if (last !== '' && last.length + 1 + word.length > width) lines.push(...piecesOf(word, width))
        else {
          const [first = '', ...more] = last === '' ? piecesOf(word, width) : [`${last} ${word}`]
          lines.splice(-1, 1, first, ...more)
        }
      }
      return lines
    })
    .map((line) => (line === '' ? '' : `${indent}${line}`))
}

function piecesOf(word: string, width: number): readonly string[] {
  const pieces = word.match(new RegExp(`.{1,${width}}`, 'gsu'))
  return pieces ?? ['']
}

/** A progress line that is overwritten; prints nothing without a terminal. */
const redrawMs = 100

export class ProgressLine {
  readonly #output: Output
  readonly #clock: { monotonic(): number }
  #drawnAtMs = -Infinity
  #isDrawn = false

  constructor(output: Output, clock: { monotonic(): number }) {
    this.#output = output
    this.#clock = clock
  }

  /** Draws at most a few times per second. */
  show(text: () => string): void {
    if (this.#output.isTTY !== true) return
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#drawnAtMs < redrawMs) return
    this.#drawnAtMs = nowMs
    this.#isDrawn = true
    this.#output.write(`\r\u001b[K${text().slice(0, (this.#output.columns ?? 80) - 1)}`)
  }

  clear(): void {
    if (this.#isDrawn) this.#output.write('\r\u001b[K')
    this.#isDrawn = false
  }
}
