/**
 * The controller of Tasks: makes the Processes of an execution, and records how it ends.
 *
 *   object ─▶ which execution ─▶ is it wanted, what does it wait for ─▶ nextStep ─▶ Processes made or ended ─▶ status, events
 *              ▲ status, rerun                                           ▲ execution.ts
 *
 * A Process is made once for each execution and index, with a name that follows from both (`migrate-1-0`), and is never changed.
 * Starting, retrying, stopping and adopting are the work of the controller of Processes.
 *
 * Invariants: an execution that has finished is never started again; another one starts only for a request, which is recorded
 * in the same write as its number, and when no Process of an earlier one is left.
 */
import { action, type ControllerDeclaration, type ReconcileResult } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { formatTime, parseTime } from 'evenkeel/unstable/api'
import {
  endOwned,
  hasFailed,
  hasSucceeded,
  indexLabel,
  indexOf,
  isAtRest,
  isDeleting,
  ownedProcesses,
  removeOwned,
} from '../owned-processes.ts'
import { dependencyVerbs, missingOf } from '../process-dependencies.ts'
import { Process, type ProcessObject } from '../process-kind.ts'
import { Ages } from './ages.ts'
import { formatIndexes, nextStep, parseIndexes, type ExecutionStep, type TaskProcess } from './execution.ts'
import { Task, type Execution, type TaskObject } from './task-kind.ts'
import { historyWith, reportActive, reportFinished, reportWaiting } from './task-status.ts'

type Context = Parameters<NonNullable<ControllerDeclaration<typeof Task, ManagedContext>['reconcile']>>[1]

/** The execution that a Process belongs to. */
const executionLabel = 'workloads.evenkeel.dev/execution'
/** How a Process has completed, for the condition of its Task and for its place in history. */
const isCompleted =
  'has(object.status) && has(object.status.conditions) && object.status.conditions.exists(c, c.type == "Completed" && c.status == "True")'
/** We end Processes ourselves: none is history before its execution is. */
const keepAll = { Complete: 1_000_000, Failed: 1_000_000 }

/** What one reconcile works with. */
interface TaskRun {
  readonly task: TaskObject
  readonly execution: Execution
  readonly context: Context
  /** Those of this execution. */
  readonly processes: readonly ProcessObject[]
}

export class TaskController {
  readonly #kind: typeof Task
  readonly #ages = new Ages()
  readonly #rerun = action('rerun', {
    form: 'token',
    about: 'Runs a finished Task once more.',
    enabledWhen: 'has(object.status) && has(object.status.execution) && has(object.status.execution.finishedAt)',
  })
  readonly #stop = action('stop', {
    form: 'state',
    about: 'Ends its programs; the object stays.',
    patch: { spec: { running: false } },
    enabledWhen: 'object.spec.running',
  })
  readonly #start = action('start', {
    form: 'state',
    about: 'Goes on with a Task that was stopped.',
    patch: { spec: { running: true } },
    enabledWhen: '!object.spec.running',
  })
  readonly #dependencies = dependencyVerbs(({ spec }: TaskObject) => spec.template.spec.dependsOn)

  constructor({ kind = Task }: { readonly kind?: typeof Task } = {}) {
    this.#kind = kind
  }

  declaration(): ControllerDeclaration<typeof Task, ManagedContext> {
    return {
      for: this.#kind,
      owns: [Process],
      concurrency: 16,
      verbs: [...this.#dependencies, this.#rerun, this.#stop, this.#start],
      reconcile: (task, context) => this.#reconcile(task, context),
      cleanup: async (task, context) => {
        const left = await endOwned(task, context)
        return left.length > 0 ? { park: `the end of ${left.length} Processes` } : undefined
      },
      rbac: [{ apiGroups: ['workloads.evenkeel.dev'], resources: ['tasks'], verbs: ['delete'] }],
    }
  }

  async #reconcile(task: TaskObject, context: Context): Promise<ReconcileResult | undefined> {
    const execution = await this.#execution(task, context)
    const all = ownedProcesses(context.children)
    const isOurs = ({ metadata: { labels } }: ProcessObject): boolean =>
      labels?.[executionLabel] === String(execution.number)
    const older = all.filter((one) => !isOurs(one))
    for (const process of older) await removeOwned(process, context)
    const run: TaskRun = { task, execution, context, processes: all.filter(isOurs) }
    if (execution.finishedAt !== undefined) return this.#afterFinish(run)
    if (!(task.spec.running ?? true)) return this.#suspend(run)
    if (older.length > 0) return reportWaiting(run, { reason: 'Ending', message: waitsForEnd(older) })
    const { missing } = await missingOf(task.spec.template.spec.dependsOn, { verbs: this.#dependencies, context })
    if (missing && execution.startedAt === undefined) return reportWaiting(run, missing)
    return this.#goOn(run)
  }

  /** The current execution: the first one, the one of the status, or the next one, when that was requested. */
  async #execution({ status }: TaskObject, context: Context): Promise<Execution> {
    const last = status?.execution
    let next: Execution = last ?? { number: 1, cause: 'it was created' }
    await this.#rerun.handle(context, ({ by = 'an unknown user' }) => {
      if (last?.finishedAt === undefined) {
        context.event({ type: 'Warning', reason: 'RerunIgnored', note: 'it has not finished: wait, or delete it' })
        return
      }
      next = { number: (last.number ?? 0) + 1, cause: `a rerun was requested by ${by}` }
      context.status.set({ executions: historyWith(status?.executions, last) })
    })
    return next
  }

  /** Its programs end; what has succeeded stays. The deadline counts from the next start. */
  async #suspend(run: TaskRun): Promise<undefined> {
    const { context, processes } = run
    const known = this.#succeeded(run)
    for (const process of processes.filter((one) => !hasSucceeded(one))) await removeOwned(process, context)
    const { startedAt: _, ...execution } = run.execution
    reportWaiting(
      { ...run, execution: { ...execution, completedIndexes: formatIndexes(known) } },
      { reason: 'Stopped', message: 'spec.running is false' },
    )
  }

  async #goOn(run: TaskRun): Promise<ReconcileResult | undefined> {
    const { task, context, execution } = run
    const { completions = 1, concurrency = completions, activeDeadlineSeconds } = task.spec
    const nowMs = context.clock.now()
    const startedAt = execution.startedAt ?? formatTime(nowMs)
    const began = { name: `execution ${execution.number} ${startedAt}`, atMs: parseTime(startedAt) ?? nowMs }
    const deadlineMs = activeDeadlineSeconds === undefined ? Infinity : activeDeadlineSeconds * 1000
    const leftMs = deadlineMs - this.#ages.ageMs(task.metadata.uid, began, context.clock)
    const succeeded = this.#succeeded(run)
    const step = nextStep({
      completions,
      concurrency,
      succeeded,
      processes: run.processes.map(asTaskProcess),
      overdueSeconds: leftMs <= 0 ? activeDeadlineSeconds : undefined,
    })
    const next = { ...execution, startedAt, completedIndexes: formatIndexes(succeeded) }
    if (execution.startedAt === undefined)
      context.event({ reason: 'Started', note: `execution ${execution.number} was started: ${execution.cause}` })
    if (step.do === 'finish') return this.#finish({ ...run, execution: next }, step)
    await this.#perform(step, run)
    reportActive({ ...run, execution: next }, { succeeded: succeeded.size, started: step.start.length })
    return leftMs < Infinity ? { afterMs: Math.max(1, leftMs) } : undefined
  }

  /** The indexes that have succeeded, by the status and by the Processes. */
  #succeeded({ execution, processes }: TaskRun): Set<number> {
    const succeeded = parseIndexes(execution.completedIndexes ?? '')
    for (const process of processes) if (hasSucceeded(process)) succeeded.add(indexOf(process))
    return succeeded
  }

  async #perform(
    { start, end }: Extract<ExecutionStep, { readonly do: 'run' }>,
    { task, execution, context, processes }: TaskRun,
  ): Promise<void> {
    const { retries = 0, backoff, template } = task.spec
    const limits = { initialSeconds: backoff?.initialSeconds ?? 1, maxSeconds: backoff?.maxSeconds ?? 60 }
    for (const { name } of end) {
      const surplus = processes.find(({ metadata }) => metadata.name === name)
      if (surplus) await removeOwned(surplus, context)
    }
    for (const index of start) {
      const labels = {
        ...template.metadata?.labels,
        [executionLabel]: String(execution.number),
        [indexLabel]: String(index),
      }
      await context.children.once(
        Process,
        {
          metadata: { labels, annotations: template.metadata?.annotations ?? {} },
          spec: {
            ...template.spec,
            restart: retries > 0 ? { ...limits, policy: 'OnFailure', limit: retries } : { policy: 'Never' },
          },
        },
        { key: `${execution.number}-${index}`, keep: keepAll, ready: isCompleted },
      )
    }
  }

  async #finish(
    run: TaskRun,
    { outcome, reason, message }: Extract<ExecutionStep, { readonly do: 'finish' }>,
  ): Promise<ReconcileResult | undefined> {
    const { context, execution } = run
    const atMs = context.clock.now()
    const tookMs = atMs - (parseTime(execution.startedAt ?? '') ?? atMs)
    const finished: Execution = {
      ...execution,
      finishedAt: formatTime(atMs),
      durationSeconds: Math.max(0, Math.round(tookMs / 1000)),
      reason,
      message,
    }
    context.event({
      type: outcome === 'Completed' ? 'Normal' : 'Warning',
      reason: outcome,
      note: `execution ${execution.number} ${outcome === 'Completed' ? 'has completed' : 'has failed'}: ${message}`,
    })
    return this.#afterFinish({ ...run, execution: finished })
  }

  /** Ends what still runs. Deletes the Task when its time is over. */
  async #afterFinish(run: TaskRun): Promise<ReconcileResult | undefined> {
    const { task, execution, context, processes } = run
    const { uid } = task.metadata
    const succeeded = this.#succeeded(run)
    // One that has succeeded and was started again by hand is none of our business.
    const active = processes.filter((one) => !isAtRest(one) && !succeeded.has(indexOf(one)))
    for (const process of active) await removeOwned(process, context)
    reportFinished(run, { active: active.length, succeeded: succeeded.size })
    const { ttlSecondsAfterFinished } = task.spec
    if (ttlSecondsAfterFinished === undefined) {
      this.#ages.forget(uid)
      return undefined
    }
    const nowMs = context.clock.now()
    const finished = {
      name: `end of ${execution.number}`,
      atMs: parseTime(execution.finishedAt ?? '') ?? nowMs,
    }
    const leftMs = ttlSecondsAfterFinished * 1000 - this.#ages.ageMs(uid, finished, context.clock)
    if (leftMs > 0) return { afterMs: leftMs }
    this.#ages.forget(uid)
    await removeOwned(task, context)
    return undefined
  }
}

function asTaskProcess(process: ProcessObject): TaskProcess {
  const { status, metadata } = process
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const isOver = !isDeleting(process)
  return {
    name: metadata.name,
    index: indexOf(process),
    state: isOver && hasSucceeded(process) ? 'succeeded' : isOver && hasFailed(process) ? 'failed' : 'active',
    reason: ready?.reason ?? 'Failed',
    message: ready?.message ?? 'it has failed',
  }
}

function waitsForEnd(processes: readonly ProcessObject[]): string {
  return `waits for the end of ${processes
    .slice(0, 5)
    .map(({ metadata: { name } }) => name)
    .join(', ')} of an earlier execution`
}
