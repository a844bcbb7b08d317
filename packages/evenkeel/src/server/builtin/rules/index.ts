/**
 * The rules of every built-in kind.
 *
 * A kind is its flags and, for the kinds that controllers depend on, hooks; a kind without hooks is kept by its schema
 * alone. The rules of a kind are made once and shared.
 */
import type { Rules } from '../../resources/resource.ts'
import { flagsOf } from './flags.ts'

/** Hooks of kinds: what {@link Rules} says beside flags. */
export type Hooks = Omit<Partial<Rules>, 'createOnUpdate' | 'dependents' | 'generation' | 'returnsDeleted' | 'unconditionalUpdate'>

const hooks: Readonly<Record<string, Readonly<Record<string, Hooks>>>> = {
}

const made = new Map<string, Rules>()

/** The rules of a built-in kind; of a kind nobody has heard of, the ordinary ones. */
export function rulesFor(group: string, kind: string): Rules {
  const key = `${group}/${kind}`
  let rules = made.get(key)
  if (rules === undefined) {
    rules = { ...flagsOf(group, kind), ...hooksOf(group, kind) }
    made.set(key, rules)
  }
  return rules
}

function hooksOf(group: string, kind: string): Hooks | undefined {
  const kinds = Object.hasOwn(hooks, group) ? hooks[group] : undefined
  return kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}
