/**
 * The report as text: per failure the rule, the story, the difference, a hint and the replay command; then what the
 * exploration covered and what it did not. The sentences about coverage are shared with the HTML page.
 */
import { relative } from 'node:path'
import type { Coverage, CoverageShare } from '../coverage.ts'
import type { Explored } from '../explore.ts'
import type { Failure } from '../failures.ts'
import { allRules } from '../rules/registry.ts'
import type { Progress, Stopped, Tier } from '../tier-runner.ts'
import { groupByCause, headlineOf } from './causes.ts'
import type { StoryLine } from './story.ts'

export interface ReportOptions {
  /** The replay command of each failure, in the order of the failures. @default none */
  readonly replays?: readonly (string | undefined)[]
}

/** The whole report of an exploration. */
export function formatReport(explored: Explored, { replays = [] }: ReportOptions = {}): string {
  const { scenario, failures, schedules, effects, reads, coverage } = explored
  const seen = `${schedules} schedules of ${scenario}: ${effects} effects, ${reads} reads, ${coverage.quietStates.seen} quiet states`
  const groups = groupByCause(failures)
  const described = groups.map(({ main, others }) => {
    const replay = replays[failures.indexOf(main)]
    return `${formatFailure(main, { schedules, others, ...(replay !== undefined && { replay }) })}\n`
  })
  const verdict = `${capitalized(describeCount(failures.length, groups.length))} in ${seen}.`
  const lines = [
    verdict,
    `${capitalized(describeDone(explored))}.`,
    `${describeSpeed(explored)}.`,
    ...describeCoverage(coverage).map((line) => `  ${line}`),
    ...(failures.length === 0 ? [describeLimits(explored)] : []),
  ]
  return `${described.join('')}${lines.join('\n')}\n`
}

/** `no failure`, `1 failure`, `4 failures of 2 causes` */
export function describeCount(failures: number, causes: number): string {
  if (failures === 0) return 'no failure'
  return `${plural(failures, 'failure')}${causes === failures ? '' : ` of ${plural(causes, 'cause')}`}`
}

interface FailureText {
  readonly schedules: number
  readonly replay?: string
  /** Failures with the same cause. @default none */
  readonly others?: readonly Failure[]
}

export function formatFailure(failure: Failure, { schedules, replay, others = [] }: FailureText): string {
  const { rule, severity, when, seen, hint, diff = [], story = [] } = failure
  const headline = headlineOf(failure)
  const lines = [
    `${titleOfRule(rule)}${severity === 'error' ? '' : ` (${severity})`}: ${headline.text}`,
    ...story.map((line, index) => `  ${index + 1}  ${formatLine(line)}`),
    ...(story.length === 0 && when.length > 0 ? when.map((text) => `  when: ${text}`) : []),
    ...(headline.isWhole ? [] : diff.map((text) => `  ${text}`)),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...others.map((other) => `  also ${describeOther(other, headline.text)}`),
    `  ${replay === undefined ? '' : `replay: ${replay}   `}seen in ${seen} of ${schedules} schedules`,
  ]
  return `${lines.join('\n')}\n`
}

/** `RULE 7 conflict, before effect 9: 409 Conflict`; with its headline, if that is not the one above. */
export function describeOther(failure: Failure, above: string): string {
  const when = failure.when.length === 0 ? 'undisturbed' : failure.when.join(' and ')
  const { text } = headlineOf(failure)
  return `${titleOfRule(failure.rule)}, ${when}${text === above ? '' : `: ${text}`}`
}

/** A line of a story, with its place in the user's code: from here, as terminals and editors open it. */
export function formatLine({ text, origin }: StoryLine): string {
  if (origin === undefined) return text
  const near = relative('', origin)
  return `${text.padEnd(60)} ${near.startsWith('..') ? origin : near}`
}

/** `1 failure`, `2 failures` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** `RULE 5 cleanup` */
export function titleOfRule(rule: string): string {
  const number = allRules.find(({ code }) => code === rule)?.number ?? golden[rule]
  return number === undefined ? `RULE ${rule}` : `RULE ${number} ${rule}`
}

/** The numbers of golden rules that the convergence rule reports. */
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

/** The schedules of each tier. */
export const tierNames: Readonly<Record<Tier, string>> = {
  0: 'undisturbed',
  1: 'single deviations',
  2: 'pairs of deviations',
  3: 'random schedules',
}

const endings: Readonly<Record<Stopped, string>> = {
  budget: 'the time budget was used up',
  schedules: 'the limit of schedules was reached',
  signal: 'the exploration was cancelled',
  found: 'the `until` condition was met',
}

/** `explored 120 of 185 single deviations: the time budget was used up` */
export function describeDone({ tiers, stopped }: Pick<Explored, 'tiers' | 'stopped'>): string {
  const parts = tiers
    .filter(({ tier }) => tier > 0)
    .map(
      ({ tier, done, planned, pruned }) =>
        `${done === planned ? `all ${planned}` : `${done} of ${planned}`} ${tierNames[tier]}${pruned > 0 ? ` (${pruned} more are equivalent to others)` : ''}`,
    )
  if (parts.length === 0) return 'explored only the undisturbed schedule'
  return `explored ${parts.join(', ')}${stopped === undefined ? '' : `: ${endings[stopped]}`}`
}

/** `218 schedules in 2.1 s on 2 cores, 104 per second` */
export function describeSpeed({
  schedules,
  ms,
  cores,
  whyOneCore,
}: Pick<Explored, 'schedules' | 'ms' | 'cores' | 'whyOneCore'>): string {
  const rate = ms > 0 ? `, ${Math.round((schedules / ms) * 1000)} per second` : ''
  return `${schedules} schedules in ${(ms / 1000).toFixed(1)} s on ${cores === 1 ? 'one core' : `${cores} cores`}${rate}${whyOneCore === undefined ? '' : ` (${whyOneCore})`}`
}

/** The coverage, line by line. */
function describeCoverage({ writes, calls, reads, quietStates, actions, rules, controllers }: Coverage): string[] {
  const share = (name: string, { seen, faulted }: CoverageShare): string => `${name} ${faulted} of ${seen}`
  return [
    `faults injected at: ${[share('writes', writes), share('external calls', calls), share('reads', reads), share('quiet states', quietStates)].join(', ')}`,
    `${Object.keys(actions).length} types of faults${
      Object.keys(actions).length === 0
        ? ''
        : `: ${Object.entries(actions)
            .map(([action, count]) => `${action} ${count}`)
            .join(', ')}`
    }`,
    `${rules.exercised.length} rules had something to check${rules.idle.length === 0 ? '' : `; nothing to check for ${rules.idle.join(', ')}`}`,
    ...controllers.map(
      ({ name, runs, objects }) =>
        `${name}: ${runs} reconciles of ${objects} object${objects === 1 ? '' : 's'}, undisturbed`,
    ),
  ]
}

/** What a report without failures does not prove. */
export function describeLimits({ tiers, coverage: { rules } }: Pick<Explored, 'tiers' | 'coverage'>): string {
  const deepest = tiers.findLast(({ done }) => done > 0)?.tier ?? 0
  const faults = [
    'no fault',
    'one fault at a time',
    'at most two faults at a time',
    'more than two faults only at random',
  ][deepest]
  const idle = rules.idle.length === 0 ? '' : `, and ${rules.idle.length} rules had nothing to check`
  return `This is not a proof: the Explorer controls only the client, the clock and the external services. It injected ${faults}${idle}.`
}

/** `single deviations 120/185, 104/s, 2 failures (cleanup, state)` */
export function formatProgress({ tier, done, planned, failures, broken, perSecond }: Progress): string {
  return `${tierNames[tier]} ${done}/${planned}, ${perSecond}/s${failures > 0 ? `, ${plural(failures, 'failure')} (${broken.join(', ')})` : ''}`
}
