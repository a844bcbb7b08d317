/**
 * The live view of `evenkeel run`: one row per workload, the last log lines, and keys.
 *
 *   ▸ ✓ process/db    Ready             sql:5432
 *     ✗ process/api   Waiting           NotReady: waits for Process db
 *
 *   db | database system is ready
 *
 *   ↑ ↓ select · r restart · s stop or start · l logs of one or all · q quit
 *
 * It is drawn a few times a second at most, and only after a change.
 */
import type { ShutdownOutcome } from '@evenkeel/workloads'
import type { Clock, LogRecord } from 'evenkeel/unstable/base'
import type { Output } from '../command.ts'
import { Frame } from '../frame.ts'
import { safeLine, safeText } from '../terminal.ts'
import { outcomeLine, stateLine, type RunOutput } from './run-output.ts'
import { refOf, type WorkloadRow } from './workload-row.ts'

interface RunViewOptions {
  readonly stdout: Output
  readonly clock: Clock
  rows(): readonly WorkloadRow[]
  /** A key that is not about the view itself. */
  readonly onKey: (key: RunKey, row: WorkloadRow | undefined) => void
}

export type RunKey = 'restart' | 'toggle' | 'quit' | 'suspend'

const redrawMs = 200
const linesMax = 500
const hints = '↑ ↓ select · r restart · s stop or start · l logs of one or all · q quit'

interface ShownLine {
  readonly ref: string
  readonly text: string
}

export class RunView implements RunOutput {
  readonly #options: RunViewOptions
  readonly #frame: Frame
  #heading = ''
  #selected = 0
  /** Only the log of the selected workload. */
  #isOne = false
  #lines: ShownLine[] = []
  #message = ''
  #cancel: (() => void) | undefined

  constructor(options: RunViewOptions) {
    this.#options = options
    this.#frame = new Frame(options.stdout)
  }

  begin(heading: string): void {
    this.#heading = heading
    this.#soon()
  }

  changed(): void {
    this.#soon()
  }

  line(row: WorkloadRow, text: string): void {
    this.#add(refOf(row), text)
  }

  /** A record of the controllers. */
  record({ level, message, fields }: LogRecord): void {
    const { error } = fields
    if (level === 'error' || level === 'warn')
      this.#add(
        'evenkeel',
        `${level}: ${message}${error === undefined ? '' : `: ${error instanceof Error ? error.message : String(error)}`}`,
      )
  }

  say(text: string): void {
    this.#message = text
    this.#soon()
  }

  outcome(outcome: ShutdownOutcome): void {
    this.#add(refOf(outcome), outcomeLine(outcome))
  }

  end(exitCode: number): void {
    this.#cancel?.()
    this.draw()
    this.#options.stdout.write(exitCode === 0 ? 'Stopped.\n' : `Stopped with exit code ${exitCode}.\n`)
  }

  /** Draws again from the beginning: the program was suspended. */
  resume(): void {
    this.#frame.release()
    this.draw()
  }

  /** Bytes of the keyboard. */
  press(bytes: Uint8Array): void {
    const text = Buffer.from(bytes).toString('latin1')
    // eslint-disable-next-line no-control-regex -- what keys send
    for (const [key] of text.matchAll(/\u001b\[[AB]|[^\u001b]/g)) this.#press(key)
  }

  #press(key: string): void {
    const rows = this.#options.rows()
    const row = rows[this.#selected]
    const own: Readonly<Record<string, RunKey>> = {
      r: 'restart',
      s: 'toggle',
      q: 'quit',
      '\u0003': 'quit',
      '\u001a': 'suspend',
    }
    if (key === '\u001b[A' || key === 'k') this.#selected = Math.max(0, this.#selected - 1)
    else if (key === '\u001b[B' || key === 'j') this.#selected = Math.min(rows.length - 1, this.#selected + 1)
    else if (key === 'l') this.#isOne = !this.#isOne
    else if (own[key]) this.#options.onKey(own[key], row)
    this.#soon()
  }

  draw(): void {
    const rows = this.#options.rows()
    this.#selected = Math.max(0, Math.min(this.#selected, rows.length - 1))
    const above = [...this.#heading.split('\n'), '']
    const below = ['', ...(this.#message === '' ? [] : [safeLine(this.#message)]), hints]
    const room = Math.max(4, this.#frame.rows - above.length - below.length - 2)
    const shown = this.#rows(rows, Math.max(2, Math.ceil(room * 0.6)))
    const lines = this.#logLines(rows[this.#selected], Math.max(0, room - shown.length - 1))
    this.#frame.draw([...above, ...shown, ...(lines.length > 0 ? ['', ...lines] : []), ...below])
  }

  /** Those around the selected one, when not all fit. */
  #rows(rows: readonly WorkloadRow[], room: number): readonly string[] {
    if (rows.length === 0) return ['  No workloads yet.']
    const first = Math.max(0, Math.min(this.#selected - Math.floor(room / 2), rows.length - room))
    const width = Math.max(...rows.map((row) => refOf(row).length))
    const lines = rows.slice(first, first + room).map((row, index) => {
      const mark = row.isSettled ? '✓' : row.hasFailed ? '✗' : '·'
      const pointer = first + index === this.#selected ? '▸' : ' '
      return safeText(`${pointer} ${mark} ${refOf(row).padEnd(width)}  ${stateLine(row)}`).replace(/\n/g, ' ')
    })
    return rows.length > lines.length ? [...lines, `  ${rows.length} in all`] : lines
  }

  #logLines(selected: WorkloadRow | undefined, room: number): readonly string[] {
    const wanted = this.#isOne && selected ? refOf(selected) : undefined
    const lines = this.#lines.filter(({ ref }) => wanted === undefined || ref === wanted)
    return room === 0 ? [] : lines.slice(-room).map(({ ref, text }) => `${ref} | ${safeLine(text)}`)
  }

  #add(ref: string, text: string): void {
    this.#lines.push({ ref, text })
    if (this.#lines.length > 2 * linesMax) this.#lines = this.#lines.slice(-linesMax)
    this.#soon()
  }

  #soon(): void {
    this.#cancel ??= this.#options.clock.after(redrawMs, () => {
      this.#cancel = undefined
      this.draw()
    })
  }
}
