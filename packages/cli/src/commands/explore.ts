/**
 * `evenkeel explore`: runs a scenario under every fault and reports which golden rules the program breaks.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import type * as Loaded from 'evenkeel/testing'
import type { Explored, ExploreModuleOptions, ProfileName, Progress, Tier } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import type { Command, Invocation, OptionValues } from '../command.ts'
import { Failure } from '../failure.ts'
import { orBadFile, resolveModule } from '../modules.ts'
import { countOf, durationOf } from '../parse.ts'
import { ProgressLine, safeText } from '../terminal.ts'

/** Loaded on demand: other commands start faster without it. */
type Testing = typeof Loaded

const profileNames: readonly ProfileName[] = ['evenkeel', 'k8s>=1.35', 'k8s<=1.34']

export const explore: Command = {
  name: 'explore',
  about: 'run a scenario under every fault, and report broken rules',
  usage: 'MODULE[#EXPORT]',
  words: { least: 1, most: 1 },
  completes: 'files',
  options: {
    tier: {
      type: 'string',
      choices: ['0', '1', '2', '3'],
      about: '0: no fault, 1: single faults (default), 2: pairs, 3: random combinations',
    },
    budget: { type: 'string', value: 'TIME', about: 'start no schedule after this time: 60s, 5m' },
    seed: { type: 'string', value: 'TEXT', about: 'the seed of all random numbers (default: 1)' },
    seeds: { type: 'string', value: 'NUMBER', about: 'with tier 3: how many random schedules (default: 1000)' },
    cores: { type: 'string', value: 'NUMBER', about: 'how many worker processes (default: one per core)' },
    profile: { type: 'string', choices: profileNames, about: 'the simulated server (default: evenkeel)' },
    html: { type: 'string', value: 'FILE', about: 'also write the report as an HTML page' },
    out: {
      type: 'string',
      value: 'FOLDER',
      about: 'the directory for replay files (default: ./explored)',
    },
  },
  details:
    'The module exports controllers and scenario. Exit code 0: no failure, 1: failures, 2: the module cannot be explored.',
  examples: [
    'evenkeel explore scenario.ts',
    'evenkeel explore scenario.ts --tier 2 --budget 60s --html report.html',
    'evenkeel explore steps.ts#one --json',
  ],
  async run(call) {
    const {
      words: [word = ''],
      values,
      io,
      json,
    } = call
    const options = optionsOf(values)
    const module = await resolveModule(word, io.cwd)
    const testing = await import('evenkeel/testing')
    const line = new ProgressLine(io.stderr, new SystemClock())
    const explored = await orBadFile(
      testing.exploreModule(module, {
        ...options,
        signal: io.signal,
        onProgress: (progress) => {
          line.show(() => bar(progress, testing))
        },
      }),
    ).finally(() => {
      line.clear()
    })
    const replays = await writeOutputs(explored, { module, call, testing })
    io.stdout.write(
      json
        ? `${stringifyJson(withoutTimelines(explored, replays))}\n`
        : safeText(
            testing.formatReport(explored, { replays: replays.map((path) => path && `evenkeel replay ${path}`) }),
          ),
    )
    return explored.failures.some(({ severity }) => severity !== 'info') ? 1 : 0
  },
}

/** @throws {Failure} `usage` */
function optionsOf(values: OptionValues): ExploreModuleOptions {
  const [tier, seed, seeds, cores, profile, budget] = ['tier', 'seed', 'seeds', 'cores', 'profile', 'budget'].map(
    (name) => values.text(name),
  )
  if (seeds !== undefined && tier !== '3')
    throw new Failure('usage', '--seeds needs tier 3', {
      hint: `--tier 3 --seeds ${seeds}`,
    })
  return {
    ...(tier !== undefined && { tier: Number(tier) as Tier }),
    ...(seed !== undefined && { seed }),
    ...(profile !== undefined && { profile: profile as ProfileName }),
    ...(seeds !== undefined && { seeds: countOf('seeds', seeds) }),
    ...(cores !== undefined && { cores: countOf('cores', cores) }),
    ...(budget !== undefined && { budgetMs: durationOf('budget', budget) }),
  }
}

/** Writes the replay files and the HTML page. @returns the path of the file of each failure */
async function writeOutputs(
  explored: Explored,
  {
    module,
    call: { values, io },
    testing: { writeReplayFiles, formatHtml },
  }: { module: string; call: Invocation; testing: Testing },
): Promise<readonly (string | undefined)[]> {
  const { failures } = explored
  const directory = resolve(io.cwd, values.text('out') ?? 'explored')
  const paths = failures.length === 0 ? [] : await writeReplayFiles(explored, { directory, module })
  const replays = paths.map((path) => path && relative(io.cwd, path))
  const html = values.text('html')
  if (html !== undefined) {
    const file = resolve(io.cwd, html)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, formatHtml(explored, { replays: replays.map((path) => path && `evenkeel replay ${path}`) }))
  }
  return replays
}

/** The result without timelines, which only the HTML page needs. */
function withoutTimelines({ failures, ...explored }: Explored, replays: readonly (string | undefined)[]): object {
  return {
    ...explored,
    failures: failures.map(({ timeline: _, ...failure }, index) => ({
      ...failure,
      ...(replays[index] !== undefined && { replay: replays[index] }),
    })),
  }
}

const barWidth = 24

function bar(progress: Progress, { formatProgress }: Testing): string {
  const { done, planned } = progress
  const full = planned === 0 ? barWidth : Math.floor(barWidth * Math.min(1, done / planned))
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${formatProgress(progress)}`
}
