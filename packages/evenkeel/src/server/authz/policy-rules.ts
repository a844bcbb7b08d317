/**
 * Policy rules: whether one covers a request, whether a set covers another set, and their text in errors.
 *
 * To compare two sets, the requested rules are broken down into their smallest parts (one group, one resource, one
 * verb, at most one name; or one path, one verb). A smallest part is covered by a single rule or not at all, so each
 * can be checked alone.
 */
import { pushAll, compareText, quote } from '#api'
import { policyRule, type PolicyRule } from '@evenkeel/builtins'
import type { AuthorizationAttributes } from './authorizer.ts'

/** More parts than any hand-written role has; a body could contain billions. */
export const partsMax = 100_000

/**
 * The smallest parts of the requested rules that are not held.
 *
 * @returns undefined when the rules break down into more than {@link partsMax} parts: coverage is then unknown
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

/** Whether one rule covers a smallest part. */
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

// Matching a rule with a request. `*` in a list matches everything; `*` before a slash in resources matches that
// subresource of every resource. The caller matches names, because one rule can have very many.

/** Whether a rule covers a verb and a resource path for any name, or a verb and a path. */
export function matchesRule(
  { verbs, apiGroups, resources, nonResourceURLs }: PolicyRule,
  { verb, resourcePath: place, path }: AuthorizationAttributes,
): boolean {
  if (!hasOrAll(verbs, verb)) return false
  if (place === undefined) return nonResourceURLs.some((pattern) => matchesPath(pattern, path))
  return hasOrAll(apiGroups, place.group) && matchesResource(resources, place)
}

/** Whether a path pattern matches a path: exactly, or by prefix with a `*` at the end. */
export function matchesPath(pattern: string, path: string): boolean {
  if (pattern === path) return true
  let end = pattern.length
  while (pattern[end - 1] === '*') end--
  return end < pattern.length && path.startsWith(pattern.slice(0, end))
}

function hasOrAll(list: readonly string[], wanted: string): boolean {
  return list.includes(wanted) || list.includes('*')
}

function matchesResource(
  resources: readonly string[],
  { resource, subresource }: { readonly resource: string; readonly subresource: string },
): boolean {
  if (subresource === '') return hasOrAll(resources, resource)
  return hasOrAll(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

// Rules as text for errors: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`, one per line.

/** More lines do not help a reader. */
const linesMax = 1000

/** Smallest parts, those of one resource together, one per line and sorted. */
export function describeRules(parts: readonly PolicyRule[]): string {
  const lines = [...new Set(joinVerbs(parts).map(describeRule))].sort(compareText)
  if (lines.length <= linesMax) return lines.join('\n')
  return [...lines.slice(0, linesMax), `and ${lines.length - linesMax} more`].join('\n')
}

/** Texts as a list: `["a" "b"]`. */
export function quoteAll(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`
}

/** Merges rules for the same resource and name into one with all their verbs; other rules stay unchanged. */
function joinVerbs(parts: readonly PolicyRule[]): PolicyRule[] {
  const joined: PolicyRule[] = []
  const found = new Map<string, { rule: PolicyRule; verbs: string[] }>()
  for (const part of parts) {
    if (part.nonResourceURLs.length > 0) {
      joined.push(part)
      continue
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames])
    const known = found.get(key)
    if (known) pushAll(known.verbs, part.verbs)
    else found.set(key, { rule: part, verbs: [...part.verbs] })
  }
  return [...joined, ...[...found.values()].map(({ rule, verbs }) => ({ ...rule, verbs }))]
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const lists: [string, readonly string[]][] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ]
  return `{${lists
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${quoteAll(list)}`)
    .join(', ')}}`
}
