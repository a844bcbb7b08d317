/**
 * Rows under headings, as wide as they need to be and no wider than the terminal.
 */
import { isJsonObject, parseTime, type JsonValue } from 'evenkeel/unstable/api'
import { type KubeObject } from 'evenkeel'
import type { Output } from './command.ts'

interface TableOptions {
  /** @default no limit */
  readonly columns?: number | undefined
  /** @default three, as kubectl has it */
  readonly gap?: number
}

/** The lines, each with its end. Cells lose line breaks: a table has one line for each row. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, gap = 3 }: TableOptions = {},
): string {
  const clean = rows.map((row) =>
    headings.map((_, index) => (row[index] ?? '').replace(/\s*[\r\n]+\s*/g, ' ').replace(controls, '·')),
  )
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

/** What could move a cursor or ring a bell: objects are written by anybody. */
// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal
const controls = /[\u0000-\u001f\u007f-\u009f]/g

/*
 * How long ago something was, in two figures at most, as people say it.
 */

const timeUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `5s`, `3m10s`, `2h5m`, `4d`; empty for a time that cannot be read. */
export function ago(time: string, nowMs: number): string {
  const thenMs = parseTime(time)
  return thenMs === undefined ? '' : duration(nowMs - thenMs)
}

/** The largest unit, and the next one while it matters. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1000) * 1000)
  const index = timeUnits.findIndex(([, size]) => whole >= size)
  const [unit, size] = timeUnits[index] ?? timeUnits[3]
  const [nextUnit, nextSize] = timeUnits[index + 1] ?? ['', Infinity]
  const count = Math.floor(whole / size)
  const rest = Math.floor((whole % size) / nextSize)
  return `${count}${unit}${rest > 0 && count < 10 ? `${rest}${nextUnit}` : ''}`
}

/*
 * What differs between two versions of an object, a path and both values each.
 */

/** Fields that differ by themselves with every write. */
const noise = new Set(['metadata.resourceVersion', 'metadata.managedFields'])

/** `spec.replicas 1 → 3`, in the order of the new object. */
export function changesBetween(old: KubeObject, next: KubeObject): readonly string[] {
  const changes: string[] = []
  compare(old as unknown as JsonValue, next as unknown as JsonValue, { path: '', changes })
  return changes
}

function compare(
  old: JsonValue | undefined,
  next: JsonValue | undefined,
  { path, changes }: { path: string; changes: string[] },
): void {
  if (noise.has(path) || JSON.stringify(old) === JSON.stringify(next)) return
  if (isJsonObject(old) && isJsonObject(next)) {
    for (const name of new Set([...Object.keys(next), ...Object.keys(old)]))
      compare(old[name], next[name], { path: path === '' ? name : `${path}.${name}`, changes })
  } else if (Array.isArray(old) && Array.isArray(next) && old.length === next.length) {
    for (const [index, value] of next.entries())
      compare(old[index], value, { path: `${path}[${nameOf(value) ?? index}]`, changes })
  } else changes.push(`${path} ${shortOf(old)} → ${shortOf(next)}`)
}

/** Entries of lists are known by what they are called, not by their place. */
function nameOf(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined
  const name = value['name'] ?? value['type']
  return typeof name === 'string' ? name : undefined
}

function shortOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

/*
 * Text that somebody else wrote, made harmless for a terminal: escape sequences are shown, never obeyed.
 */

// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Line breaks and tabs stay; everything else that a terminal would act upon becomes a dot. */
export function safeText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(unsafe, '·')
}

/*
 * One line of a terminal that is written over and over while something goes on; nothing where there is no terminal.
 */

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

  /** Called as often as you like: a few are drawn. */
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
