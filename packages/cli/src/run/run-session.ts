/**
 * An application that runs: from the applied objects to the last verified end.
 *
 *   objects applied ─▶ controllers reconcile ─▶ rows change, logs are followed ─▶ Ctrl-C, a failed wait, --exit-on
 *                                                                              ─▶ ordered shutdown, report ─▶ controllers stop
 *
 * Invariant: the shutdown begins while the controllers and the server still work, so that `ps` of another terminal shows it.
 */
import { parseTime } from 'evenkeel/unstable/api'
import type { Client } from 'evenkeel/client'
import type { ShutdownOptions, ShutdownReport } from '@evenkeel/workloads'
import { deferred, onAbort, sleep, type Clock } from 'evenkeel/unstable/base'
import type { Doubtful } from './leftovers.ts'
import { LogTail } from './log-tail.ts'
import { missingOf, type RunOutput } from './run-output.ts'
import { refOf, workloadResources, type WorkloadRow } from './workload-row.ts'
import { WorkloadWatch } from './workload-watch.ts'

interface RunSessionOptions {
  readonly client: Client
  readonly namespace: string
  readonly clock: Clock
  readonly output: RunOutput
  /** Ctrl-C. */
  readonly signal: AbortSignal
  /** A name, or `failure`. */
  readonly exitOn: string | undefined
  /** How long to wait until all are ready; undefined: not at all. */
  readonly waitMs: number | undefined
  /** What earlier runs have left. */
  readonly doubtful: Doubtful
  /** Whether what programs write is passed on. */
  readonly followsLogs: boolean
  /** Called once, when all are ready. */
  readonly onReady: () => Promise<void>
}

/** Why a run ends, and the exit code if everything is gone afterwards. */
export interface RunEnding {
  readonly exitCode: number
  readonly why: string
}

export class RunSession {
  readonly #options: RunSessionOptions
  readonly #tails = new Map<string, { readonly path: string; readonly tail: LogTail }>()
  readonly #stop = new AbortController()
  readonly #ending = deferred<RunEnding>()
  #watch: WorkloadWatch | undefined
  #following: Promise<void> = Promise.resolve()
  #waiters: (() => void)[] = []
  readonly #begunMs: number

  constructor(options: RunSessionOptions) {
    this.#options = options
    this.#begunMs = options.clock.now()
  }

  rows(): readonly WorkloadRow[] {
    return this.#watch?.rows() ?? []
  }

  /** Follows everything until there is a reason to end. */
  async run(): Promise<RunEnding> {
    const { client, namespace, clock, signal, waitMs, onReady, doubtful } = this.#options
    const removeListener = onAbort(signal, () => {
      this.#ending.resolve({ exitCode: 0, why: 'stop was requested' })
    })
    const resources = await workloadResources(client, this.#stop.signal)
    this.#watch = new WorkloadWatch(client, {
      resources,
      namespace,
      clock,
      doubtful,
      onChange: (row, previous) => {
        this.#take(row, previous)
      },
    })
    this.#following = this.#watch.run(this.#stop.signal)
    this.#following.catch((error: unknown) => {
      this.#ending.reject(error as Error)
    })
    await Promise.race([this.#watch.listed, this.#ending.promise])
    void this.#allReady().then(onReady)
    if (waitMs !== undefined) void this.#limitWait(waitMs)
    try {
      return await this.#ending.promise
    } finally {
      removeListener()
    }
  }

  /** Ends the workloads, and reports each; then nothing is followed any more. */
  async shutDown(
    shutdowns: readonly ((options: ShutdownOptions) => Promise<ShutdownReport>)[],
    options: Omit<ShutdownOptions, 'onOutcome'>,
  ): Promise<readonly ShutdownReport[]> {
    const { output } = this.#options
    const reports = await Promise.all(
      shutdowns.map((shutdown) =>
        shutdown({
          ...options,
          onOutcome: (outcome) => {
            output.outcome(outcome)
          },
        }),
      ),
    )
    await this.close()
    return reports
  }

  async close(): Promise<void> {
    for (const { tail } of this.#tails.values()) await tail.stop()
    this.#tails.clear()
    this.#stop.abort(new Error('the run is over'))
    await this.#following.catch(() => undefined)
  }

  /** Resolves when every workload is ready, completed or stopped by a person. */
  async #allReady(): Promise<void> {
    while (this.#watch?.isSettled === false)
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve)
      })
  }

  async #limitWait(waitMs: number): Promise<void> {
    const limit = sleep(this.#options.clock, waitMs, { signal: this.#stop.signal }).then(
      () => true,
      () => false,
    )
    const isLate = await Promise.race([limit, this.#allReady().then(() => false)])
    const missing = missingOf(this.rows())
    if (!isLate || missing.length === 0) return
    for (const line of missing) this.#options.output.say(`not ready: ${line}`)
    this.#ending.resolve({ exitCode: 1, why: `not ready after ${waitMs / 1000} s: ${missing.join('; ')}` })
  }

  #take(row: WorkloadRow | undefined, previous: WorkloadRow | undefined): void {
    this.#options.output.changed(row, previous)
    if (row) this.#followLog(row)
    else if (previous) void this.#forgetLog(previous.uid)
    for (const wake of this.#waiters.splice(0)) wake()
    if (row) this.#judge(row)
  }

  #judge(row: WorkloadRow): void {
    const { exitOn } = this.#options
    // One that is restarted has ended as well.
    const hasEnded = row.hasEnded && ['BackOff', 'Succeeded', 'Failed'].includes(row.phase)
    if (exitOn === undefined || !(hasEnded || row.hasFailed)) return
    const exitCode = row.hasFailed ? (row.exitCode ?? 1) || 1 : (row.exitCode ?? 0)
    if (exitOn === 'failure' ? row.hasFailed : exitOn === row.name)
      this.#ending.resolve({ exitCode, why: `${refOf(row)} has ended: ${row.why || row.phase}` })
  }

  #followLog(row: WorkloadRow): void {
    const { uid, logFile, startedAt } = row
    const { clock, output, followsLogs } = this.#options
    if (!followsLogs || logFile === undefined || this.#tails.get(uid)?.path === logFile) return
    void this.#forgetLog(uid)
    // A process that an earlier run has started has written much already.
    const startedMs = startedAt === undefined ? undefined : parseTime(startedAt)
    const tail = new LogTail({
      path: logFile,
      clock,
      fromEnd: startedMs !== undefined && startedMs < this.#begunMs - 1000,
      onLine: (text) => {
        output.line(row, text)
      },
    })
    this.#tails.set(uid, { path: logFile, tail })
    tail.start()
  }

  /** What is left of its log is still read. */
  async #forgetLog(uid: string): Promise<void> {
    const found = this.#tails.get(uid)
    this.#tails.delete(uid)
    await found?.tail.stop()
  }
}
