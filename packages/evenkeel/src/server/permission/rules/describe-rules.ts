/**
 * Rules in words, for refusals: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`, one per line.
 */
import { compareText, quote } from '#api'
import type { PolicyRule } from '../../access/policy-rule.ts'

/** More lines than this tell nobody more. */
const linesMax = 1000

/** Smallest parts, those of one resource together, one per line and sorted. */
export function describeRules(parts: readonly PolicyRule[]): string {
  const lines = [...new Set(joinVerbs(parts).map(describeRule))].sort(compareText)
  if (lines.length <= linesMax) return lines.join('\n')
  return [...lines.slice(0, linesMax), `and ${lines.length - linesMax} more`].join('\n')
}

/** Texts as a list in words: `["a" "b"]`. */
export function quoteAll(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`
}

/** Rules about the same resource and name become one with all their verbs; other rules stay as they are. */
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
    if (known) known.verbs.push(...part.verbs)
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
