/**
 * What was found, for people: a verdict, the rule, the shortest story, the difference, a hint, and how to see it again.
 */
import { basename } from 'node:path'
import type { Coverage, CoverageShare } from '../coverage.ts'
import type { Explored } from '../explore.ts'
import type { Failure } from '../failures.ts'
import { allRules } from '../rules/registry.ts'
import type { Progress, Stopped, Tier } from '../tier-runner.ts'
import type { StoryLine } from './timeline.ts'

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

/*
 * What an exploration did and did not do, in sentences: for the report as text and as a page.
 */

/** `RULE 5 cleanup` */
export function titleOfRule(rule: string): string {
  const number = allRules.find(({ code }) => code === rule)?.number ?? golden[rule]
  return number === undefined ? `RULE ${rule}` : `RULE ${number} ${rule}`
}

/** Rules that one comparison finds. */
const golden: Readonly<Record<string, number>> = {
  state: 1,
  idempotent: 2,
  stateless: 3,
  'deletion-first': 4,
  cleanup: 5,
  truth: 6,
  conflict: 7,
  failure: 8,
  resync: 9,
}

/** What a tier consists of. */
export const tierNames: Readonly<Record<Tier, string>> = {
  0: 'undisturbed',
  1: 'single deviations',
  2: 'pairs of deviations',
  3: 'schedules by chance',
}

const endings: Readonly<Record<Stopped, string>> = {
  budget: 'the time was over',
  schedules: 'the number of schedules was reached',
  signal: 'it was told to stop',
  found: 'what was looked for was found',
}

/** `explored 120 of 185 single deviations: the time was over` */
export function describeDone({ tiers, stopped }: Pick<Explored, 'tiers' | 'stopped'>): string {
  const parts = tiers
    .filter(({ tier }) => tier > 0)
    .map(
      ({ tier, done, planned, pruned }) =>
        `${done === planned ? `all ${planned}` : `${done} of ${planned}`} ${tierNames[tier]}${pruned > 0 ? ` (${pruned} more are the same as others)` : ''}`,
    )
  if (parts.length === 0) return 'explored the undisturbed schedule alone'
  return `explored ${parts.join(', ')}${stopped === undefined ? '' : `: ${endings[stopped]}`}`
}

/** `218 schedules in 2.1 s on 2 cores, 104 a second` */
export function describeSpeed({
  schedules,
  ms,
  cores,
  whyOneCore,
}: Pick<Explored, 'schedules' | 'ms' | 'cores' | 'whyOneCore'>): string {
  const rate = ms > 0 ? `, ${Math.round((schedules / ms) * 1000)} a second` : ''
  return `${schedules} schedules in ${(ms / 1000).toFixed(1)} s on ${cores === 1 ? 'one core' : `${cores} cores`}${rate}${whyOneCore === undefined ? '' : ` (${whyOneCore})`}`
}

/** Line by line. */
function describeCoverage({ writes, calls, looks, rests, deeds, rules, controllers }: Coverage): string[] {
  const share = (name: string, { seen, faulted }: CoverageShare): string => `${name} ${faulted} of ${seen}`
  return [
    `faulted: ${[share('writes', writes), share('calls outside', calls), share('looks', looks), share('rests', rests)].join(', ')}`,
    `${Object.keys(deeds).length} kinds of faults${
      Object.keys(deeds).length === 0
        ? ''
        : `: ${Object.entries(deeds)
            .map(([deed, count]) => `${deed} ${count}`)
            .join(', ')}`
    }`,
    `${rules.exercised.length} rules had something to judge${rules.idle.length === 0 ? '' : `; nothing to judge for ${rules.idle.join(', ')}`}`,
    ...controllers.map(
      ({ name, runs, objects }) =>
        `${name}: ${runs} reconciles of ${objects} object${objects === 1 ? '' : 's'}, undisturbed`,
    ),
  ]
}

/** What nobody may conclude from silence. */
export function describeLimits({ tiers, coverage: { rules } }: Pick<Explored, 'tiers' | 'coverage'>): string {
  const deepest = tiers.findLast(({ done }) => done > 0)?.tier ?? 0
  const faults = [
    'no fault at all',
    'one fault at a time',
    'two faults at a time',
    'more than two faults only by chance',
  ][deepest]
  const idle = rules.idle.length === 0 ? '' : `, and ${rules.idle.length} rules had nothing to judge`
  return `This is not a proof: only what goes through the client, the clock and the outside is controlled, and ${deepest === 3 ? faults : `only ${faults}`}${idle}.`
}

/** `single deviations 120/185, 104/s, 2 found (cleanup, state)` */
export function formatProgress({ tier, done, planned, failures, broken, perSecond }: Progress): string {
  return `${tierNames[tier]} ${done}/${planned}, ${perSecond}/s${failures > 0 ? `, ${failures} found (${broken.join(', ')})` : ''}`
}
