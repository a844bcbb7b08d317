/**
 * What was found, for people: a verdict, the rule, the shortest story, the difference, a hint, and how to see it again.
 */
import { basename } from 'node:path'
import type { Explored } from '../explore/explore.ts'
import type { Failure } from '../explore/collected.ts'
import { allRules } from '../rules/index.ts'
import type { StoryLine } from './story.ts'

/** The whole report of an exploration. */
export function formatReport({ scenario, failures, schedules, left, effects, looks }: Explored): string {
  const seen = `${schedules} schedules of ${scenario}: every single fault at ${effects} effects, ${looks} looks and every rest`
  const rest = left === 0 ? '' : `\n${left} schedules were not run: the time was over`
  if (failures.length === 0) return `Nothing found in ${seen}.${rest}\nThis is not a proof: only what goes through the client, the clock and the outside is controlled, and only one fault at a time.\n`
  return `${failures.map((failure) => formatFailure(failure, { schedules })).join('\n')}\n${failures.length} found in ${seen}.${rest}\n`
}

export function formatFailure(failure: Failure, { schedules, replay }: { schedules: number, replay?: string }): string {
  const { severity, message, when, seen, hint, diff = [], story = [] } = failure
  const lines = [
    `${titleOf(failure)}${severity === 'error' ? '' : ` (${severity})`}: ${message}`,
    ...story.map((line, index) => `  ${index + 1}  ${formatLine(line)}`),
    ...story.length === 0 && when.length > 0 ? when.map((text) => `  when: ${text}`) : [],
    ...diff.map((text) => `  ${text}`),
    ...hint === undefined ? [] : [`  hint: ${hint}`],
    `  ${replay === undefined ? '' : `replay: ${replay}   `}seen in ${seen} of ${schedules} schedules`,
  ]
  return `${lines.join('\n')}\n`
}

function titleOf({ rule }: Failure): string {
  const { number } = allRules.find(({ code }) => code === rule) ?? {}
  const golden: Record<string, number> = { state: 1, idempotent: 2, stateless: 3, 'deletion-first': 4, cleanup: 5, truth: 6, conflict: 7, failure: 8, resync: 9 }
  const found = number ?? golden[rule]
  return found === undefined ? `RULE ${rule}` : `RULE ${found} ${rule}`
}

function formatLine({ text, origin }: StoryLine): string {
  if (origin === undefined) return text
  const at = origin.lastIndexOf(':')
  return `${text.padEnd(60)} ${basename(origin.slice(0, at))}${origin.slice(at)}`
}
