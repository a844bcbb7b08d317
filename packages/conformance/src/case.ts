/**
 * What the judge's work is made of: a case is data, so that vitest, a command line or anything
 * else can run it. A case throws (`node:assert`) when the promise it names is not kept.
 */

export interface Case<Target, Need extends string = string> {
  /** Where it belongs and what it claims, for instance `store/commit/lost-race-changes-nothing`. */
  readonly id: string
  /** The promise, in one sentence. */
  readonly rule: string
  /** What a target must be able to do; one that is not is skipped, with its reason. */
  readonly needs?: readonly Need[]
  readonly run: (target: Target) => Promise<void>
}
