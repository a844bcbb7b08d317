/**
 * Mutants that a person has read, and that are as right as the original, each with the reason.
 *
 * Not being found is no reason. "Another right program" is one: it wants something else, always, and keeps every rule.
 */
interface Reviewed {
  readonly mutant: string
  readonly because: string
}

export const reviewed: readonly Reviewed[] = []
