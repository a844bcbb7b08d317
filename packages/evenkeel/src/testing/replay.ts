/**
 * Replay files: a failure as a small file, and the run that shows it again.
 *
 * A file names the scenario, the seed and the deviations; together they determine the schedule. `replay` says whether the
 * rule is still broken and whether the trace is the same. `onStep` receives every event before it runs, and the world
 * waits for it: a caller can step through the schedule. All code runs in this process, so breakpoints work. Under a
 * debugger the replay stops at every fault and where the rule is broken.
 */
import { parseJson, stringifyJson } from '#api'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { url as inspectorUrl } from 'node:inspector'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { profiles, type Deviation, type ProfileName } from './deviation.ts'
import { loadExploreSubject, parseModuleReference } from './explore-module.ts'
import { scenarioOf, type Explored, type ExploreOptions } from './explore.ts'
import type { Failure } from './failures.ts'
import type { TraceEntry } from './history.ts'
import { buildInitialState } from './initial-state.ts'
import { buildStory, type StoryLine } from './report/story.ts'
import { isFault } from './report/timeline.ts'
import type { Finding } from './rules/rule.ts'
import { kindsOf } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World } from './world.ts'

export interface Replayed {
  /** The expected rule is broken again. */
  readonly isFound: boolean
  /** The trace is the same. */
  readonly isSame: boolean
  readonly hash: string
  readonly findings: readonly Finding[]
  readonly story: readonly StoryLine[]
}

/** An event before it runs, or a note after it happened. */
export interface ReplayStep extends TraceEntry {
  /** A deviation, or a failed response. */
  readonly isFault: boolean
  /** The rule is broken here. */
  readonly isBroken: boolean
  /** The event is about to run, and the world waits; false: a note about what happened. */
  readonly isAction: boolean
}

interface ReplayOptions {
  /** Called for every step; the world waits for the returned promise. @default not called */
  readonly onStep?: (step: ReplayStep) => void | Promise<void>
  /** @throws its reason at the next step */
  readonly signal?: AbortSignal
}

/** Runs the schedule of a replay file. @throws {RangeError} when the file belongs to another scenario. */
export async function replay<External extends object = object>(
  file: ReplayFile,
  options: Pick<ExploreOptions<External>, 'controllers' | 'scenario'> & ReplayOptions,
): Promise<Replayed> {
  const whole = scenarioOf(options)
  if (whole.name !== file.scenario)
    throw new RangeError(`the replay file belongs to scenario ${file.scenario}, not to ${whole.name}`)
  const { seed, deviations, expected, steps = whole.steps.length } = file
  const scenario = { ...whole, steps: whole.steps.slice(0, steps) }
  const base = {
    scenario,
    seed,
    profile: profiles[file.profile],
    initialState: await buildInitialState(whole, { kinds: kindsOf(whole), seed }),
    keepsTrace: true,
  }
  const first = await runSchedule({ ...base, deviations: [] })
  const reference = await referenceOf(first, base)
  const again = { ...base, deviations, ...(deviations.length > 0 ? { reference } : { masks: reference.masks }) }
  const found = await runSchedule(again)
  const isExpected = ({ rule, about }: Finding): boolean => rule === expected.rule && about === expected.about
  const world =
    options.onStep || inspectorUrl() !== undefined
      ? await runStepwise(again, { ...options, brokenAt: found.findings.find(isExpected)?.step ?? Infinity })
      : found
  const { hash } = world.trace
  return {
    isFound: world.findings.some(isExpected),
    isSame: hash === file.hash,
    hash,
    findings: world.findings,
    story: buildStory({ about: expected.about }, world),
  }
}

/**
 * Replays a file with the module that it names.
 *
 * @param options `module`: use this module instead
 * @throws {RangeError} when the file cannot be read, or names no module.
 */
export async function replayFile(
  path: string,
  options: ReplayOptions & { readonly module?: string | URL } = {},
): Promise<Replayed> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new RangeError(`cannot read replay file ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  })
  const file = parseReplayFile(text)
  const module = options.module ?? (file.module === undefined ? undefined : resolve(dirname(path), file.module))
  if (module === undefined) throw new RangeError(`replay file ${path} names no module: pass one`)
  return await replay(file, { ...options, ...(await loadExploreSubject(module)) })
}

/** Runs a schedule and reports every step. */
function runStepwise(
  schedule: Parameters<typeof runSchedule>[0],
  { onStep, signal, brokenAt }: ReplayOptions & { readonly brokenAt: number },
): Promise<World> {
  let isBroken = false
  const report = (entry: TraceEntry, isAction: boolean): void | Promise<void> => {
    signal?.throwIfAborted()
    const isNow = !isBroken && entry.step >= brokenAt
    isBroken ||= isNow
    const step = { ...entry, isAction, isFault: isFault(entry), isBroken: isNow }
    stopInDebugger(step)
    return onStep?.(step)
  }
  return runSchedule({
    ...schedule,
    onAction: (entry) => report(entry, true),
    onNote: (entry) => {
      void report(entry, false)
    },
  })
}

/** Does nothing without a debugger. */
function stopInDebugger({ isFault: isFaulty, isBroken }: ReplayStep): void {
  if ((!isFaulty && !isBroken) || inspectorUrl() === undefined) return
  // eslint-disable-next-line no-debugger -- stops the debugger at a fault: see `step` in the caller
  debugger
}

/** The format of the files that this version writes and reads. */
const replayFormat = 2

export interface ReplayFile {
  readonly format: typeof replayFormat
  readonly scenario: string
  /** The module that exports the scenario, relative to this file. @default unknown */
  readonly module?: string
  readonly profile: ProfileName
  readonly seed: string
  /** How many steps the user takes. @default all */
  readonly steps?: number
  readonly deviations: readonly Deviation[]
  /** The rule that is broken, and the object. */
  readonly expected: { readonly rule: string; readonly about: string }
  /** The trace hash. */
  readonly hash: string
}

/** @returns undefined for a failure that was not shrunk: it has no trace hash */
export function replayFileOf(
  { rule, about, deviations, steps, hash }: Failure,
  { scenario, profile, seed }: Pick<Explored, 'scenario' | 'profile' | 'seed'>,
): ReplayFile | undefined {
  if (hash === undefined) return undefined
  return {
    format: replayFormat,
    scenario,
    profile,
    seed,
    ...(steps !== undefined && { steps }),
    deviations,
    expected: { rule, about },
    hash,
  }
}

/**
 * Writes a file for every failure that was shrunk.
 *
 * @param options `directory`: created if it does not exist; `module`: the explored module, which the files name
 * @returns the path of the file of each failure, in the order of the failures; undefined for a failure without a file
 */
export async function writeReplayFiles(
  explored: Explored,
  { directory, module }: { readonly directory: string; readonly module?: string | URL },
): Promise<(string | undefined)[]> {
  await mkdir(directory, { recursive: true })
  const taken = new Set<string>()
  return await Promise.all(
    explored.failures.map(async (failure) => {
      const file = replayFileOf(failure, explored)
      if (!file) return undefined
      const path = join(directory, nameFor(failure, taken))
      const named = module === undefined ? file : { ...file, module: moduleFrom(directory, module) }
      await writeFile(path, `${stringifyJson(named, 2)}\n`)
      return path
    }),
  )
}

/** `cleanup-7f3a9c01.json` */
function nameFor({ rule, hash = '' }: Failure, taken: Set<string>): string {
  const name = `${rule}-${hash.slice(0, 8)}`
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`
  taken.add(free)
  return `${free}.json`
}

function moduleFrom(directory: string, module: string | URL): string {
  const { path, name } = parseModuleReference(module)
  return `${relative(resolve(directory), path).split(sep).join('/')}${name === undefined ? '' : `#${name}`}`
}

/** @throws {RangeError} when the text is not a replay file of the current format. */
export function parseReplayFile(text: string): ReplayFile {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    throw new RangeError('not a replay file: the text is not JSON')
  }
  const file = value as Partial<ReplayFile> | null
  if (typeof file !== 'object' || file === null || typeof file.format !== 'number')
    throw new RangeError('not a replay file: it has no format')
  if (file.format !== replayFormat)
    throw new RangeError(
      `the replay file has format ${String(file.format)}, this version reads format ${replayFormat}: explore again to write a new file`,
    )
  const { scenario, profile = '' as ProfileName, seed, deviations, expected, hash } = file
  if (
    typeof scenario !== 'string' ||
    typeof seed !== 'string' ||
    typeof hash !== 'string' ||
    !isDeviations(deviations) ||
    typeof expected?.rule !== 'string'
  )
    throw new RangeError('the replay file is damaged: it needs scenario, seed, deviations, expected and hash')
  if (!Object.hasOwn(profiles, profile))
    throw new RangeError(
      `the replay file has the unknown profile ${JSON.stringify(profile)}; the profiles are ${Object.keys(profiles).join(', ')}`,
    )
  if (file.module !== undefined && typeof file.module !== 'string')
    throw new RangeError('the replay file is damaged: module must be a path')
  return file as ReplayFile
}

function isDeviations(value: unknown): value is readonly Deviation[] {
  return (
    Array.isArray(value) &&
    value.every(
      (one: Partial<Deviation> | null) =>
        typeof one?.at?.type === 'string' && Number.isInteger(one.at.index) && typeof one.action?.type === 'string',
    )
  )
}
