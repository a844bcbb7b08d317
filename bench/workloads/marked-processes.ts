/**
 * The processes of one run of a tool, found by a mark that they inherit in their environment: whatever the tool started, and
 * however it detached it. Linux only.
 *
 *   EVENKEEL_BENCH=TOKEN  ─▶ the tool ─▶ its helpers                 not started by `sleep`: what the tool costs
 *                                    ├─▶ its watchdog                without the mark: a child that says what it is
 *                                    └─▶ `sleep 100000.TOKEN` × 50   the programs
 *
 * A zombie is not alive: process 1 of a container may take seconds to collect it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { cpuUsOf, rssBytesOf } from '../server/process-usage.ts'

export const markName = 'EVENKEEL_BENCH'

export interface ToolUsage {
  readonly processes: number
  readonly cpuUs: number
  readonly rssBytes: number
  /** Shared pages count in parts. */
  readonly pssBytes: number
}

export class MarkedProcesses {
  readonly token: string
  /** Programs that were found: their command line is not read again. */
  readonly #known = new Set<number>()

  constructor(token: string) {
    this.token = token
  }

  /** What a program of this run sleeps for: found in the process table, and different in every run. */
  get sleepArgument(): string {
    return `100000.${this.token}`
  }

  /** The programs that are alive. */
  programs(): readonly number[] {
    return processIds().filter((id) => this.#isProgram(id) && isAlive(id))
  }

  #isProgram(id: number): boolean {
    if (this.#known.has(id)) return true
    const [program = '', argument] = wordsOf(id)
    if (!program.endsWith('sleep') || argument !== this.sleepArgument) return false
    this.#known.add(id)
    return true
  }

  /** The tool and its helpers. */
  tools(): readonly number[] {
    const entry = `${markName}=${this.token}`
    return processIds().filter(
      (id) => id !== process.pid && read(id, 'environ').split('\0').includes(entry) && !isProgram(id) && isAlive(id),
    )
  }

  /** Watchdogs of ours, which have a small environment of their own. */
  watchdogs(): readonly number[] {
    const tools = new Set(this.tools())
    return processIds().filter(
      (id) => read(id, 'cmdline').includes('evenkeel-watchdog') && tools.has(parentOf(id)) && isAlive(id),
    )
  }

  usage(ids: readonly number[] = [...this.tools(), ...this.watchdogs()]): ToolUsage {
    return {
      processes: ids.length,
      cpuUs: cpuUsOf(ids) ?? 0,
      rssBytes: rssBytesOf(ids) ?? 0,
      pssBytes: ids.reduce((sum, id) => sum + pssBytesOf(id), 0),
    }
  }

  /** Ends everything of this run: the tool first, which may be starting programs, and what is left until nothing is. */
  sweep(): void {
    for (let left = this.#all(); left.length > 0; left = this.#all())
      for (const id of left)
        try {
          process.kill(id, 'SIGKILL')
        } catch {
          // It has ended meanwhile.
        }
  }

  #all(): readonly number[] {
    return [...this.tools(), ...this.watchdogs(), ...this.programs()]
  }
}

function processIds(): readonly number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

function wordsOf(id: number): readonly string[] {
  return read(id, 'cmdline').split('\0')
}

function isProgram(id: number): boolean {
  return wordsOf(id)[0]?.endsWith('sleep') === true
}

function isAlive(id: number): boolean {
  const stat = read(id, 'stat')
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
  return state !== '' && state !== 'Z' && state !== 'X'
}

function parentOf(id: number): number {
  const stat = read(id, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0])
}

function pssBytesOf(id: number): number {
  const [, kib = '0'] = /^Pss:\s+(\d+) kB$/m.exec(read(id, 'smaps_rollup')) ?? []
  return Number(kib) * 1024
}

function read(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
