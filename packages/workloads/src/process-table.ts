/**
 * The process table of this machine: `/proc` on Linux, `ps` elsewhere.
 *
 * Worked example, a line of /proc/812/stat. The name may contain spaces and parentheses, so fields are counted from the
 * last `)`:
 *
 *   812 (my (odd) name) S 1 812 812 0 -1 4194560 … 99120 …
 *                       │ │ │   └ session            └ start time in ticks since boot, the 20th field after the name
 *                       │ │ └ process group
 *                       │ └ parent
 *                       └ state; Z is a zombie, X is dead
 *
 * The environment of a process is read only from those that are young enough to be of interest. It shows what the process
 * was started with, which children inherit: a program that leaves its group and its session still carries the mark.
 */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ProcessEntry } from './process-host.ts'

/** The variable that names the run a process descends from. */
export const markVariable = 'EVENKEEL_RUN'

export interface ProcessTable {
  bootId(): string
  /** When a process started, even if it is a zombie. */
  startTicks(pid: number): number | undefined
  /** One process, without its mark; undefined when it is gone or a zombie. Does not wait. */
  find(pid: number): ProcessEntry | undefined
  /** Every process that started at or after these ticks. */
  list(sinceTicks: number, pause: () => Promise<void>): Promise<readonly ProcessEntry[]>
}

/** How many processes are read before other work gets its turn. */
const sliceSize = 128
const commandLength = 240

/** The table in `/proc`. */
export class ProcTable implements ProcessTable {
  readonly #root: string
  #bootId: string | undefined

  constructor(root = '/proc') {
    this.#root = root
  }

  bootId(): string {
    this.#bootId ??= readFileSync(`${this.#root}/sys/kernel/random/boot_id`, 'utf8').trim()
    return this.#bootId
  }

  startTicks(pid: number): number | undefined {
    const stat = this.#read(pid, 'stat')
    return stat === undefined ? undefined : startTicksOf(fieldsOf(stat))
  }

  find(pid: number): ProcessEntry | undefined {
    const stat = this.#read(pid, 'stat')
    const parsed = stat === undefined ? undefined : parseStat(stat)
    return parsed && { ...parsed, command: this.#commandOf(pid, stat ?? '') }
  }

  async list(sinceTicks: number, pause: () => Promise<void>): Promise<readonly ProcessEntry[]> {
    const pids = readdirSync(this.#root).filter((name) => /^\d+$/.test(name))
    const entries: ProcessEntry[] = []
    for (const [index, name] of pids.entries()) {
      if (index % sliceSize === sliceSize - 1) await pause()
      const stat = this.#read(Number(name), 'stat')
      const parsed = stat === undefined ? undefined : parseStat(stat)
      if (!parsed || parsed.startTicks < sinceTicks) continue
      const mark = markOf(this.#read(parsed.pid, 'environ') ?? '', '\0')
      entries.push({
        ...parsed,
        command: this.#commandOf(parsed.pid, stat ?? ''),
        ...(mark !== undefined && { mark }),
      })
    }
    return entries
  }

  #commandOf(pid: number, stat: string): string {
    const line = (this.#read(pid, 'cmdline') ?? '').replaceAll('\0', ' ').trim()
    return (line || stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))).slice(0, commandLength)
  }

  /** A process may end between two reads: that is no error. */
  #read(pid: number, file: string): string | undefined {
    try {
      return readFileSync(`${this.#root}/${pid}/${file}`, 'latin1')
    } catch {
      return undefined
    }
  }
}

/** A line of /proc/PID/stat; undefined for a zombie. */
export function parseStat(stat: string): Omit<ProcessEntry, 'command'> | undefined {
  const fields = fieldsOf(stat)
  const [state = '', parentPid, groupId, sessionId] = fields
  if (/^[ZXx]?$/.test(state)) return undefined
  return {
    pid: Number.parseInt(stat, 10),
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    startTicks: startTicksOf(fields),
  }
}

/** The fields after the name. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function startTicksOf(fields: readonly string[]): number {
  return Number(fields[19])
}

/** The mark in an environment. */
function markOf(environment: string, separator: string): string | undefined {
  return environment
    .split(separator)
    .findLast((variable) => variable.startsWith(`${markVariable}=`))
    ?.slice(markVariable.length + 1)
}

const run = promisify(execFile)
const ticksPerSecond = 100
const outputBytesMax = 64 * 1024 * 1024
/** Columns that every `ps` has. The start time is the last one before the command and always has five words. */
const columns = ['pid=', 'ppid=', 'pgid=', 'sess=', 'stat=', 'lstart=', 'command='].flatMap((name) => ['-o', name])

/**
 * The table of `ps`, for systems without `/proc`. It knows start times by the second only: a pid that is reused within
 * the same second is not noticed.
 */
export class PsTable implements ProcessTable {
  readonly #bootId: string

  constructor(bootId: string) {
    this.#bootId = bootId
  }

  bootId(): string {
    return this.#bootId
  }

  startTicks(pid: number): number | undefined {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: psEnv() })
    return stdout.trim() === '' ? undefined : ticksOf(stdout.trim())
  }

  find(pid: number): ProcessEntry | undefined {
    const { stdout } = spawnSync('ps', [...columns, '-p', String(pid)], { encoding: 'utf8', env: psEnv() })
    return stdout.split('\n').flatMap((line) => parsePsLine(line) ?? [])[0]
  }

  async list(sinceTicks: number, _pause: () => Promise<void>): Promise<readonly ProcessEntry[]> {
    // With the environment of one's own processes after the command line: -E on macOS, e elsewhere.
    const all = process.platform === 'darwin' ? '-axEww' : 'axeww'
    const { stdout } = await run('ps', [all, ...columns], { maxBuffer: outputBytesMax, env: psEnv() })
    return stdout
      .split('\n')
      .flatMap((line) => parsePsLine(line) ?? [])
      .filter(({ startTicks }) => startTicks >= sinceTicks)
  }
}

/** English dates, in UTC. */
function psEnv(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
}

/** `  812     1   812   812 Ss   Thu Nov 19 10:03:01 2026 node server.js EVENKEEL_RUN=…`; undefined for a zombie. */
export function parsePsLine(line: string): ProcessEntry | undefined {
  const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\w{3} \w{3} +\d+ [\d:]+ \d{4})\s+(.*)$/.exec(line)
  if (!found) return undefined
  const [, pid = '', parentPid = '', groupId = '', session = '', state = '', started = '', command = ''] = found
  if (state.startsWith('Z')) return undefined
  const mark = markOf(command, ' ')
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    // macOS prints an address here: then the group stands for the session.
    sessionId: /^\d+$/.test(session) ? Number(session) : Number(groupId),
    startTicks: ticksOf(started),
    command: command.slice(0, commandLength),
    ...(mark !== undefined && { mark }),
  }
}

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** `Thu Nov 19 10:03:01 2026` as ticks since 1970: only compared with other start times of this table. */
function ticksOf(started: string): number {
  const [, month = '', day = '', time = '', year = ''] = started.split(/ +/)
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  const days = daysBefore(Number(year), months.indexOf(month) / 3) + Number(day) - 1
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * ticksPerSecond
}

/** Days from the first of January 1970 to the first of this month. */
function daysBefore(year: number, month: number): number {
  const before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month] ?? 0
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const leaps = (until: number): number => Math.floor(until / 4) - Math.floor(until / 100) + Math.floor(until / 400)
  return (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + before + (isLeap && month > 1 ? 1 : 0)
}

/** The table of this machine. */
export function systemTable(): ProcessTable {
  if (existsSync('/proc/self/stat')) return new ProcTable()
  const { stdout } = spawnSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' })
  return new PsTable(/sec = (\d+)/.exec(stdout)?.[1] ?? 'unknown')
}
