/**
 * The end of a program that runs workloads: every run and every container is ended, consumers before providers, and it is proved that
 * none is left.
 *
 *   Ctrl-C            in order; each with its own signal and grace period
 *   the total bound   SIGKILL to everything that is left, whatever the order
 *   `urgent`          the same, at once: a second Ctrl-C
 *
 * Each object is reported once: `Stopped`, `Killed` (it did not end in time), `Survived` (with the processes that are left), or
 * `Kept` (it is persistent and goes on).
 *
 * Invariants: nothing is started from the beginning of the shutdown on; the report says `Stopped` or `Killed` only if the process
 * table shows no process of the run, or the runtime shows that the container has ended; a shutdown that is requested twice is one
 * shutdown.
 */
import { sleep, type Clock } from 'evenkeel/unstable/base'
import { parseMark } from './journal.ts'
import type { ProcessEntry } from './process-host.ts'
import type { EndingContainer } from './containers/container-shutdown.ts'
import type { Run, RunOwner } from './runs.ts'
import type { Session } from './session.ts'
import { stopInOrder, workloadKey, type ShutdownOrder } from './shutdown-order.ts'

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
  /** What is left of it: of a Process. */
  readonly survivors: readonly Pick<ProcessEntry, 'pid' | 'command'>[]
  /** Why it survived: of a Container. */
  readonly message?: string
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
  /** The containers that run, when nothing is started any more. @default none */
  readonly findContainers?: (options: { readonly hurry: AbortSignal }) => Promise<readonly EndingContainer[]>
}

const timeoutMsDefault = 30_000

/** Ends every run and every container that does not outlive the program. */
export async function shutDown(
  { session, order, clock, findContainers }: ShutdownContext,
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
  const context = { session, order, clock, hurry }
  let containers: readonly EndingContainer[] = []
  const survivors = await session.close(async (runs) => {
    const left: Run[] = []
    containers = (await findContainers?.({ hurry })) ?? []
    const ending = containers.filter(({ isKept }) => !isKept)
    const nodes = [...runNodes(runs, context), ...ending.map((one) => containerNode(one, context))]
    const keys = new Set(nodes.map(({ key }) => key))
    await stopInOrder(
      nodes.map((node) => ({ ...node, providers: order.providersOf(node.key, keys) })),
      async ({ end }) => {
        const { outcome, survivor } = await end()
        report(outcome)
        if (survivor) left.push(survivor)
      },
      { hurry },
    )
    return left
  })
  over.abort(new Error('the shutdown is over'))
  const kept = [
    ...session
      .runs()
      .filter(isKept)
      .map((run) => ({ owner: run.owner, key: keyOf(run, order) })),
    ...containers.filter((one) => one.isKept).map((one) => ({ owner: one.owner, key: containerKey(one, order) })),
  ]
  for (const { owner, key } of kept) report({ ...nameOf(key, owner), outcome: 'Kept', tookMs: 0, survivors: [] })
  return { outcomes, survivors }
}

/** What is ended in its turn. */
interface EndingNode {
  readonly key: string
  end(): Promise<{ readonly outcome: ShutdownOutcome; readonly survivor?: Run | undefined }>
}

type EndContext = Omit<ShutdownContext, 'findContainers'> & { readonly hurry: AbortSignal }

function runNodes(runs: readonly Run[], context: EndContext): readonly EndingNode[] {
  return runs
    .filter(({ isOver }) => !isOver)
    .map((run) => {
      const key = keyOf(run, context.order)
      return { key, end: () => endRun(run, key, context) }
    })
}

/** A run of an earlier program whose object was not reconciled yet is that of a Process. */
function keyOf({ owner }: Run, order: ShutdownOrder): string {
  return order.keyOf(owner.uid) ?? workloadKey('Process', owner)
}

async function endRun(
  run: Run,
  key: string,
  { session, order, clock, hurry }: EndContext,
): Promise<{ readonly outcome: ShutdownOutcome; readonly survivor: Run | undefined }> {
  const begunMs = clock.monotonic()
  let [wasKilled, left]: [boolean, readonly ProcessEntry[]] = [false, []]
  const survivor = await session.endFully(run, {
    ...order.planOf(key),
    reason: 'SessionClosed',
    urgent: hurry,
    onStep: ({ killed, survivors }) => {
      wasKilled = killed.length > 0
      left = survivors
    },
  })
  return {
    outcome: {
      ...nameOf(key, run.owner),
      outcome: survivor ? 'Survived' : wasKilled ? 'Killed' : 'Stopped',
      tookMs: clock.monotonic() - begunMs,
      survivors: survivor ? left.map(({ pid, command }) => ({ pid, command })) : [],
    },
    survivor,
  }
}

function containerKey({ owner }: EndingContainer, order: ShutdownOrder): string {
  return order.keyOf(owner.uid) ?? workloadKey('Container', owner)
}

function containerNode(container: EndingContainer, { order, clock, hurry }: EndContext): EndingNode {
  const key = containerKey(container, order)
  return {
    key,
    async end() {
      const begunMs = clock.monotonic()
      const { outcome, message } = await container.end({ ...order.planOf(key), hurry })
      const took = { tookMs: clock.monotonic() - begunMs, survivors: [], ...(message !== undefined && { message }) }
      return { outcome: { ...nameOf(key, container.owner), outcome, ...took } }
    },
  }
}

function isKept({ mark, isOver }: Run): boolean {
  return !isOver && parseMark(mark)?.lifetime === 'persistent'
}

function nameOf(key: string, { namespace, name }: RunOwner): Pick<ShutdownOutcome, 'kind' | 'namespace' | 'name'> {
  const [kind = 'Process'] = key.split('/')
  return { kind, namespace, name }
}
