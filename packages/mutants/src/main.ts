/**
 * `npm run mutants [-- --json] [NAME ...]`: explores every mutant and its correct version, and prints which were caught.
 *
 * A mutant is caught when one of its rules reports an error or a warning at its tier or below; the exploration then
 * stops. Correct versions and correct controllers are explored to the end, and must have no failure.
 *
 * With `--generated` the mutants are those that operators make of right controllers, and with `--right` right controllers
 * are explored: see generate/run.ts.
 */
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import type { Explored, Failure, ProfileName } from 'evenkeel/testing'
import { cleanControllers, mutants } from './index.ts'
import type { Mutant, Subject } from './index.ts'
import { runGenerated } from './generate/run.ts'

const parameters = process.argv.slice(2)
const isJson = parameters.includes('--json')
const names = parameters.filter((one) => !one.startsWith('--'))
const clock = new SystemClock()
let bad = 0

function isChosen(id: string): boolean {
  return names.length === 0 || names.includes(id)
}

if (parameters.includes('--generated') || parameters.includes('--right'))
  process.exitCode = await runGenerated(parameters)
else await runListed()

async function runListed(): Promise<void> {
  for (const mutant of mutants) if (isChosen(mutant.id) && !parameters.includes('--clean')) await runMutant(mutant)
  if (!parameters.includes('--broken')) {
    const seen = new Set<Subject>()
    for (const { id, clean, profile } of mutants) {
      if (!isChosen(id) || seen.has(clean)) continue
      seen.add(clean)
      await runClean(`correct version of ${id}`, clean, profile)
    }
    for (const { id, subject, profile } of cleanControllers) if (isChosen(id)) await runClean(id, subject, profile)
  }
  process.exitCode = bad === 0 ? 0 : 1
}

async function runMutant({ id, mistake, rules, tier: latest, broken, profile }: Mutant): Promise<void> {
  const isExpected = ({ rule, severity }: Pick<Failure, 'rule' | 'severity'>): boolean =>
    severity !== 'info' && rules.includes(rule)
  const { failures, ms, schedules } = await run(broken, { profile, until: isExpected })
  const found = failures.find(isExpected)
  const tier = found?.deviations.length ?? null
  const caught = tier !== null && tier <= latest
  if (!caught) bad++
  const others = failures.map((one) => `${one.rule} (${one.about}) [${one.when.join()}]`).join(', ') || 'nothing'
  print(
    { mutant: id, caught, rule: found?.rule ?? null, tier, schedules: found?.foundAt ?? schedules, ms },
    `${caught ? 'caught' : 'MISSED'}  ${id}  ${mistake} (${ms} ms)\n        ${found ? describe(found) : `others: ${others}`}`,
  )
}

async function runClean(clean: string, subject: Subject, profile: ProfileName | undefined): Promise<void> {
  const { failures, ms, schedules } = await run(subject, { profile })
  const alarms = failures.filter(({ severity }) => severity !== 'info')
  if (alarms.length > 0) bad++
  print(
    { clean, alarms: alarms.length, schedules, ms },
    `${alarms.length === 0 ? 'silent' : 'ALARM'}  ${clean}, ${schedules} schedules (${ms} ms)${alarms.map((one) => `\n        ${describe(one)}`).join('')}`,
  )
}

async function run(
  { controllers, scenario }: Subject,
  {
    profile = 'evenkeel',
    until,
  }: { profile: ProfileName | undefined; until?: (failure: Pick<Failure, 'rule' | 'severity'>) => boolean },
): Promise<Explored & { ms: number }> {
  const startedAt = clock.monotonic()
  const explored = await explore({ controllers, scenario, profile, stories: 0, ...(until && { until }) })
  return { ...explored, ms: Math.round(clock.monotonic() - startedAt) }
}

function describe({ rule, message, when, seen, foundAt, diff = [] }: Failure): string {
  return `${rule}: ${message} [${when.join(' and ') || 'undisturbed'}; seen ${seen}, first in schedule ${foundAt}] ${diff.join('; ')}`
}

function print(line: object, text: string): void {
  process.stdout.write(`${isJson ? JSON.stringify(line) : text}\n`)
}
