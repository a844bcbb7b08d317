/**
 * What `evenkeel run` prints without a live view: log lines with the name of their workload before them, or JSON events.
 *
 *   api    | listening on 4000
 *   worker | connected
 *   api    : Ready (http:4000)          a change of its state
 *
 * The column of names is as wide as the longest one, so that lines do not move while programs write.
 */
import type { ShutdownOutcome } from '@evenkeel/workloads'
import type { Output } from '../command.ts'
import { safeLine } from '../terminal.ts'
import { refOf, type WorkloadRow } from './workload-row.ts'

/** Where a run reports. */
export interface RunOutput {
  /** Before anything runs: the names that will be there. */
  begin(heading: string, names: readonly string[]): void
  changed(row: WorkloadRow | undefined, previous: WorkloadRow | undefined): void
  line(row: WorkloadRow, text: string): void
  /** A sentence for the person who watches. */
  say(text: string): void
  outcome(outcome: ShutdownOutcome): void
  end(exitCode: number): void
}

/** Colours that are read on light and dark backgrounds. */
const colours = [36, 33, 35, 32, 34, 31]
const namesMax = 30

export class PlainOutput implements RunOutput {
  readonly #stdout: Output
  readonly #hasColour: boolean
  #width = 0
  readonly #colours = new Map<string, number>()

  constructor(stdout: Output, { hasColour = false }: { readonly hasColour?: boolean } = {}) {
    this.#stdout = stdout
    this.#hasColour = hasColour
  }

  begin(heading: string, names: readonly string[]): void {
    this.#width = Math.min(namesMax, Math.max(0, ...names.map((name) => name.length)))
    this.#stdout.write(`${heading}\n\n`)
  }

  changed(row: WorkloadRow | undefined, previous: WorkloadRow | undefined): void {
    const name = (row ?? previous)?.name ?? ''
    const [now, before] = [row && stateLine(row), previous && stateLine(previous)]
    if (now !== before) this.#write(name, ':', now ?? 'removed')
  }

  line({ name }: WorkloadRow, text: string): void {
    this.#write(name, '|', text)
  }

  say(text: string): void {
    this.#stdout.write(`${safeLine(text)}\n`)
  }

  outcome(outcome: ShutdownOutcome): void {
    this.#write(outcome.name, ':', outcomeLine(outcome))
  }

  end(exitCode: number): void {
    this.#stdout.write(exitCode === 0 ? 'Stopped.\n' : `Stopped with exit code ${exitCode}.\n`)
  }

  #write(name: string, mark: string, text: string): void {
    const label = name.slice(0, namesMax).padEnd(this.#width)
    if (!this.#colours.has(name)) this.#colours.set(name, colours[this.#colours.size % colours.length] ?? 36)
    const shown = `${label} ${mark}`
    const start = this.#hasColour ? `\u001b[${this.#colours.get(name) ?? 0}m${shown}\u001b[0m` : shown
    this.#stdout.write(`${start} ${safeLine(text)}\n`)
  }
}

/** `Ready (http:8080)`, `BackOff, restarts 3: exited with code 1`. */
export function stateLine({ phase, ready, isSettled, restarts, addresses, why }: WorkloadRow): string {
  const word = isSettled && phase === 'Running' ? 'Ready' : /^\d/.test(ready) ? `${phase} ${ready}` : phase
  const again = restarts > 0 ? `, restarts ${restarts}` : ''
  if (isSettled) return `${word}${again}${addresses.length > 0 ? ` (${addresses.join(', ')})` : ''}`
  return `${word}${again}${why === '' ? '' : `: ${why}`}`
}

/** `stopped in 12 ms`, `survived: 812 (node server.js)`. */
export function outcomeLine({ outcome, tookMs, survivors, message }: ShutdownOutcome): string {
  const took = tookMs < 1000 ? `${Math.round(tookMs)} ms` : `${(tookMs / 1000).toFixed(1)} s`
  if (outcome === 'Stopped') return `stopped in ${took}`
  if (outcome === 'Killed') return `killed after ${took}: it did not end in time`
  if (outcome === 'Kept') return 'goes on: its lifetime is Persistent'
  if (message !== undefined) return `could not be stopped: ${message}`
  return `still running: ${survivors.map(({ pid, command }) => `${pid} (${command})`).join(', ')}`
}

export class JsonOutput implements RunOutput {
  readonly #stdout: Output

  constructor(stdout: Output) {
    this.#stdout = stdout
  }

  begin(): void {
    // The event `started` has more.
  }

  changed(row: WorkloadRow | undefined, previous: WorkloadRow | undefined): void {
    const [now, before] = [row && factsOf(row), previous && factsOf(previous)]
    if (JSON.stringify(now) === JSON.stringify(before)) return
    this.event(now ? { event: 'workload', ...now } : { event: 'removed', kind: previous?.kind, name: previous?.name })
  }

  line({ kind, name, run }: WorkloadRow, text: string): void {
    this.event({ event: 'log', kind, name, run, line: text })
  }

  say(text: string): void {
    this.event({ event: 'message', message: text })
  }

  outcome({ tookMs, ...outcome }: ShutdownOutcome): void {
    this.event({ event: 'stopped', ...outcome, tookMs: Math.round(tookMs) })
  }

  end(exitCode: number): void {
    this.event({ event: 'ended', exitCode })
  }

  event(facts: object): void {
    this.#stdout.write(`${JSON.stringify(facts)}\n`)
  }
}

/** A row for programs. */
export function factsOf(row: WorkloadRow): object {
  const {
    kind,
    namespace,
    name,
    phase,
    ready,
    isSettled,
    restarts,
    run,
    pid,
    exitCode,
    startedAt,
    addresses,
    logFile,
    why,
  } = row
  return {
    kind,
    namespace,
    name,
    phase,
    ready,
    isSettled,
    restarts,
    run,
    pid,
    exitCode,
    startedAt,
    addresses,
    logFile,
    why,
  }
}

/** The sentence about what is missing: every workload that is not ready, and why. */
export function missingOf(rows: readonly WorkloadRow[]): readonly string[] {
  return rows.filter(({ isSettled }) => !isSettled).map((row) => `${refOf(row)}: ${stateLine(row)}`)
}
