/**
 * Runs one schedule again, from a file, and says whether it still fails and whether it went the same way.
 *
 * Whoever listens hears of every action before it happens, and the world waits for them: that is stepping. All code
 * runs in this process, so breakpoints work; under a debugger it stops where something goes wrong and where the rule is
 * found broken.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { url as inspectorUrl } from 'node:inspector'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { profiles, type Deviation, type ProfileName } from './deviation.ts'
import { loadExploreSubject, parseModuleReference } from './explore-module.ts'
import { scenarioOf, type Explored, type ExploreOptions } from './explore.ts'
import type { Failure } from './failures.ts'
import type { TraceEntry } from './history.ts'
import { buildInitialState } from './initial-state.ts'
import { buildStory, isTurn, type StoryLine } from './report/timeline.ts'
import type { Finding } from './rules/rule.ts'
import { kindsOf } from './scenario.ts'
import { referenceOf, runSchedule } from './schedule.ts'
import type { World } from './world.ts'

export interface Replayed {
  /** The rule that the file expects was found broken again. */
  readonly isFound: boolean
  /** The trace is the very same. */
  readonly isSame: boolean
  readonly hash: string
  readonly findings: readonly Finding[]
  readonly story: readonly StoryLine[]
}

/** One action, before it happens, or something that just happened to the world. */
export interface ReplayStep extends TraceEntry {
  /** Something goes otherwise than undisturbed. */
  readonly isTurn: boolean
  /** Here the rule was found broken. */
  readonly isBroken: boolean
  /** It is about to happen, and the world waits; otherwise it has happened. */
  readonly isAction: boolean
}

export interface ReplayOptions {
  /** Hears of every step; the next one waits until what this returns is done. @default nobody */
  readonly onStep?: (step: ReplayStep) => void | Promise<void>
  /** @throws its reason at the next step */
  readonly signal?: AbortSignal
}

/** @throws {RangeError} when the file belongs to another scenario. */
export async function replay<Outside extends object = object>(
  file: ReplayFile,
  options: Pick<ExploreOptions<Outside>, 'controllers' | 'scenario'> & ReplayOptions,
): Promise<Replayed> {
  const whole = scenarioOf(options)
  if (whole.name !== file.scenario)
    throw new RangeError(`this replay file is about the scenario ${file.scenario}, not ${whole.name}`)
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
  const again = { ...base, deviations, ...(deviations.length > 0 && { reference: await referenceOf(first, base) }) }
  const found = deviations.length === 0 ? first : await runSchedule(again)
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
    story: buildStory({ about: expected.about, deviations }, world),
  }
}

/**
 * Replays a file with the module that it names.
 *
 * @param options `module`: another one, as `exploreModule` takes it
 * @throws {RangeError} when there is no such file, or no module to replay it with.
 */
export async function replayFile(
  path: string,
  options: ReplayOptions & { readonly module?: string | URL } = {},
): Promise<Replayed> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new RangeError(
      `the replay file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  })
  const file = parseReplayFile(text)
  const module = options.module ?? (file.module === undefined ? undefined : resolve(dirname(path), file.module))
  if (module === undefined) throw new RangeError(`${path} does not say which module it belongs to: name it`)
  return await replay(file, { ...options, ...(await loadExploreSubject(module)) })
}

/** Runs a schedule step by step. */
function runStepwise(
  schedule: Parameters<typeof runSchedule>[0],
  { onStep, signal, brokenAt }: ReplayOptions & { readonly brokenAt: number },
): Promise<World> {
  let isBroken = false
  const tell = (entry: TraceEntry, isAction: boolean): void | Promise<void> => {
    signal?.throwIfAborted()
    const isNow = !isBroken && entry.step >= brokenAt
    isBroken ||= isNow
    const step = { ...entry, isAction, isTurn: isTurn(entry), isBroken: isNow }
    stopInDebugger(step)
    return onStep?.(step)
  }
  return runSchedule({
    ...schedule,
    onAction: (entry) => tell(entry, true),
    onNote: (entry) => {
      void tell(entry, false)
    },
  })
}

/** Does nothing unless somebody is debugging. */
function stopInDebugger({ isTurn: isOdd, isBroken }: ReplayStep): void {
  if ((!isOdd && !isBroken) || inspectorUrl() === undefined) return
  // eslint-disable-next-line no-debugger -- this is what stepping under a debugger is for: look at `step` in the caller
  debugger
}

/*
 * A failure as a small file: enough to see it again, in another process, under a debugger.
 */

export interface ReplayFile {
  readonly format: 1
  readonly scenario: string
  /** The module that exports the scenario, from where this file is. @default unknown */
  readonly module?: string
  readonly profile: ProfileName
  readonly seed: string
  /** How many steps the user takes. @default all */
  readonly steps?: number
  readonly deviations: readonly Deviation[]
  /** What is expected to be found: the rule and the thing. */
  readonly expected: { readonly rule: string; readonly about: string }
  /** The number of the trace. */
  readonly hash: string
}

/** @returns undefined for a failure whose story was not told: it has no trace */
export function replayFileOf(
  { rule, about, deviations, steps, hash }: Failure,
  { scenario, profile, seed }: Pick<Explored, 'scenario' | 'profile' | 'seed'>,
): ReplayFile | undefined {
  if (hash === undefined) return undefined
  return {
    format: 1,
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
 * Writes a file for every failure that was told.
 *
 * @param options `directory`: made if it is not there; `module`: what was explored, so that the files name it
 * @returns the path of each failure's file, in the order of the failures; undefined for those that have none
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
      await writeFile(path, `${JSON.stringify(named, null, 2)}\n`)
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

/** @throws {RangeError} for a file that is not one of these; the message says what is wrong. */
export function parseReplayFile(text: string): ReplayFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RangeError('this is not a replay file: it is not JSON')
  }
  const file = value as Partial<ReplayFile> | null
  if (typeof file !== 'object' || file === null || file.format !== 1)
    throw new RangeError('this is not a replay file of format 1')
  const { scenario, profile = '' as ProfileName, seed, deviations, expected, hash } = file
  if (
    typeof scenario !== 'string' ||
    typeof seed !== 'string' ||
    typeof hash !== 'string' ||
    !isDeviations(deviations) ||
    typeof expected?.rule !== 'string'
  )
    throw new RangeError('this replay file is damaged: scenario, seed, deviations, expected and hash must be there')
  if (!Object.hasOwn(profiles, profile))
    throw new RangeError(
      `this replay file is for the profile ${JSON.stringify(profile)}, which is not known: there are ${Object.keys(profiles).join(', ')}`,
    )
  if (file.module !== undefined && typeof file.module !== 'string')
    throw new RangeError('this replay file is damaged: module must be a path')
  return file as ReplayFile
}

function isDeviations(value: unknown): value is readonly Deviation[] {
  return (
    Array.isArray(value) &&
    value.every(
      (one: Partial<Deviation> | null) =>
        typeof one?.at?.type === 'string' && Number.isInteger(one.at.index) && typeof one.deed?.type === 'string',
    )
  )
}
