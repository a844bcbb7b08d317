/**
 * What to do next about an execution of a Task: a function of what is wanted and of its Processes. Nothing here acts.
 *
 *   not finished   a program has failed for good, or the deadline is over    finish as Failed, end the others
 *                  all indexes have succeeded                                finish as Completed
 *                  otherwise                                                 start indexes, at most `concurrency` at a time
 *   finished       something still runs                                      end it
 *
 * Worked example: `completions: 3, concurrency: 2`. Indexes 0 and 1 start; 0 succeeds, so 2 starts while 1 goes on; with 1 and 2
 * it is complete. `completedIndexes` is then `0`, `0,2` and `0-2`.
 *
 * Invariants: an index that has succeeded never starts again in its execution, also when its Process is deleted; a finished
 * execution starts nothing.
 */

/** A Process of the execution. */
export interface TaskProcess {
  readonly name: string
  readonly index: number
  /** `active` until it has succeeded or failed for good. */
  readonly state: 'active' | 'succeeded' | 'failed'
  /** How it failed, for people. */
  readonly reason: string
  readonly message: string
}

interface ExecutionState {
  readonly completions: number
  readonly concurrency: number
  /** Indexes that are known to have succeeded. */
  readonly succeeded: ReadonlySet<number>
  readonly processes: readonly TaskProcess[]
  /** The deadline, when it is over. */
  readonly overdueSeconds?: number | undefined
}

export type ExecutionStep =
  | { readonly do: 'run'; readonly start: readonly number[]; readonly end: readonly TaskProcess[] }
  | {
      readonly do: 'finish'
      readonly outcome: 'Completed' | 'Failed'
      readonly reason: string
      readonly message: string
    }

export function nextStep(state: ExecutionState): ExecutionStep {
  const { completions, processes, overdueSeconds } = state
  const succeeded = [...state.succeeded].filter((index) => index < completions).length
  if (succeeded >= completions)
    return {
      do: 'finish',
      outcome: 'Completed',
      reason: 'Completed',
      message: completions === 1 ? 'its program has succeeded' : `all ${completions} programs have succeeded`,
    }
  const failed = processes.find((one) => one.state === 'failed' && one.index < completions)
  if (failed)
    return {
      do: 'finish',
      outcome: 'Failed',
      reason: failed.reason,
      message: `Process ${failed.name}: ${failed.message}`,
    }
  if (overdueSeconds !== undefined)
    return {
      do: 'finish',
      outcome: 'Failed',
      reason: 'DeadlineExceeded',
      message: `it ran for longer than spec.activeDeadlineSeconds (${overdueSeconds})`,
    }
  return { do: 'run', start: indexesToStart(state), end: processes.filter(({ index }) => index >= completions) }
}

function indexesToStart({ completions, concurrency, succeeded, processes }: ExecutionState): readonly number[] {
  const taken = new Set(processes.map(({ index }) => index))
  const active = processes.filter(({ state }) => state === 'active').length
  const start: number[] = []
  for (let index = 0; index < completions && active + start.length < concurrency; index++)
    if (!taken.has(index) && !succeeded.has(index)) start.push(index)
  return start
}

/** `0-2,4`, as a Job writes it. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const ranges: [first: number, last: number][] = []
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range && index === range[1] + 1) range[1] = index
    else ranges.push([index, index])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}

export function parseIndexes(text: string): Set<number> {
  const indexes = new Set<number>()
  for (const range of text === '' ? [] : text.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number)
    for (let index = first; index <= last; index++) indexes.add(index)
  }
  return indexes
}
