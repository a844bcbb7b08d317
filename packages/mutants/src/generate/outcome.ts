/**
 * What became of a mutant, and the table of all.
 *
 * A mutant that was not found is never equivalent because of that. Told apart are:
 *
 *   same requests    in every schedule of the tier it did exactly what the right controller does
 *   not executed     its changed place was not executed in any schedule, so the same holds
 *   reviewed         a person has read it and gives the reason (reviewed.ts)
 *   missed: always   it acts differently without any fault, consistently: a plain test of the user shows it
 *   missed: faults   it acts differently only under some fault: this is what the Explorer is for
 */
import { keyOf } from './judge.ts'
import type { Alarm, Verdict } from './judge.ts'
import { hasProbe } from './mutants.ts'
import type { GeneratedMutant } from './mutants.ts'
import { operators } from './operators.ts'
import { reviewed } from './reviewed.ts'

export interface Outcome {
  readonly mutant: string
  readonly operator: string
  readonly controller: string
  readonly changes: GeneratedMutant['changes']
  readonly caught: boolean
  readonly rule: string | null
  /** How many deviations the schedule needs that shows it. */
  readonly tier: number | null
  readonly schedules: number
  readonly ms: number
  /** Why it cannot be told from the right controller. */
  readonly equivalent: string | null
  /** How a mutant that was not found differs from the right controller. */
  readonly missed: 'always' | 'faults' | null
  readonly finding: string | null
  readonly change: string
}

/** @param right the verdict on the right controller, at the same tier */
export function outcomeOf(mutant: GeneratedMutant, verdict: Verdict, right: Verdict): Outcome {
  const found = foundIn(verdict, right)
  const equivalent = found ? undefined : equivalence(mutant, verdict, right)
  return {
    mutant: mutant.id,
    operator: mutant.operator,
    controller: mutant.controller,
    changes: mutant.changes,
    caught: found !== undefined,
    rule: found?.rule ?? null,
    tier: found?.when.length ?? null,
    schedules: verdict.schedules,
    ms: verdict.ms,
    equivalent: equivalent ?? null,
    missed: found || equivalent !== undefined ? null : verdict.undisturbed === right.undisturbed ? 'faults' : 'always',
    finding: found ? `${found.message} [${found.when.join(' and ') || 'undisturbed'}]` : null,
    change: mutant.change,
  }
}

/** The first finding that the right controller does not have. A program that cannot be explored is caught at once. */
function foundIn({ alarms, refused }: Verdict, right: Verdict): Alarm | undefined {
  if (refused !== undefined) return { rule: 'refused', about: '', message: refused, when: [], diff: [] }
  const known = new Set(right.alarms.map(keyOf))
  return alarms.find((alarm) => !known.has(keyOf(alarm)))
}

function equivalence(mutant: GeneratedMutant, verdict: Verdict, right: Verdict): string | undefined {
  const review = reviewed.find((one) => one.mutant === mutant.id)
  if (review) return `reviewed: ${review.because}`
  if (verdict.left > 0 || right.left > 0 || verdict.requests !== right.requests) return undefined
  return verdict.isReached || !hasProbe(mutant) ? 'same requests' : 'not executed'
}

interface Count {
  all: number
  caught: number[]
  same: number
  unexecuted: number
  reviewed: number
  always: number
  faults: number
}

function countOf(outcomes: readonly Outcome[]): Count {
  const has = (is: (outcome: Outcome) => boolean): number => outcomes.filter(is).length
  return {
    all: outcomes.length,
    caught: [0, 1, 2].map((tier) => has((one) => one.caught && one.tier === tier)),
    same: has((one) => one.equivalent === 'same requests'),
    unexecuted: has((one) => one.equivalent === 'not executed'),
    reviewed: has((one) => one.equivalent?.startsWith('reviewed') === true),
    always: has((one) => one.missed === 'always'),
    faults: has((one) => one.missed === 'faults'),
  }
}

const columns = ['mutants', 'tier 0', 'tier 1', 'tier 2', 'same', 'unexec.', 'reviewed', 'always', 'faults', 'rate']

function rowOf(name: string, outcomes: readonly Outcome[]): string {
  const { all, caught, same, unexecuted, reviewed: known, always, faults } = countOf(outcomes)
  const judged = all - same - unexecuted - known
  const rate = judged === 0 ? '-' : `${((100 * caught.reduce((sum, one) => sum + one, 0)) / judged).toFixed(1)} %`
  const cells = [all, ...caught, same, unexecuted, known, always, faults, rate]
  return `${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
}

/** The catch rate by operator: of the mutants that did something else in at least one schedule. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const names = [...operators.map(({ name }) => name), 'planted']
  const rows = names.flatMap((name) => {
    const own = outcomes.filter(({ operator }) => operator === name)
    return own.length === 0 ? [] : [rowOf(name, own)]
  })
  return [
    `${'operator'.padEnd(24)}${columns.map((column) => column.padStart(9)).join('')}`,
    ...rows,
    '',
    rowOf(
      'changes the way',
      outcomes.filter(({ changes }) => changes === 'way'),
    ),
    rowOf(
      'changes the wish',
      outcomes.filter(({ changes }) => changes === 'wish'),
    ),
    rowOf('all', outcomes),
    rowOf(
      'all but always',
      outcomes.filter(({ missed }) => missed !== 'always'),
    ),
    '',
    'same: the same requests as the right controller in every schedule. unexec.: the changed place was never executed.',
    'always: missed, and different without any fault. faults: missed, and different only under a fault.',
    'rate: caught, of all but same, unexec. and reviewed.',
  ].join('\n')
}
