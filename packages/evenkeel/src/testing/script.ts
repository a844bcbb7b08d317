/**
 * The course of a schedule: the steps of the user, a rest after each of them, and in the end everything is made well.
 *
 * Only at rest may one ask whether all came out right; only after everything was made well, whether it did in the end.
 */
import type { SchedulePoint } from './deviation.ts'
import type { EventLoop } from './event-loop.ts'
import type { FaultInjector } from './fault-injector.ts'
import { releaseForeignFinalizers } from './foreign-writes.ts'
import type { RuleWatcher } from './rules/rule.ts'
import type { World } from './world.ts'

interface ScriptRunnerOptions {
  readonly interventions: FaultInjector
  readonly loop: EventLoop
  readonly watchers: readonly RuleWatcher[]
}

export class ScriptRunner {
  readonly #world: World
  readonly #parts: ScriptRunnerOptions
  #phase = 0
  #quiets = 0
  #isHealed = false
  #isProbing = false

  constructor(world: World, parts: ScriptRunnerOptions) {
    this.#world = world
    this.#parts = parts
  }

  /** How many steps the user has taken. */
  get phase(): number {
    return this.#phase
  }

  /** Everything was made well again. */
  get isHealed(): boolean {
    return this.#isHealed
  }

  /** A rule pokes at the world: what follows from that is not part of the schedule. */
  get isProbing(): boolean {
    return this.#isProbing
  }

  /** From the first step to the last rest. */
  async run(): Promise<void> {
    const { interventions, loop } = this.#parts
    const { steps, replicas = 1 } = this.#world.options.scenario
    interventions.begin()
    for (let step = 0; step < interventions.lateSteps; step++) await this.step()
    for (let replica = 0; replica < replicas; replica++)
      this.#world.startProcess({ prefix: String.fromCharCode(65 + replica) })
    for (;;) {
      if (!(await loop.runUntilQuiet())) break
      await this.#quiet(false)
      if (loop.nonConvergence) break
      if (this.#phase >= steps.length || interventions.userIsDone) break
      await this.step()
    }
    await this.#heal()
  }

  /** The user takes the next step. */
  async step(): Promise<void> {
    const world = this.#world
    const step = world.options.scenario.steps[this.#phase]
    if (!step) return
    this.#phase++
    await world.actAs('user', step.name, () =>
      step.run(world.clientFor('user')).catch((error: unknown) => {
        world.stepErrors.push({ step: step.name, error })
      }),
    )
  }

  async #quiet(isLast: boolean): Promise<void> {
    const { interventions, loop } = this.#parts
    const world = this.#world
    const place: SchedulePoint = { type: 'quiet', index: this.#quiets++ }
    world.note('world', `is quiet (${place.index})`)
    world.quietSteps.push(world.trace.steps)
    if (!isLast && (await interventions.atQuiet(place)) && !(await loop.runUntilQuiet())) return
    if (!world.options.reference) world.quietStates.push(world.facts.quietState())
    await this.#judge(isLast)
    if (!world.options.reference) await this.#probe()
  }

  /** Rules may poke at an undisturbed world at rest. */
  async #probe(): Promise<void> {
    this.#isProbing = true
    for (const watcher of this.#parts.watchers) if (watcher.probe) await watcher.probe()
    this.#isProbing = false
  }

  async #judge(isLast: boolean): Promise<void> {
    const phase = { index: this.#quiets - 1, isLast, isHealed: this.#isHealed }
    for (const watcher of this.#parts.watchers) {
      const judging = watcher.quiet?.(phase)
      if (judging) await judging
    }
  }

  async #heal(): Promise<void> {
    const { interventions, loop } = this.#parts
    const world = this.#world
    // What was claimed before healing must be true before healing.
    if (!loop.nonConvergence && interventions.isBroken) await this.#judge(false)
    this.#isHealed = true
    // Those that can be served wait for one that cannot.
    if (loop.nonConvergence && interventions.poisoned > 0)
      world.addFinding({
        rule: 'failure',
        severity: 'error',
        about: 'reconcile',
        message: 'one object that cannot be served holds up the others: their runs fail as well, or never end',
        hint: 'what goes wrong for one object must not stop the others: work on one object in a run',
      })
    // Whoever waits longer after every failure may be waiting still; whether it gets done is asked when all is well.
    if (loop.nonConvergence?.why === 'time' && world.options.deviations.length > 0) loop.clearNonConvergence()
    world.note('world', 'everything is made well again')
    await interventions.heal()
    await releaseForeignFinalizers([...world.history.objects.values()], world.directClient('somebody'))
    if (world.processes.every(({ isDead }) => isDead)) world.startProcess()
    loop.noteActivity()
    if (!loop.nonConvergence && (await loop.runUntilQuiet())) await this.#quiet(true)
    else await this.#judge(true)
  }
}
