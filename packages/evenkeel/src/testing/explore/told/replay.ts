/**
 * Runs one schedule again, from a file, and says whether it still fails and whether it went the same way.
 *
 * Whoever listens hears of every action before it happens, and the world waits for them: that is stepping. All code
 * runs in this process, so breakpoints work; under a debugger it stops where something goes wrong and where the rule is
 * found broken.
 */
import { readFile } from 'node:fs/promises'
import { url as inspectorUrl } from 'node:inspector'
import { dirname, resolve } from 'node:path'
import { profiles } from '../../faults/profile.ts'
import type { Finding } from '../../rules/finding.ts'
import { parseReplayFile } from '../../report/replay-file.ts'
import type { ReplayFile } from '../../report/replay-file.ts'
import { buildStory } from '../../report/story.ts'
import type { StoryLine } from '../../report/story.ts'
import { isTurn } from '../../report/timeline.ts'
import { buildInitialState } from '../../world/ground.ts'
import type { TraceEntry } from '../../world/trace.ts'
import type { World } from '../../world/world.ts'
import { loadExploreSubject } from '../cores/module.ts'
import { scenarioOf } from '../explore.ts'
import type { ExploreOptions } from '../explore.ts'
import { kindsOf } from '../kinds-of.ts'
import { referenceOf } from '../reference-of.ts'
import { runSchedule } from '../run-schedule.ts'

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
