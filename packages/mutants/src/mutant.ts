/**
 * A mutant: a controller with one mistake, the correct version of it, and the rules that must catch the mistake.
 */
import type { ExploreOptions } from 'evenkeel/testing'

/** A program and its scenario. */
export type Subject = Pick<ExploreOptions<never>, 'controllers' | 'scenario'>

export interface Mutant {
  /** The id in its list: `m07`, `d12`. */
  readonly id: string
  /** The mistake in one line. */
  readonly mistake: string
  /** The codes of the rules; one of them must catch it. */
  readonly rules: readonly string[]
  /** The highest tier that is needed. */
  readonly tier: 0 | 1
  /** A real program that had this mistake. */
  readonly seenIn?: string
  readonly broken: Subject
  readonly clean: Subject
  /** @default 'evenkeel' */
  readonly profile?: ExploreOptions<never>['profile']
}

/** A correct controller in a particular style. */
export interface CleanController {
  /** `c01` */
  readonly id: string
  /** What its style is. */
  readonly style: string
  readonly subject: Subject
  /** @default 'evenkeel' */
  readonly profile?: ExploreOptions<never>['profile']
}
