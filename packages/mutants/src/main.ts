/**
 * `npm run mutants [-- --json] [NAME ...]`: explores every mutant and every clean twin, and says who was found.
 *
 * A mutant is found when an error or a warning of one of the rules it breaks is reported at its tier or below. A twin must be silent.
 */
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import type { Explored, Failure } from 'evenkeel/testing'
import { mutants } from './index.ts'
import type { Mutant } from './index.ts'
import type { Subject } from './mutant.ts'

const parameters = process.argv.slice(2)
const isJson = parameters.includes('--json')
const names = parameters.filter((one) => !one.startsWith('--'))
const chosen = mutants.filter(({ id }) => names.length === 0 || names.includes(id))
const clock = new SystemClock()
let bad = 0

for (const mutant of chosen) {
  const { failures, ms, schedules } = await run(mutant.broken, mutant)
  const found = failures.find(({ rule, severity }) => severity !== 'info' && mutant.rules.includes(rule))
  const tier = found === undefined ? undefined : found.deviations.length
  const caught = found !== undefined && (tier ?? 9) <= mutant.tier
  if (!caught) bad++
  print({ mutant: mutant.id, caught, rule: found?.rule ?? null, tier: tier ?? null, schedules: found?.foundAt ?? schedules, ms }, () => `${caught ? 'caught' : 'MISSED'}  ${mutant.id}  ${mutant.mistake}\n        ${found ? tell(found) : `others: ${failures.map((one) => `${one.rule} (${one.about})`).join(', ') || 'nothing'}`}`)
}

const twins = new Map<Subject, Mutant>(chosen.map((mutant) => [mutant.clean, mutant]))
for (const [clean, mutant] of twins) {
  const { failures, ms, schedules } = await run(clean, mutant)
  const alarms = failures.filter(({ severity }) => severity !== 'info')
  if (alarms.length > 0) bad++
  print({ clean: mutant.id, alarms: alarms.length, schedules, ms }, () => `${alarms.length === 0 ? 'silent' : 'ALARM'}  the twin of ${mutant.id}, ${schedules} schedules${alarms.map((one) => `\n        ${tell(one)}`).join('')}`)
}
process.exitCode = bad === 0 ? 0 : 1

async function run({ controllers, scenario }: Subject, { profile = 'evenkeel' }: Mutant): Promise<Explored & { ms: number }> {
  const startedAt = clock.monotonic()
  const explored = await explore({ controllers, scenario, profile })
  return { ...explored, ms: Math.round(clock.monotonic() - startedAt) }
}

function tell({ rule, message, when, seen, foundAt }: Failure): string {
  return `${rule}: ${message} [${when.join(' and ') || 'undisturbed'}; seen ${seen}, first in schedule ${foundAt}]`
}

function print(line: object, text: () => string): void {
  process.stdout.write(`${isJson ? JSON.stringify(line) : text()}\n`)
}
