/**
 * The controller of Schedules: makes a Task for each time that is due, and for each request of the action `trigger`.
 *
 *   clock ─▶ decision.ts ─▶ concurrencyPolicy ─▶ the Task of this time (`nightly-29474460`) ─▶ status
 *
 * The name of a Task follows from its time, in minutes since 1970. A program that dies between the creation and its record finds the Task
 * when it decides again, so a time has one Task at most. The clock is looked at once a minute, also when nothing is due: it may jump, and
 * the machine may sleep. At rest nothing is written.
 *
 * Invariants: one Task at most for each time; with `Forbid` and `Replace` none begins while another one of this Schedule is active.
 */
import { action, isConditionTrue, type ControllerDeclaration, type ReconcileResult } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { formatTime, parseTime } from 'evenkeel/unstable/api'
import { removeOwned } from '../owned-processes.ts'
import { Task, type TaskObject } from '../tasks/task-kind.ts'
import { minuteMs, parseCron } from './cron.ts'
import { decideSchedule, missedMax, type ScheduleDecision } from './decision.ts'
import type { Timing } from './due-times.ts'
import { Schedule, type ScheduleObject } from './schedule-kind.ts'
import { TimeZone } from './time-zone.ts'

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Schedule, ManagedContext>['reconcile']>>[1]

interface ScheduleControllerOptions {
  /** @default the kinds with the usual limits */
  readonly kinds?: { readonly schedule: typeof Schedule; readonly task: typeof Task }
  /** Of Schedules without a time zone. */
  readonly timeZone: string
}

/** How long a change of the clock goes unnoticed. */
const lookMs = minuteMs

interface ScheduleRun {
  readonly schedule: ScheduleObject
  readonly context: Context
}

export class ScheduleController {
  readonly #kinds: NonNullable<ScheduleControllerOptions['kinds']>
  readonly #timeZone: string
  readonly #trigger = action('trigger', { form: 'token', about: 'Makes a Task now, whatever the time.' })
  readonly #suspend = action('suspend', {
    form: 'state',
    about: 'Makes no further Tasks.',
    patch: { spec: { suspend: true } },
    enabledWhen: '!object.spec.suspend',
  })
  readonly #resume = action('resume', {
    form: 'state',
    about: 'Makes Tasks again, from the next time on.',
    patch: { spec: { suspend: false } },
    enabledWhen: 'object.spec.suspend',
  })

  /** @throws {RangeError} for a time zone that does not exist */
  constructor({ kinds = { schedule: Schedule, task: Task }, timeZone }: ScheduleControllerOptions) {
    if (!TimeZone.find(timeZone))
      throw new RangeError(`timeZone: ${JSON.stringify(timeZone)} is not a name like Europe/Berlin or UTC`)
    this.#kinds = kinds
    this.#timeZone = timeZone
  }

  declaration(): ControllerDeclaration<typeof Schedule, ManagedContext> {
    return {
      for: this.#kinds.schedule,
      owns: [this.#kinds.task],
      verbs: [this.#trigger, this.#suspend, this.#resume],
      reconcile: (schedule, context) => this.#reconcile({ schedule, context }),
    }
  }

  async #reconcile(run: ScheduleRun): Promise<ReconcileResult | undefined> {
    const { schedule, context } = run
    await this.#trigger.handle(context, async ({ token, by = 'an unknown user' }) => {
      const { metadata } = await this.#make(run, `manual-${token}`)
      context.event({ reason: 'Triggered', note: `Task ${metadata.name} was made: requested by ${by}` })
    })
    const timing = this.#timing(run)
    const isSuspended = schedule.spec.suspend ?? false
    const result = !timing ? undefined : isSuspended ? this.#rest(run) : await this.#goOn(run, timing)
    context.status.set({ active: this.#active(run).map(({ metadata }) => metadata.name) })
    return result
  }

  /** Undefined, and reported, for an expression or a zone that cannot be used. */
  #timing({ schedule: { spec }, context }: ScheduleRun): Timing | undefined {
    const { timeZone = this.#timeZone } = spec
    const refuse = (reason: string, message: string): undefined => {
      context.status.set({ nextScheduleAt: undefined })
      context.status.condition('Ready', false, { reason, message })
    }
    const zone = TimeZone.find(timeZone)
    if (!zone)
      return refuse(
        'InvalidTimeZone',
        `spec.timeZone: ${JSON.stringify(timeZone)} is not a time zone: write a name like Europe/Berlin or UTC`,
      )
    try {
      return { cron: parseCron(spec.schedule), zone }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return refuse('InvalidSchedule', `spec.schedule: ${error.message}`)
    }
  }

  #rest({ schedule, context }: ScheduleRun): undefined {
    const { decidedUntil = schedule.metadata.creationTimestamp } = schedule.status ?? {}
    context.status.set({ decidedUntil, schedule: undefined, nextScheduleAt: undefined })
    context.status.condition('Ready', true, { reason: 'Suspended', message: 'spec.suspend is true' })
  }

  async #goOn(run: ScheduleRun, timing: Timing): Promise<ReconcileResult | undefined> {
    const { schedule, context } = run
    const { missedPolicy = 'RunLatest', startingDeadlineSeconds } = schedule.spec
    const nowMs = context.clock.now()
    const decision = decideSchedule(timing, {
      nowMs,
      decidedUntilMs: this.#decidedUntil(run, nowMs),
      missedPolicy,
      startingDeadlineSeconds,
    })
    const { dueMs, nextMs } = decision
    if (dueMs !== undefined && (await this.#isReplacing(run, dueMs))) return { park: 'the end of the Task before' }
    noteMissed(run, decision)
    if (dueMs !== undefined) await this.#start(run, dueMs)
    context.status.set({
      decidedUntil: formatTime(decision.decidedUntilMs),
      schedule: this.#effective(schedule),
      nextScheduleAt: nextMs === undefined ? undefined : formatTime(nextMs),
    })
    if (nextMs === undefined)
      context.status.condition('Ready', false, {
        reason: 'NeverDue',
        message: `spec.schedule: no day matches ${schedule.spec.schedule}: correct the day or the month`,
      })
    else context.status.condition('Ready', true, { reason: 'Scheduled' })
    return nextMs === undefined ? undefined : { afterMs: Math.min(lookMs, Math.max(1, nextMs - nowMs)) }
  }

  /** A changed or resumed schedule counts from now: its times in the past were never due. */
  #decidedUntil({ schedule }: ScheduleRun, nowMs: number): number {
    const { status, metadata } = schedule
    if (status?.decidedUntil === undefined) return parseTime(metadata.creationTimestamp) ?? nowMs
    return status.schedule === this.#effective(schedule) ? (parseTime(status.decidedUntil) ?? nowMs) : nowMs
  }

  #effective({ spec }: ScheduleObject): string {
    return `${spec.schedule} ${spec.timeZone ?? this.#timeZone}`
  }

  /** With `Replace`: ends the active Tasks. The next one is made when they and their programs are gone. */
  async #isReplacing(run: ScheduleRun, dueMs: number): Promise<boolean> {
    if (run.schedule.spec.concurrencyPolicy !== 'Replace') return false
    const others = this.#active(run).filter((task) => !isFor(task, dueMs))
    for (const task of others) await removeOwned(task, run.context, { propagationPolicy: 'Foreground' })
    return others.length > 0
  }

  async #start(run: ScheduleRun, dueMs: number): Promise<void> {
    const { schedule, context } = run
    const at = formatTime(dueMs)
    const [other] = this.#active(run).filter((task) => !isFor(task, dueMs))
    if (schedule.spec.concurrencyPolicy === 'Forbid' && other) {
      context.event({ type: 'Warning', reason: 'Skipped', note: `${at}: Task ${other.metadata.name} still runs` })
      return
    }
    const { metadata } = await this.#make(run, keyOf(dueMs))
    context.status.set({ lastScheduleAt: at })
    context.event({ reason: 'Scheduled', note: `Task ${metadata.name} was made for ${at}` })
  }

  #make({ schedule, context }: ScheduleRun, key: string) {
    const { template, successfulTasksHistoryLimit = 3, failedTasksHistoryLimit = 1 } = schedule.spec
    return context.children.once(
      this.#kinds.task,
      { metadata: { ...template.metadata }, spec: template.spec },
      { key, keep: { Complete: successfulTasksHistoryLimit, Failed: failedTasksHistoryLimit } },
    )
  }

  /** Its Tasks that have not finished, or whose programs still end. */
  #active({ context }: ScheduleRun): readonly TaskObject[] {
    return context.children
      .list()
      .filter((child): child is TaskObject => child.kind === 'Task')
      .filter(
        ({ status, metadata }) =>
          (status?.active ?? 0) > 0 ||
          metadata.deletionTimestamp !== undefined ||
          !(isConditionTrue(status?.conditions, 'Completed') || isConditionTrue(status?.conditions, 'Failed')),
      )
  }
}

/** Identifies a time: minutes since 1970. */
function keyOf(atMs: number): string {
  return String(Math.floor(atMs / minuteMs))
}

function isFor({ metadata: { name } }: TaskObject, atMs: number): boolean {
  return name.endsWith(`-${keyOf(atMs)}`)
}

function noteMissed({ context }: ScheduleRun, { missed, dueMs }: ScheduleDecision): void {
  if (missed === 0) return
  const count = missed >= missedMax ? `${missedMax} or more times` : missed === 1 ? 'one time' : `${missed} times`
  context.event({
    type: 'Warning',
    reason: 'Missed',
    note: `${count} passed without a Task${dueMs === undefined ? '' : '; the latest one is made up for'}`,
  })
}
