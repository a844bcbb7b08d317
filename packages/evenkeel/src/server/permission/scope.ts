/**
 * What one user is given in one place: in a namespace, or everywhere.
 *
 * The same few questions come again and again, so an answer is remembered by what was asked, without the name: a rule
 * for some names remembers which. A scope is made anew when any role or binding changes, so memory cannot be wrong.
 *
 * Invariant: a key says exactly what was asked. Lengths are part of it, because callers choose the texts.
 */
import type { AuthorizationAttributes, AuthorizationDecision } from '../access/access.ts'
import type { PolicyRule } from '../access/policy-rule.ts'
import type { RoleGrant } from './bindings.ts'
import { matchesRule } from './rules/match-rule.ts'

/** A grant whose role was found. */
export interface GrantedRules {
  readonly grant: RoleGrant
  readonly rules: readonly PolicyRule[]
}

interface CachedDecision {
  /** For every name. */
  readonly always: AuthorizationDecision | undefined
  /** For some names only. */
  readonly named: ReadonlyMap<string, AuthorizationDecision> | undefined
}

const cachedDecisionsMax = 2048
const keyLengthMax = 512

export class GrantedScope {
  readonly granted: readonly GrantedRules[]
  /** Roles that bindings name and that are not there, in words. */
  readonly missing: readonly string[]
  readonly #remembered = new Map<string, CachedDecision>()

  constructor(granted: readonly GrantedRules[], missing: readonly string[]) {
    this.granted = granted
    this.missing = missing
  }

  /**
   * A yes, or undefined.
   *
   * @param key what {@link decisionKey} says of the question; several scopes are asked the same
   */
  decide(question: AuthorizationAttributes, key: string): AuthorizationDecision | undefined {
    if (this.granted.length === 0) return undefined
    const { always, named } = this.#recall(question, key)
    return always ?? named?.get(question.resourcePath?.name ?? '')
  }

  #recall(question: AuthorizationAttributes, key: string): CachedDecision {
    const known = this.#remembered.get(key)
    if (known) return known
    const found = this.#find(question)
    if (key.length > keyLengthMax) return found
    if (this.#remembered.size >= cachedDecisionsMax) this.#remembered.clear()
    this.#remembered.set(key, found)
    return found
  }

  #find(question: AuthorizationAttributes): CachedDecision {
    const named = new Map<string, AuthorizationDecision>()
    for (const { grant, rules } of this.granted) {
      const matching = rules.filter((rule) => matchesRule(rule, question))
      if (matching.length === 0) continue
      const verdict: AuthorizationDecision = { allowed: true, reason: `RBAC: allowed by ${grant.describe()}` }
      // Names say nothing about paths.
      if (question.resourcePath === undefined || matching.some(({ resourceNames }) => resourceNames.length === 0))
        return { always: verdict, named: undefined }
      for (const name of matching.flatMap(({ resourceNames }) => resourceNames))
        if (!named.has(name)) named.set(name, verdict)
    }
    return { always: undefined, named: named.size > 0 ? named : undefined }
  }
}

/** What is asked, without the name, as one text that no other question has. */
export function decisionKey({ verb, resourcePath: place, path }: AuthorizationAttributes): string {
  if (place === undefined) return `/${verb.length}:${verb}${path}`
  const { group, resource, subresource } = place
  return `${verb.length},${group.length},${resource.length}:${verb}${group}${resource}${subresource}`
}
