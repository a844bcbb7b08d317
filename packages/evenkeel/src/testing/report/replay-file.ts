/**
 * A failure as a small file: enough to see it again, in another process, under a debugger.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import type { Failure } from '../explore/collected.ts'
import type { Explored } from '../explore/explore.ts'
import { parseModuleReference } from '../explore/cores/module.ts'
import type { Deviation } from '../faults/deviation.ts'
import { profiles } from '../faults/profile.ts'
import type { ProfileName } from '../faults/profile.ts'

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
