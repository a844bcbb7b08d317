/**
 * A whole session of each tool, interleaved: from the command to so many running programs, idle, and all of them gone.
 * Everything is counted in the process table, so that no tool is believed.
 *
 *   command ──▶ 50 programs run (`start`) ──▶ settled ──▶ idle (`idle`, `memory`) ──▶ SIGTERM ──▶ 0 programs (`stop`)
 *                                                                    └──▶ SIGKILL ──▶ survivors (`kill`)
 */
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomInt, SeededRandom } from 'evenkeel/unstable/base'
import { median, type BenchOptions, type Print } from '../print.ts'
import { MarkedProcesses, type ToolUsage } from './marked-processes.ts'
import { findTools, type Tool } from './tools.ts'

interface SessionFigures {
  readonly startMs: number
  readonly startCpuMs: number
  readonly idleCpuMsPerS: number
  readonly usage: ToolUsage
  readonly watchdog: ToolUsage
  readonly endMs: number
  /** Programs that were alive at the end of the patience. */
  readonly survivors: number
}

interface SessionPlan {
  readonly count: number
  /** How many programs run before the session goes on. @default all */
  readonly running?: number
  readonly end: 'SIGTERM' | 'SIGKILL'
  readonly idleMs: number
}

/** How long a start may take on a machine that is busy with other work, for each program and in all. */
const startPatienceMs = { each: 200, least: 60_000 }
/** How many kills; a peer is killed this many times less often, because its survivors take the whole patience. */
const trials = { ours: 200, peer: 20 }
/** What is alive so long after the end of the tool is left behind. */
const endPatienceMs = 5_000
/** After the start a tool still writes what has happened: that is no rest. */
const settleMs = 3_000
const lookMs = 3
/** Looks take a small part of the time, so that what is measured has the processors for itself. */
const lookPause = 3

export async function measureSessions({ rounds, quick, only, print }: BenchOptions): Promise<void> {
  if (process.platform !== 'linux') {
    process.stderr.write('the sessions of workloads are measured on Linux only: they read /proc\n')
    return
  }
  const tools = findTools()
  for (const count of quick ? [3] : [50, 1000]) {
    const cases = ['start', 'idle', 'memory', 'watchdog', 'stop'].map((name) => `${name} ${count}`)
    if (cases.some((name) => name.includes(only)))
      await compare(tools, { count, end: 'SIGTERM', idleMs: quick ? 100 : 5_000 }, { rounds, only, print })
  }
  const count = quick ? 3 : 50
  const killed = tools.filter(({ isReference = false }) => !isReference)
  if (`kill -9 ${count}`.includes(only)) await compareKills(killed, { count, isQuick: quick, print })
}

interface Comparing {
  readonly rounds: number
  readonly only: string
  readonly print: Print
}

async function compare(tools: readonly Tool[], plan: SessionPlan, { rounds, only, print }: Comparing): Promise<void> {
  const contenders = tools.filter(({ isHeavy = false }) => plan.count <= 100 || !isHeavy)
  const results = new Map<Tool, SessionFigures[]>()
  for (let round = 0; round < rounds; round++)
    for (const tool of contenders) {
      const figures = await orMissed(session(tool, plan), `${tool.name}, ${plan.count} programs`)
      results.set(tool, [...(results.get(tool) ?? []), ...(figures ? [figures] : [])])
    }
  const [[, ours] = [undefined, []], ...peers] = results
  const rows: readonly Row[] = [
    { case: 'start', unit: 'ms', of: ({ startMs }) => startMs, more: 'startCpuMs', goals: { 50: 800, 1000: 5_000 } },
    { case: 'idle', unit: 'CPU ms/s', of: ({ idleCpuMsPerS }) => idleCpuMsPerS, goals: { 50: 1 } },
    {
      case: 'memory',
      unit: 'MB RSS',
      of: ({ usage, watchdog }) => (usage.rssBytes - watchdog.rssBytes) / 1e6,
      more: 'pss',
      goals: { 50: 130 },
    },
    {
      case: 'watchdog',
      unit: 'MB RSS',
      of: ({ watchdog }) => watchdog.rssBytes / 1e6,
      goals: { 50: 2, 1000: 2 },
      isOurs: true,
    },
    { case: 'stop', unit: 'ms', of: ({ endMs }) => endMs, more: 'survivors', goals: { 50: 150, 1000: 2_000 } },
  ]
  for (const row of rows.filter((one) => `${one.case} ${plan.count}`.includes(only)))
    for (const [tool, theirs] of rivals(row, peers))
      print({
        case: `${row.case} ${plan.count}`,
        ours: median(ours.map(row.of)),
        peer: tool && median(theirs.map(row.of)),
        peerName: tool?.name ?? (row.isOurs ? 'peers have none' : noPeer),
        unit: row.unit,
        lessIsBetter: true,
        more: {
          ...(row.goals?.[plan.count] !== undefined && { goal: row.goals[plan.count] }),
          ...moreOf(row, 'ours', ours),
          ...(tool && moreOf(row, tool.name, theirs)),
        },
      })
}

/** Against whom a row is measured. */
function rivals(
  { case: name, isOurs = false }: Row,
  peers: readonly (readonly [Tool, readonly SessionFigures[]])[],
): readonly (readonly [Tool | undefined, readonly SessionFigures[]])[] {
  const fit = peers.filter(([{ isReference = false }]) => !isReference || name === 'start' || name === 'stop')
  return isOurs || fit.length === 0 ? [[undefined, []]] : fit
}

/** A session that fails is named, and is missing in the figures; the others are measured. */
async function orMissed(figures: Promise<SessionFigures>, name: string): Promise<SessionFigures | undefined> {
  try {
    return await figures
  } catch (error) {
    process.stderr.write(`missed: ${name}: ${(error as Error).message}\n`)
    process.exitCode = 1
    return undefined
  }
}

interface Row {
  readonly case: string
  readonly unit: string
  readonly of: (figures: SessionFigures) => number
  readonly more?: 'startCpuMs' | 'pss' | 'survivors'
  /** At most this, by the number of programs. */
  readonly goals?: Readonly<Record<number, number>>
  /** Only ours has it. */
  readonly isOurs?: boolean
}

const noPeer = 'no peer: PROCESS_COMPOSE, DCP'

function moreOf({ more }: Row, who: string, figures: readonly SessionFigures[]): Record<string, number> {
  switch (more) {
    case 'startCpuMs':
      return { [`CPU ms, ${who}`]: Math.round(median(figures.map(({ startCpuMs }) => startCpuMs))) }
    case 'pss':
      return {
        [`MB PSS, ${who}`]: Math.round(median(figures.map(({ usage }) => usage.pssBytes)) / 1e6),
        [`processes, ${who}`]: median(figures.map(({ usage }) => usage.processes)),
      }
    case 'survivors':
      return { [`survivors, ${who}`]: figures.reduce((sum, { survivors }) => sum + survivors, 0) }
    default:
      return {}
  }
}

/** Kills at moments that differ from trial to trial: during the start, and up to half a second after it. */
async function compareKills(
  tools: readonly Tool[],
  { count, isQuick, print }: { readonly count: number; readonly isQuick: boolean; readonly print: Print },
): Promise<void> {
  const random = new SeededRandom('kill -9')
  const results = new Map<Tool, SessionFigures[]>()
  for (const [index, tool] of tools.entries()) {
    const kills = isQuick ? 1 : index === 0 ? trials.ours : trials.peer
    const figures: SessionFigures[] = []
    for (let trial = 0; trial < kills; trial++) {
      const running = trial % 2 === 0 ? count : randomInt(random, count)
      const plan = { count, running, end: 'SIGKILL', idleMs: randomInt(random, 500) } as const
      const one = await orMissed(session(tool, plan), `${tool.name}, kill ${trial + 1} of ${kills}`)
      if (one) figures.push(one)
      if ((trial + 1) % progressEvery === 0) process.stderr.write(progressOf(tool, { trial, kills, figures }))
    }
    results.set(tool, figures)
  }
  const [[, ours] = [undefined, []], ...peers] = results
  for (const [tool, theirs] of peers.length > 0 ? peers : [[undefined, []] as const])
    print({
      case: `kill -9 ${count}`,
      ours: median(ours.map(({ endMs }) => endMs)),
      peer: tool && median(theirs.map(({ endMs }) => endMs)),
      peerName: tool?.name ?? noPeer,
      unit: 'ms until gone',
      lessIsBetter: true,
      more: {
        goal: 500,
        trials: ours.length,
        slowest: Math.round(Math.max(...ours.map(({ endMs }) => endMs))),
        ...moreOf({ case: '', unit: '', of: () => 0, more: 'survivors' }, 'ours', ours),
        ...(tool && moreOf({ case: '', unit: '', of: () => 0, more: 'survivors' }, tool.name, theirs)),
      },
    })
}

const progressEvery = 20

interface Progress {
  readonly trial: number
  readonly kills: number
  readonly figures: readonly SessionFigures[]
}

/** Two hundred kills take minutes: what is known so far. */
function progressOf(tool: Tool, { trial, kills, figures }: Progress): string {
  const slowest = Math.round(Math.max(...figures.map(({ endMs }) => endMs)))
  const survivors = figures.reduce((sum, one) => sum + one.survivors, 0)
  return `${tool.name}: ${trial + 1} of ${kills} kills, slowest ${slowest} ms, survivors ${survivors}\n`
}

async function session(tool: Tool, { count, running = count, end, idleMs }: SessionPlan): Promise<SessionFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-bench-'))
  const marked = new MarkedProcesses(`${process.pid}${Math.floor(performance.now() * 1000)}`)
  try {
    const startedMs = performance.now()
    const child = await tool.start({ folder, count, marked })
    await until(() => marked.programs().length >= running, { tool, child, count })
    const startMs = performance.now() - startedMs
    const startCpuMs = marked.usage().cpuUs / 1000
    if (end === 'SIGTERM') await sleep(settleMs)
    const before = marked.usage().cpuUs
    await sleep(idleMs)
    const usage = marked.usage()
    const watchdog = marked.usage(marked.watchdogs())
    const idleCpuMsPerS = idleMs === 0 ? 0 : (usage.cpuUs - before) / idleMs
    const { endMs, survivors } = await ended(child, marked, end)
    return { startMs, startCpuMs, idleCpuMsPerS, usage, watchdog, endMs, survivors }
  } finally {
    marked.sweep()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function until(
  condition: () => boolean,
  { tool, child, count }: { readonly tool: Tool; readonly child: ChildProcess; readonly count: number },
): Promise<void> {
  const patienceMs = Math.max(startPatienceMs.least, count * startPatienceMs.each)
  for (const startedMs = performance.now(); !(await looked(condition));) {
    if (child.exitCode !== null)
      throw new Error(`${tool.name} ended with ${child.exitCode}: BENCH_LOG=1 shows its output`)
    if (performance.now() - startedMs > patienceMs)
      throw new Error(`${tool.name} did not start all programs in ${patienceMs / 1000} s`)
  }
}

/** Whether it is true now; if it is not, a pause follows. */
async function looked(condition: () => boolean): Promise<boolean> {
  const startedMs = performance.now()
  if (condition()) return true
  await sleep(Math.max(lookMs, lookPause * (performance.now() - startedMs)))
  return false
}

async function ended(
  child: ChildProcess,
  marked: MarkedProcesses,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<{ readonly endMs: number; readonly survivors: number }> {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve()
  const startedMs = performance.now()
  child.kill(signal)
  let survivors = marked.programs().length
  const isOver = (): boolean => (survivors = marked.programs().length) === 0
  while (!(await looked(isOver)) && performance.now() - startedMs < endPatienceMs);
  const endMs = performance.now() - startedMs
  if (survivors === 0) await exited
  return { endMs, survivors }
}
