/**
 * The script of a schedule: the steps of the user, a quiet state after each of them, and the end of all faults.
 *
 * Rules compare states only when the world is quiet. Whether the program recovers can be judged only after all faults
 * have ended, so the last quiet state comes after that.
 */
import type { SchedulePoint } from './deviation.ts'
import type { EventLoop } from './event-loop.ts'
import type { FaultInjector } from './fault-injector.ts'
import { otherClient, releaseForeignFinalizers } from './foreign-writes.ts'
import type { RuleWatcher } from './rules/rule.ts'
import { nameOfStep, waitOf } from './scenario.ts'
import type { World } from './world.ts'

interface ScriptRunnerOptions {
  readonly faultInjector: FaultInjector
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

  /** All faults are over. */
  get isHealed(): boolean {
    return this.#isHealed
  }

  /** A rule probes the world: the interactions that follow are not part of the schedule. */
  get isProbing(): boolean {
    return this.#isProbing
  }

  /** From the first step to the last quiet state. */
  async run(): Promise<void> {
    const { faultInjector, loop } = this.#parts
    const { steps, replicas = 1 } = this.#world.options.scenario
    faultInjector.begin()
    for (let step = 0; step < faultInjector.lateSteps; step++) await this.step()
    this.#world.farTimers.passAtOnce()
    for (let replica = 0; replica < replicas; replica++)
      this.#world.startProcess({ prefix: String.fromCharCode(65 + replica) })
    for (;;) {
      if (!(await this.#settle())) break
      await this.#quiet(false)
      if (loop.nonConvergence) break
      if (this.#phase >= steps.length || faultInjector.userIsDone) break
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
    world.farTimers.beginStep({ waitMs: waitOf(step) })
    const name = nameOfStep(step)
    await world.actAs('user', name, async () => {
      if ('wait' in step) return
      await step.run(world.clientFor('user')).catch((error: unknown) => {
        world.stepErrors.push({ step: name, error })
      })
    })
  }

  /** Runs until the world is quiet and no far timer is left to wait for. @returns false when it does not become quiet */
  async #settle(): Promise<boolean> {
    const world = this.#world
    while (await this.#parts.loop.runUntilQuiet()) {
      const rest = world.options.reference ? undefined : world.facts.unmaskedState()
      if (!world.farTimers.hasLeapt) for (const watcher of this.#parts.watchers) watcher.rest?.()
      const next = world.farTimers.leap(world, { untilMs: this.#dueByMs() })
      if (next === undefined) return true
      if (rest) world.restStates.push(rest)
      world.note('world', `time passes until ${next}`)
    }
    return false
  }

  /** By then a process whose clock is slow has done what it does undisturbed in this phase. */
  #dueByMs(): number {
    const { reference } = this.#world.options
    const slowMs = -this.#parts.faultInjector.skew.offsetMs
    return slowMs > 0 ? (reference?.at(this.#phase)?.elapsedMs ?? 0) + slowMs + 1000 : 0
  }

  async #quiet(isLast: boolean): Promise<void> {
    const { faultInjector } = this.#parts
    const world = this.#world
    const point: SchedulePoint = { type: 'quiet', index: this.#quiets++ }
    world.note('world', `is quiet (${point.index})`)
    world.quietSteps.push(world.trace.steps)
    if (!isLast && (await faultInjector.atQuiet(point)) && !(await this.#settle())) return
    if (!world.options.reference) world.quietStates.push(world.facts.unmaskedState())
    await this.#judge(isLast)
    if (!world.options.reference) await this.#probe()
  }

  /** Rules may probe a quiet, undisturbed world. */
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
    const { faultInjector, loop } = this.#parts
    const world = this.#world
    // What a status claims before the faults end must be true before they end.
    if (!loop.nonConvergence && faultInjector.isBroken) await this.#judge(false)
    this.#isHealed = true
    // Other objects wait for the one that always fails.
    if (loop.nonConvergence && faultInjector.poisoned > 0)
      world.addFinding({
        rule: 'failure',
        severity: 'error',
        about: 'reconcile',
        message: 'one object that always fails blocks the others: their reconciles fail too, or never end',
        hint: 'reconcile one object per run, so that its failure cannot stop the others',
      })
    // A long back-off may still be running. Whether the work gets done is judged after the faults end.
    if (loop.nonConvergence?.why === 'time' && world.options.deviations.length > 0) loop.clearNonConvergence()
    world.note('world', 'all faults are over')
    await faultInjector.heal()
    await releaseForeignFinalizers([...world.history.objects.values()], world.directClient(otherClient))
    if (world.processes.every(({ isDead }) => isDead)) world.startProcess()
    loop.noteActivity()
    if (!loop.nonConvergence && (await this.#settle())) await this.#quiet(true)
    else await this.#judge(true)
  }
}
