/**
 * Whether a rule is about what is asked. A star in a list stands for everything; a star before a slash in resources
 * stands for that part of every resource. Names are matched by the caller: one rule can be about very many.
 */
import type { AuthorizationAttributes } from '../../access/access.ts'
import type { PolicyRule } from '../../access/policy-rule.ts'

/** Whether a rule covers verb and place, whatever the name, or verb and path. */
export function matchesRule(
  { verbs, apiGroups, resources, nonResourceURLs }: PolicyRule,
  { verb, resourcePath: place, path }: AuthorizationAttributes,
): boolean {
  if (!hasOrAll(verbs, verb)) return false
  if (place === undefined) return nonResourceURLs.some((pattern) => matchesPath(pattern, path))
  return hasOrAll(apiGroups, place.group) && matchesResource(resources, place)
}

/** Whether a pattern of paths is about a path: the same, or the same up to a star at the end. */
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
