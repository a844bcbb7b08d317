/**
 * A controller with one mistake in it, its twin without, and who should find it.
 */
import type { ExploreOptions } from 'evenkeel/testing'

/** What is explored. */
export type Subject = Pick<ExploreOptions<never>, 'controllers' | 'scenario'>

export interface Mutant {
  /** As in the list it comes from: `m07`, `d12`. */
  readonly id: string
  /** What the mistake is, in one line. */
  readonly mistake: string
  /** Codes of rules of which one must find it. */
  readonly rules: readonly string[]
  /** At which tier at the latest. */
  readonly tier: 0 | 1
  /** Where it was seen in the wild. */
  readonly seenIn?: string
  readonly broken: Subject
  readonly clean: Subject
  /** @default 'evenkeel' */
  readonly profile?: ExploreOptions<never>['profile']
}

/** A controller that is right, in a style of its own. */
export interface CleanController {
  /** `c01` */
  readonly id: string
  /** What is special about it. */
  readonly style: string
  readonly subject: Subject
  /** @default 'evenkeel' */
  readonly profile?: ExploreOptions<never>['profile']
}
