/**
 * `npm run mutants -- --generated` and `npm run mutants -- --right`: mutants of right controllers, and right controllers.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { SeededRandom } from 'evenkeel/unstable/base'
import type { Tier } from 'evenkeel/testing'
import { combinedControllers } from './combined.ts'
import { keyOf } from './judge.ts'
import type { Job, Verdict } from './judge.ts'
import { mutantsOf } from './mutants.ts'
import type { GeneratedMutant } from './mutants.ts'
import { outcomeOf, tableOf } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { judgeAll } from './pool.ts'
import { rightControllers } from './right-controllers.ts'
import type { RightController } from './right-controllers.ts'
import { refusedByCompiler } from './types.ts'

const help = `npm run mutants -- --generated [options]   mutants of the right controllers: which are caught
npm run mutants -- --right [options]       right controllers, by hand and combined: which raise alarms

  --tier N        0, 1 or 2 (default 1). Tier 2 is for mutants that tier 1 has missed
  --schedules N   at most so many schedules for each program (default 5000)
  --operator X    only this operator; may be repeated
  --controller X  only controllers whose name contains X; may be repeated
  --mutant ID     only this mutant; may be repeated
  --sample N      only so many mutants, chosen by --seed (default all)
  --seed TEXT     (default 1)
  --cores N       worker processes (default one for each core)
  --results FILE  remembers verdicts there, and does not repeat those that it has
  --list          only lists the mutants
  --json          JSON lines
`

const options = {
  generated: { type: 'boolean', default: false },
  right: { type: 'boolean', default: false },
  tier: { type: 'string', default: '1' },
  schedules: { type: 'string', default: '5000' },
  operator: { type: 'string', multiple: true, default: [] as string[] },
  controller: { type: 'string', multiple: true, default: [] as string[] },
  mutant: { type: 'string', multiple: true, default: [] as string[] },
  sample: { type: 'string' },
  seed: { type: 'string', default: '1' },
  cores: { type: 'string' },
  results: { type: 'string' },
  list: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

export async function runGenerated(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options })
  if (values.help) return print(help)
  const run = new Run(values)
  const isChosen = ({ id }: RightController): boolean =>
    values.controller.length === 0 || values.controller.some((part) => id.includes(part))
  if (values.right) return await run.judgeRight([...rightControllers(), ...combinedControllers()].filter(isChosen))
  const controllers = rightControllers().filter(isChosen)
  const mutants = chooseMutants(controllers, values)
  if (values.list) return print(`${mutants.map(({ id, change }) => `${id}  ${change}`).join('\n')}\n`)
  return await run.judgeMutants(controllers, mutants)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

/** The mutants that compile and are not the same text as another, or a sample of them. */
function chooseMutants(
  controllers: readonly RightController[],
  { mutant: chosen, operator, sample, seed }: Values,
): GeneratedMutant[] {
  const all = controllers
    .flatMap((one) => mutantsOf(one))
    .filter((one) => operator.length === 0 || operator.includes(one.operator))
  const different = all.filter(({ sameAs }) => sameAs === undefined)
  const ranked = different
    .map((mutant) => ({ mutant, rank: new SeededRandom(`${seed} ${mutant.id}`).uint32() }))
    .sort((a, b) => a.rank - b.rank)
  if (chosen.length > 0) return different.filter(({ id }) => chosen.includes(id))
  const limit = sample === undefined ? ranked.length : Number(sample)
  // Some of them do not compile: check more than the sample needs.
  const considered = ranked.slice(0, limit * 2).map(({ mutant }) => mutant)
  const refused = refusedByCompiler(considered)
  const judged = considered.filter(({ id }) => !refused.has(id)).slice(0, limit)
  process.stderr.write(
    `${all.length} places, ${all.length - different.length} with the text of another, ${refused.size} that do not compile; ${judged.length} mutants\n`,
  )
  // In the order of the sample: a run that is ended early has judged a smaller sample.
  return judged
}

class Run {
  readonly #values: Values
  readonly #known = new Map<string, Verdict>()
  #startedAtMs = 0

  constructor(values: Values) {
    this.#values = values
    const { results } = values
    if (results === undefined || !existsSync(results)) return
    // A run that was killed may have left a line without its end: what comes next must not continue it.
    const lines = readFileSync(results, 'utf8').split('\n')
    if (lines.pop() !== '') writeFileSync(results, lines.map((line) => `${line}\n`).join(''))
    for (const line of lines) {
      const { key, verdict } = JSON.parse(line) as { key: string; verdict: Verdict }
      this.#known.set(key, verdict)
    }
  }

  async judgeRight(controllers: readonly RightController[]): Promise<number> {
    const verdicts = await this.#judge(controllers.map((one) => this.#jobOf(one, this.#tier)))
    for (const verdict of verdicts.values()) this.#printRight(verdict)
    const alarmed = [...verdicts.values()].filter(({ alarms, refused }) => alarms.length > 0 || refused !== undefined)
    const schedules = [...verdicts.values()].reduce((sum, one) => sum + one.schedules, 0)
    if (!this.#values.json)
      print(`\n${verdicts.size} right controllers, ${schedules} schedules, ${alarmed.length} with alarms\n`)
    return alarmed.length === 0 ? 0 : 1
  }

  async judgeMutants(controllers: readonly RightController[], mutants: readonly GeneratedMutant[]): Promise<number> {
    const used = controllers.filter(({ id }) => mutants.some(({ controller }) => controller === id))
    let outcomes = new Map<string, Outcome>()
    for (const tier of [1, 2].filter((one) => one <= Math.max(1, this.#tier)) as Tier[]) {
      const pending = mutants.filter(({ id }) => tier === 1 || outcomes.get(id)?.caught === false)
      const at = Math.min(tier, this.#tier) as Tier
      const rights = await this.#judge(used.map((one) => this.#jobOf(one, at)))
      if (tier === 1) for (const verdict of rights.values()) this.#printRight(verdict)
      const rightOf = ({ controller }: GeneratedMutant): Verdict => rights.get(controller) ?? missing(controller)
      const jobs = pending.map((one) => ({
        ...this.#jobOf({ id: one.id, path: one.path, text: one.probed }, at),
        known: rightOf(one).alarms.map(keyOf),
      }))
      const verdicts = await this.#judge(jobs)
      const judged = pending.map((one) => outcomeOf(one, verdicts.get(one.id) ?? missing(one.id), rightOf(one)))
      outcomes = new Map([...outcomes, ...judged.map((one) => [one.mutant, one] as const)])
    }
    for (const outcome of outcomes.values()) this.#printOutcome(outcome)
    process.stderr.write(`\n${tableOf([...outcomes.values()])}\n`)
    return 0
  }

  get #tier(): Tier {
    return Number(this.#values.tier) as Tier
  }

  #jobOf({ id, path, text }: RightController, tier: Tier): Job {
    return { id, path, text, tier, schedulesMax: Number(this.#values.schedules) }
  }

  /** Judges what is not known yet. */
  async #judge(jobs: readonly Job[]): Promise<Map<string, Verdict>> {
    const keys = new Map(jobs.map((job) => [job.id, keyOfJob(job)]))
    const pending = jobs.filter(({ id }) => !this.#known.has(keys.get(id) ?? ''))
    const { cores = String(availableParallelism()), results } = this.#values
    let done = 0
    this.#startedAtMs = performance.now()
    await judgeAll(pending, {
      cores: Number(cores),
      onVerdict: (verdict) => {
        const key = keys.get(verdict.id) ?? ''
        this.#known.set(key, verdict)
        if (results !== undefined) appendFileSync(results, `${JSON.stringify({ key, verdict })}\n`)
        this.#progress(++done, pending.length)
      },
    })
    return new Map(jobs.map(({ id }) => [id, { ...(this.#known.get(keys.get(id) ?? '') ?? missing(id)), id }]))
  }

  #progress(done: number, all: number): void {
    if (done !== all && done % 10 !== 0) return
    const leftS = ((performance.now() - this.#startedAtMs) / 1000 / done) * (all - done)
    process.stderr.write(`${done} of ${all} programs, about ${Math.ceil(leftS)} s left\n`)
  }

  #printRight({ id, alarms, schedules, ms, refused, left }: Verdict): void {
    const line = { clean: id, alarms: alarms.length, schedules, ms, left, ...(refused !== undefined && { refused }) }
    const details = alarms.map(
      ({ rule, about, message, when, diff }) =>
        `\n        ${rule} ${about}: ${message} [${when.join(' and ') || 'undisturbed'}] ${diff.join('; ')}`,
    )
    const state = refused !== undefined ? `REFUSED (${refused})` : alarms.length > 0 ? 'ALARM ' : 'silent'
    print(
      this.#values.json
        ? `${JSON.stringify({ ...line, details: alarms })}\n`
        : `${state}  ${id}, ${schedules} schedules${left > 0 ? `, ${left} left` : ''} (${ms} ms)${details.join('')}\n`,
    )
  }

  #printOutcome(outcome: Outcome): void {
    const { mutant, caught, equivalent, missed, rule, tier, finding, change } = outcome
    const state = caught ? `caught ${tier}` : (equivalent ?? `MISSED (${missed})`)
    print(
      this.#values.json
        ? `${JSON.stringify(outcome)}\n`
        : `${state}  ${mutant}  ${change}${caught ? `\n        ${rule}: ${finding}` : ''}\n`,
    )
  }
}

function keyOfJob({ id: _, ...job }: Job): string {
  return createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 24)
}

function missing(id: string): never {
  throw new Error(`${id} was not judged`)
}
