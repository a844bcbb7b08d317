/**
 * A rule of a Role or ClusterRole in normalized form: five lists, all present.
 */
import { getOwn, isJsonObject } from 'evenkeel/unstable/builtins'
import type { JsonObject, UnstructuredObject } from 'evenkeel/unstable/builtins'

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** Empty for all names. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** A rule with the given lists; the others are empty. */
export function policyRule(given: Partial<PolicyRule>): PolicyRule {
  return { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [], ...given }
}

/** The rules of a cached role; parsed once, because cached objects never change. */
export function cachedRulesOf(role: UnstructuredObject): readonly PolicyRule[] {
  const known = read.get(role)
  if (known) return known
  const rules = rulesOf(role)
  read.set(role, rules)
  return rules
}

/** Parses the rules of a role. */
export function rulesOf(role: JsonObject | UnstructuredObject): readonly PolicyRule[] {
  const value = getOwn(role as JsonObject, 'rules')
  return Array.isArray(value) ? value.filter(isJsonObject).map(readRule) : []
}

const read = new WeakMap<UnstructuredObject, readonly PolicyRule[]>()

function readRule(rule: JsonObject): PolicyRule {
  return {
    verbs: textsOf(rule, 'verbs'),
    apiGroups: textsOf(rule, 'apiGroups'),
    resources: textsOf(rule, 'resources'),
    resourceNames: textsOf(rule, 'resourceNames'),
    nonResourceURLs: textsOf(rule, 'nonResourceURLs'),
  }
}

function textsOf(rule: JsonObject, key: string): readonly string[] {
  const value = getOwn(rule, key)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The rule as JSON, without empty lists. */
export function toRuleObject(rule: PolicyRule): JsonObject {
  const entries = Object.entries(rule).filter(([, list]: [string, readonly string[]]) => list.length > 0)
  return Object.fromEntries(entries) as JsonObject
}
