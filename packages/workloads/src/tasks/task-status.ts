/**
 * The status of a Task: how far its execution has got, in words for people and conditions for programs.
 *
 *   phase       Ready  Completed  Failed  when
 *   Waiting     False                     a dependency is missing, or an earlier execution still ends
 *   Stopped     False                     spec.running is false
 *   Running     False                     its programs run
 *   Succeeded   True   True               as many programs as it asks for have succeeded
 *   Failed      False             True    a program has failed for good, or the deadline is over
 *
 * The phase is a summary for people; only conditions are for decisions.
 */
import type { ReconcileContext } from 'evenkeel'
import { hasFailed, hasSucceeded } from '../owned-processes.ts'
import type { ProcessObject } from '../process-kind.ts'
import { parseIndexes } from './execution.ts'
import type { Execution, Task, TaskObject } from './task-kind.ts'

interface Reported {
  readonly task: TaskObject
  readonly execution: Execution
  readonly processes: readonly ProcessObject[]
  readonly context: Pick<ReconcileContext<typeof Task>, 'status'>
}

const executionsKept = 5

/** The executions before the current one, when another one begins. */
export function historyWith(past: readonly Execution[] | undefined, last: Execution): Execution[] {
  return [...(past ?? []).filter(({ number }) => number !== last.number), last].slice(-executionsKept)
}

/** Nothing runs: it waits, or was stopped. */
export function reportWaiting(
  { execution, processes, context: { status } }: Reported,
  { reason, message }: { readonly reason: string; readonly message: string },
): undefined {
  status.set({
    phase: reason === 'Stopped' ? 'Stopped' : 'Waiting',
    execution,
    active: processes.filter((one) => !hasSucceeded(one)).length,
    succeeded: parseIndexes(execution.completedIndexes ?? '').size,
    failed: 0,
  })
  status.condition('Ready', false, { reason, message })
  clearOutcome(status)
}

export function reportActive(
  { task, execution, processes, context: { status } }: Reported,
  { succeeded, started }: { readonly succeeded: number; readonly started: number },
): void {
  const active = processes.filter((one) => !hasSucceeded(one) && !hasFailed(one)).length + started
  const { completions = 1 } = task.spec
  status.set({ phase: 'Running', execution, active, succeeded, failed: 0 })
  status.condition('Ready', false, {
    reason: 'Running',
    message: `${succeeded} of ${completions} programs have succeeded, ${active} are active`,
  })
  clearOutcome(status)
}

export function reportFinished(
  { execution, processes, context: { status } }: Reported,
  { active, succeeded }: { readonly active: number; readonly succeeded: number },
): void {
  const { reason = 'Completed', message = '' } = execution
  const isCompleted = reason === 'Completed'
  status.set({
    phase: isCompleted ? 'Succeeded' : 'Failed',
    execution,
    active,
    succeeded,
    failed: processes.filter(hasFailed).length,
  })
  status.condition('Ready', isCompleted, { reason, message })
  status.removeCondition(isCompleted ? 'Failed' : 'Completed')
  status.condition(isCompleted ? 'Completed' : 'Failed', true, { reason, message })
}

function clearOutcome(status: Reported['context']['status']): void {
  status.removeCondition('Completed')
  status.removeCondition('Failed')
}
