/**
 * What discovery says can be done with a resource.
 */
import type { Resource, Verb } from '../resources/resource.ts'

const writes: ReadonlySet<Verb> = new Set(['create', 'patch', 'update'])

/** All verbs; of a resource that is going away those that help it go. */
export function shownVerbs({ verbs, strategy: rules }: Resource): readonly Verb[] {
  return rules.createForbidden?.() === undefined ? verbs : verbs.filter((verb) => !writes.has(verb))
}
