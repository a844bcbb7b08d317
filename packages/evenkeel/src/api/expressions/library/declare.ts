/**
 * Short ways to write down what a function takes and gives.
 */
import type { Overload, Run } from '../check/declarations.ts'
import type { Type } from '../check/type.ts'
import type { Value } from '../value/value.ts'

/** Functions by name. */
export type Library = Readonly<Record<string, readonly Overload[]>>

/** `name(a, b)`. */
export function overload<A extends readonly Value[]>(
  id: string,
  parameters: readonly Type[],
  { to, run }: { to: Type; run?: (...values: A) => Value },
): Overload {
  // The guard before a call makes sure the values are what `parameters` says, which is what A must say too.
  return { id, isMember: false, parameters, result: to, ...(run && { run: run as unknown as Run }) }
}

/** `a.name(b)`. */
export function member<A extends readonly Value[]>(
  id: string,
  parameters: readonly Type[],
  { to, run }: { to: Type; run?: (...values: A) => Value },
): Overload {
  return { ...overload(id, parameters, { to, ...(run && { run }) }), isMember: true }
}

/** Overloads that share one implementation, which looks at its values itself. */
export function unguarded(run: Run, overloads: readonly Overload[]): Overload[] {
  return overloads.map((each) => ({ ...each, run, isUnguarded: true }))
}
