/**
 * The end of a program that runs workloads: every run is ended, consumers before providers, and it is proved that none is left.
 *
 *   Ctrl-C            in order; each with its own signal and grace period
 *   the total bound   SIGKILL to everything that is left, whatever the order
 *   `urgent`          the same, at once: a second Ctrl-C
 *
 * Each object is reported once: `Stopped`, `Killed` (it did not end in time), `Survived` (with the processes that are left), or
 * `Kept` (it is persistent and goes on).
 *
 * Invariants: nothing is started from the beginning of the shutdown on; the report says `Stopped` or `Killed` only if the process
 * table shows no process of the run; a shutdown that is requested twice is one shutdown.
 */
import { sleep, type Clock } from 'evenkeel/unstable/base'
import { parseMark } from './journal.ts'
import type { ProcessEntry } from './process-host.ts'
import type { Run } from './runs.ts'
import type { Session } from './session.ts'
import { stopInOrder, workloadKey, type ShutdownOrder, type StoppableNode } from './shutdown-order.ts'

export interface ShutdownOptions {
  /** When everything that is left is killed. @default 30 seconds */
  readonly timeoutMs?: number
  /** Kill everything now. @default never */
  readonly urgent?: AbortSignal
  /** Called for each object when it has ended. */
  readonly onOutcome?: (outcome: ShutdownOutcome) => void
}

export interface ShutdownOutcome {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly outcome: 'Stopped' | 'Killed' | 'Survived' | 'Kept'
  /** How long it took. */
  readonly tookMs: number
  /** What is left of it. */
  readonly survivors: readonly Pick<ProcessEntry, 'pid' | 'command'>[]
}

export interface ShutdownReport {
  readonly outcomes: readonly ShutdownOutcome[]
  /** Runs that could not be ended: the shutdown has failed. */
  readonly survivors: readonly Run[]
}

interface ShutdownContext {
  readonly session: Session
  readonly order: ShutdownOrder
  readonly clock: Clock
}

const timeoutMsDefault = 30_000

/** Ends every run that does not outlive the program. */
export async function shutDown(
  { session, order, clock }: ShutdownContext,
  { timeoutMs = timeoutMsDefault, urgent, onOutcome }: ShutdownOptions = {},
): Promise<ShutdownReport> {
  const outcomes: ShutdownOutcome[] = []
  const report = (outcome: ShutdownOutcome): void => {
    outcomes.push(outcome)
    onOutcome?.(outcome)
  }
  const bound = new AbortController()
  const over = new AbortController()
  void sleep(clock, timeoutMs, { signal: over.signal }).then(
    () => {
      bound.abort(new Error('the time of the shutdown is over'))
    },
    () => undefined,
  )
  const hurry = urgent ? AbortSignal.any([urgent, bound.signal]) : bound.signal
  const survivors = await session.close(async (runs) => {
    const left: Run[] = []
    await stopInOrder(
      nodesOf(runs, order),
      async ({ key, run }) => {
        const { outcome, survivor } = await endOne(run, { session, clock, hurry, key, plan: order.planOf(key) })
        report(outcome)
        if (survivor) left.push(survivor)
      },
      { hurry },
    )
    return left
  })
  over.abort(new Error('the shutdown is over'))
  for (const run of session.runs()) if (isKept(run)) report(outcomeOf(run, { order, outcome: 'Kept' }))
  return { outcomes, survivors }
}

interface RunNode extends StoppableNode {
  readonly run: Run
}

function nodesOf(runs: readonly Run[], order: ShutdownOrder): readonly RunNode[] {
  const keyed = runs.filter(({ isOver }) => !isOver).map((run) => ({ run, key: keyOf(run, order) }))
  const keys = new Set(keyed.map(({ key }) => key))
  return keyed.map(({ run, key }) => ({ run, key, providers: order.providersOf(key, keys) }))
}

/** A run of an earlier program whose object was not reconciled yet is that of a Process. */
function keyOf({ owner }: Run, order: ShutdownOrder): string {
  return order.keyOf(owner.uid) ?? workloadKey('Process', owner)
}

interface EndOneOptions {
  readonly session: Session
  readonly clock: Clock
  readonly hurry: AbortSignal
  readonly key: string
  readonly plan: ReturnType<ShutdownOrder['planOf']>
}

async function endOne(
  run: Run,
  { session, clock, hurry, key, plan }: EndOneOptions,
): Promise<{ readonly outcome: ShutdownOutcome; readonly survivor: Run | undefined }> {
  const begunMs = clock.monotonic()
  let [wasKilled, left]: [boolean, readonly ProcessEntry[]] = [false, []]
  const survivor = await session.endFully(run, {
    ...plan,
    reason: 'SessionClosed',
    urgent: hurry,
    onStep: ({ killed, survivors }) => {
      wasKilled = killed.length > 0
      left = survivors
    },
  })
  const [kind = 'Process'] = key.split('/')
  const { namespace, name } = run.owner
  return {
    outcome: {
      kind,
      namespace,
      name,
      outcome: survivor ? 'Survived' : wasKilled ? 'Killed' : 'Stopped',
      tookMs: clock.monotonic() - begunMs,
      survivors: survivor ? left.map(({ pid, command }) => ({ pid, command })) : [],
    },
    survivor,
  }
}

function isKept({ mark, isOver }: Run): boolean {
  return !isOver && parseMark(mark)?.lifetime === 'persistent'
}

function outcomeOf(
  run: Run,
  { order, outcome }: { readonly order: ShutdownOrder; readonly outcome: 'Kept' },
): ShutdownOutcome {
  const [kind = 'Process'] = keyOf(run, order).split('/')
  const { namespace, name } = run.owner
  return { kind, namespace, name, outcome, tookMs: 0, survivors: [] }
}
