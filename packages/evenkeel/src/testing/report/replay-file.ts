/**
 * A failure as a small file: enough to see it again, in another process, under a debugger.
 */
import type { Deviation } from '../faults/deviation.ts'
import { profiles } from '../faults/profile.ts'
import type { ProfileName } from '../faults/profile.ts'

export interface ReplayFile {
  readonly format: 1
  readonly scenario: string
  readonly profile: ProfileName
  readonly seed: string
  readonly deviations: readonly Deviation[]
  /** What is expected to be found: the rule and the thing. */
  readonly expected: { readonly rule: string, readonly about: string }
  /** The number of the trace. */
  readonly hash: string
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
  if (typeof file !== 'object' || file === null || file.format !== 1) throw new RangeError('this is not a replay file of format 1')
  const { scenario, profile = '' as ProfileName, seed, deviations, expected, hash } = file
  if (typeof scenario !== 'string' || typeof seed !== 'string' || typeof hash !== 'string' || !Array.isArray(deviations) || typeof expected?.rule !== 'string') throw new RangeError('this replay file is damaged: scenario, seed, deviations, expected and hash must be there')
  if (!Object.hasOwn(profiles, profile)) throw new RangeError(`this replay file is for the profile ${JSON.stringify(profile)}, which is not known: there are ${Object.keys(profiles).join(', ')}`)
  return file as ReplayFile
}
