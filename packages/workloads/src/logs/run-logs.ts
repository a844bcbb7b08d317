/**
 * Which runs of a Process have a log, and the words between the logs of two runs.
 *
 * The status names the runs; their files are kept for the last five.
 */
import { ApiError } from 'evenkeel'
import type { ProcessObject, ProcessStatus } from '../process-kind.ts'
import type { RunOwner } from '../runs.ts'
import type { LogPaths } from './log-keeper.ts'

/** A run whose log can be read. */
export interface LoggedRun extends LogPaths {
  readonly number: number
  readonly startedAt: string
  readonly cause: string
}

type RunSummary = NonNullable<ProcessStatus['run']>

/** How many runs of an object have a log. */
export const logsKept = 5

/** What the paths of the logs of a run begin with, or those of all runs of an object. */
export function logPrefix(folder: string, { namespace, name, uid }: RunOwner, number?: number): string {
  return `${folder}/logs/${namespace}/${name}/${uid.slice(0, 8)}.${number === undefined ? '' : `${number}.`}`
}

const liveReasons: ReadonlySet<string> = new Set(['Running', 'Stopping'])

/** Oldest first. */
export function loggedRuns({ status }: Pick<ProcessObject, 'status'>): readonly LoggedRun[] {
  const all = [...(status?.runs ?? []), ...(status?.run ? [status.run] : [])]
  const runs = new Map(all.flatMap((run) => loggedRun(run)).map((run) => [run.number, run]))
  const last = Math.max(0, ...runs.keys())
  return [...runs.values()].filter(({ number }) => number > last - logsKept).sort((a, b) => a.number - b.number)
}

function loggedRun({ number, logFile, errorFile, startedAt = '', cause = '' }: RunSummary): readonly LoggedRun[] {
  if (number === undefined || logFile === undefined) return []
  return [{ number, logFile, startedAt, cause, ...(errorFile !== undefined && { errorFile }) }]
}

/** Whether nothing more will be written to the log of a run. */
export function isRunOver({ status }: Pick<ProcessObject, 'status'>, number: number): boolean {
  const last = status?.run?.number ?? 0
  return last > number || !liveReasons.has(status?.phase ?? '')
}

interface RunChoice {
  /** @default the last one */
  readonly run?: number
  /** The one before the last. */
  readonly previous: boolean
}

/** @throws {ApiError} `NotFound` for a run without a log, `BadRequest` for a process that never ran */
export function chooseRun(process: ProcessObject, { run, previous }: RunChoice): LoggedRun {
  const runs = loggedRuns(process)
  const last = runs.at(-1)
  if (!last) throw new ApiError('BadRequest', `${nameOf(process)} has not run yet: ${reasonOf(process)}`)
  const number = run ?? (previous ? last.number - 1 : last.number)
  return runs.find((one) => one.number === number) ?? refuse(process, number)
}

/** @throws {ApiError} `NotFound`, with the runs that have a log */
function refuse(process: ProcessObject, number: number): never {
  const numbers = loggedRuns(process).map((run) => run.number)
  throw new ApiError(
    'NotFound',
    `${nameOf(process)} has no log of run ${number}: there are logs of ${numbers.length === 0 ? 'no run' : `run ${numbers.join(', ')}`}`,
  )
}

function nameOf({ metadata }: Pick<ProcessObject, 'metadata'>): string {
  return `Process ${metadata.name}`
}

function reasonOf({ status }: ProcessObject): string {
  const started = status?.conditions?.find(({ type }) => type === 'Started')
  return started ? `${started.reason}${started.message ? `: ${started.message}` : ''}` : 'it was just created'
}

/** The line before the log of a run that follows another one. */
export function markOf({ number, startedAt, cause }: LoggedRun): string {
  return `--- run ${number}, started at ${startedAt}: ${cause.replaceAll(/\s+/g, ' ')} ---`
}
