/**
 * `evenkeel explore`: plays a scenario with everything that can go wrong in it, and tells what broke a golden rule.
 */
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

/** Loaded when it is needed: most commands are over before this would be read. */
type Testing = typeof Loaded

const profileNames: readonly ProfileName[] = ['evenkeel', 'k8s>=1.35', 'k8s<=1.34']

export const explore: Command = {
  name: 'explore',
  about: 'play a scenario with every single thing that can go wrong, and tell what breaks',
  usage: 'MODULE[#EXPORT]',
  words: { least: 1, most: 1 },
  completes: 'files',
  options: {
    tier: {
      type: 'string',
      choices: ['0', '1', '2', '3'],
      about: 'undisturbed, single faults (default), pairs, by chance as well',
    },
    budget: { type: 'string', value: 'TIME', about: 'begin nothing new after this long: 60s, 5m' },
    seed: { type: 'string', value: 'TEXT', about: 'what chance is made of (default: 1)' },
    seeds: { type: 'string', value: 'NUMBER', about: 'with tier 3: how many schedules by chance (default: 1000)' },
    cores: { type: 'string', value: 'NUMBER', about: 'how many processes share the work (default: all cores)' },
    profile: { type: 'string', choices: profileNames, about: 'what the server may do (default: evenkeel)' },
    html: { type: 'string', value: 'FILE', about: 'write the report as a page, too' },
    out: {
      type: 'string',
      value: 'FOLDER',
      about: 'where replay files go (default: ./explored, when something was found)',
    },
  },
  details:
    'The module exports controllers and scenario. Ends with 0 when nothing was found, with 1 when something was, with 2 when it could not be explored.',
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
        ? `${JSON.stringify(withoutTimelines(explored, replays))}\n`
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
    throw new Failure('usage', '--seeds is about schedules by chance, which are tier 3', {
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

/** Writes what was asked for: replay files, a page. Gives the path of each failure's file, from here. */
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

/** Everything but the timelines, which are for the page and would fill a terminal many times. */
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
