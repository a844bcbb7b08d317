/**
 * A case is data, so that vitest, a command line or any other runner can execute it. A case throws (`node:assert`) when
 * its rule is violated.
 */

export interface Case<Target, Need extends string = string> {
  /** Suite, area and name, for instance `store/commit/lost-race-changes-nothing`. */
  readonly id: string
  /** The rule, in one sentence. */
  readonly rule: string
  /** Capabilities that the target needs; a target that lacks one skips the case, with the reason. */
  readonly needs?: readonly Need[]
  readonly run: (target: Target) => Promise<void>
}
