/**
 * What was found, for people: a verdict, the rule, the shortest story, the difference, a hint, and how to see it again.
 */
import { basename } from 'node:path'
import type { Explored } from '../explore/explore.ts'
import type { Failure } from '../explore/collected.ts'
import type { StoryLine } from './story.ts'
import { describeCoverage, describeDone, describeLimits, describeSpeed, titleOfRule } from './summary.ts'

export interface ReportOptions {
  /** How to see each failure again, in the order of the failures. @default not said */
  readonly replays?: readonly (string | undefined)[]
}

/** The whole report of an exploration. */
export function formatReport(explored: Explored, { replays = [] }: ReportOptions = {}): string {
  const { scenario, failures, schedules, effects, looks, coverage } = explored
  const seen = `${schedules} schedules of ${scenario}: ${effects} effects, ${looks} looks, ${coverage.rests.seen} rests`
  const told = failures.map(
    (failure, index) =>
      `${formatFailure(failure, { schedules, ...(replays[index] !== undefined && { replay: replays[index] }) })}\n`,
  )
  const verdict = `${failures.length === 0 ? 'Nothing' : failures.length} found in ${seen}.`
  const lines = [
    verdict,
    `${capitalized(describeDone(explored))}.`,
    `${describeSpeed(explored)}.`,
    ...describeCoverage(coverage).map((line) => `  ${line}`),
    ...(failures.length === 0 ? [describeLimits(explored)] : []),
  ]
  return `${told.join('')}${lines.join('\n')}\n`
}

export function formatFailure(failure: Failure, { schedules, replay }: { schedules: number; replay?: string }): string {
  const { rule, severity, message, when, seen, hint, diff = [], story = [] } = failure
  const lines = [
    `${titleOfRule(rule)}${severity === 'error' ? '' : ` (${severity})`}: ${message}`,
    ...story.map((line, index) => `  ${index + 1}  ${formatLine(line)}`),
    ...(story.length === 0 && when.length > 0 ? when.map((text) => `  when: ${text}`) : []),
    ...diff.map((text) => `  ${text}`),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    `  ${replay === undefined ? '' : `replay: ${replay}   `}seen in ${seen} of ${schedules} schedules`,
  ]
  return `${lines.join('\n')}\n`
}

/** A line of a story, with the place in the user's code. */
export function formatLine({ text, origin }: StoryLine): string {
  if (origin === undefined) return text
  const at = origin.lastIndexOf(':')
  return `${text.padEnd(60)} ${basename(origin.slice(0, at))}${origin.slice(at)}`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
