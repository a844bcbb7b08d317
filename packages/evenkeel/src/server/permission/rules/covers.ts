/**
 * Whether rules that somebody holds cover rules that somebody wants to give.
 *
 * What is wanted is broken down into its smallest parts (one group, one resource, one verb, at most one name; or one
 * path, one verb). A smallest part is covered by one held rule or by none, so nothing is lost by looking at each alone.
 */
import { policyRule } from '../../access/policy-rule.ts'
import type { PolicyRule } from '../../access/policy-rule.ts'
import { matchesPath } from './match-rule.ts'

/** More parts than any role has that was written by a person; a body could hold billions. */
export const partsMax = 100_000

/**
 * The smallest parts of what is wanted that are not held.
 *
 * @returns undefined when the rules break down into more than {@link partsMax} parts: nobody can say
 */
export function uncovered(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] | undefined {
  if (wanted.reduce((sum, rule) => sum + countParts(rule), 0) > partsMax) return undefined
  const holders = held.map(makeCoverTest)
  return wanted.flatMap(breakDown).filter((part) => !holders.some((covers) => covers(part)))
}

function countParts({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: PolicyRule): number {
  return (
    verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
  )
}

/** The smallest parts of a rule, in the order of its lists. */
function breakDown({ apiGroups, resources, verbs, resourceNames, nonResourceURLs }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name])
  const aboutResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((resourceName) =>
          policyRule({ apiGroups: [group], resources: [resource], verbs: [verb], resourceNames: resourceName }),
        ),
      ),
    ),
  )
  const aboutPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => policyRule({ nonResourceURLs: [url], verbs: [verb] })),
  )
  return [...aboutResources, ...aboutPaths]
}

/** Says of smallest parts whether one rule covers them. */
function makeCoverTest(rule: PolicyRule): (part: PolicyRule) => boolean {
  const [verbs, groups, resources, names] = [
    new Set(rule.verbs),
    new Set(rule.apiGroups),
    new Set(rule.resources),
    new Set(rule.resourceNames),
  ]
  return ({
    verbs: [verb = ''],
    apiGroups: [group],
    resources: [resource],
    resourceNames: [name],
    nonResourceURLs: [url],
  }) => {
    if (!verbs.has('*') && !verbs.has(verb)) return false
    if (names.size > 0 && (name === undefined || !names.has(name))) return false
    if (url !== undefined) return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, url))
    if (group !== undefined && !groups.has('*') && !groups.has(group)) return false
    return resource === undefined || coversResource(resources, resource)
  }
}

function coversResource(resources: ReadonlySet<string>, resource: string): boolean {
  if (resources.has('*') || resources.has(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && resources.has(`*${resource.slice(slash)}`)
}
