/**
 * One run of a manager: everything is started in order, and stopped in the opposite one.
 *
 *   events ─▶ endpoints ─▶ webhooks ─▶ caches ─▶ runnables of every replica ─▶ warm-up (controllers watch) ─▶ election
 *                                                                             leader: controllers work, leader's runnables
 *
 * Webhooks are there before the caches, because the first list may need a conversion. Controllers watch on every replica
 * and work on the leader, so that a standby can go on at once; when the lease is lost they stop working and go on
 * watching.
 *
 * Invariants: what comes later uses what came before, so nothing loses what it needs while it runs; the leader's work has
 * ended before the lease is given back; the first failure stops everything and is what `run` rejects with.
 */
import {
  deadline as limitOf,
  deferred,
  LightAbortController,
  nativeSignal,
  onAbort,
  type Clock,
  type Logger,
} from '#base'
import { lowPriority, RunAborted, type Controller } from '#controller'
import { runWebhookListener } from '#webhook'
import type { Cluster } from './cluster.ts'
import { LeaseLostError, makeElection, type LeaderElection } from './election/leader-election.ts'
import { endpointTask } from './endpoints.ts'
import type { EventRecorder } from './event-recorder.ts'
import { activeRuns, type HealthChecks } from './health.ts'
import type { ManagerOptions, RunFunction, WebhookSettings } from './manager.ts'
import { RunGroup, stopGroups, type Task } from './run-group.ts'
import { watchdogTask } from './watchdog.ts'

export interface RunnableEntry {
  readonly name: string
  readonly needsLeader: boolean
  readonly run: RunFunction
}

/** What there is to run; more may come while it runs. */
interface ManagerRunParts {
  readonly shared: Cluster
  readonly options: ManagerOptions
  readonly runnables: readonly RunnableEntry[]
  readonly recorders: ReadonlyMap<string, EventRecorder>
  readonly checks: () => HealthChecks
  readonly describe: () => object
}

const groupNames = ['events', 'endpoints', 'webhooks', 'caches', 'everywhere', 'warm-up', 'leading'] as const
type GroupName = (typeof groupNames)[number]

/** A candidate that is not warm by then stands all the same: a kind that is missing must not stop the others. */
const warmUpMs = 10_000

export class ManagerRun {
  readonly #parts: ManagerRunParts
  readonly #groups: Readonly<Record<GroupName, RunGroup>>
  readonly #stopping = new LightAbortController()
  readonly #givingUp = new LightAbortController()
  #begun = new Set<GroupName>()
  #failure: { readonly error: unknown } | undefined
  #term: RunGroup | undefined
  #terms = 0
  #election: LeaderElection | undefined

  constructor(parts: ManagerRunParts) {
    this.#parts = parts
    const { log } = parts.shared
    const onFailure = (error: unknown, task: string): void => {
      log.error('stopping, because something failed', { task, error })
      this.#failure ??= { error }
      this.#stopping.abort(error)
    }
    this.#groups = Object.fromEntries(
      groupNames.map((name) => [name, new RunGroup(name, { log, onFailure })]),
    ) as Record<GroupName, RunGroup>
  }

  get election(): LeaderElection | undefined {
    return this.#election
  }

  /** @throws what failed first, or a {@link GraceExceededError}. */
  async run(signal: AbortSignal): Promise<void> {
    const {
      shared: { clock, log },
      options: { gracePeriodMs = 30_000 },
    } = this.#parts
    const stopListening = onAbort(signal, (reason) => {
      this.#stopping.abort(reason)
    })
    await this.#startAll()
    await new Promise<void>((resolve) => {
      onAbort(this.#stopping.signal, () => {
        resolve()
      })
    })
    stopListening()
    log.info('stopping')
    const cut = await stopGroups(groupNames.map((name) => this.#groups[name]).reverse(), {
      reason: this.#stopping.signal.reason,
      graceMs: gracePeriodMs,
      clock,
      onGraceOver: () => {
        this.#givingUp.abort()
      },
    })
    if (cut) log.error('not everything stopped in time', { graceMs: gracePeriodMs, cut: cut.cut })
    if (this.#failure) throw this.#failure.error
    if (cut) throw cut
    log.info('stopped')
  }

  // What is added while it runs

  addRunnable(entry: RunnableEntry): void {
    if (entry.needsLeader) void this.#term?.start(this.#runnableTask(entry))
    else if (this.#begun.has('everywhere')) void this.#groups.everywhere.start(this.#runnableTask(entry))
  }

  addController(controller: Controller, { needsLeader }: { needsLeader: boolean }): void {
    const group = needsLeader ? 'warm-up' : 'everywhere'
    if (!this.#begun.has(group)) return
    void this.#groups[group].start(needsLeader ? this.#watchTask(controller) : this.#everywhereTask(controller))
    if (needsLeader) void this.#term?.start(this.#workTask(controller))
  }

  addRecorder(name: string, recorder: EventRecorder): void {
    if (this.#begun.has('events')) void this.#groups.events.start(recorderTask(name, recorder))
  }

  // Starting

  async #startAll(): Promise<void> {
    const {
      shared,
      runnables,
      recorders,
      options: { webhooks, watchdog: isWatched = true },
    } = this.#parts
    const { clock, log, ledger } = shared
    const watchdog = watchdogTask({
      clock,
      log,
      ledger,
      controllers: () => [...shared.replicaControllers, ...shared.leaderControllers],
    })
    await this.#start(
      'events',
      [...(isWatched ? [watchdog] : []), ...[...recorders].map(([name, recorder]) => recorderTask(name, recorder))],
      { waits: false },
    )
    await this.#start('endpoints', this.#endpointTasks())
    await this.#start('webhooks', webhooks ? [webhookTask(webhooks, { clock, log })] : [])
    await this.#start('caches', [this.#cacheTask()])
    const everywhere = [
      ...runnables.filter(({ needsLeader }) => !needsLeader).map((entry) => this.#runnableTask(entry)),
      ...[...shared.replicaControllers].map((controller) => this.#everywhereTask(controller)),
    ]
    await this.#start('everywhere', everywhere, { waits: false })
    await this.#start(
      'warm-up',
      [...shared.leaderControllers].map((controller) => this.#watchTask(controller)),
      { waits: false },
    )
    if (shared.election !== false) await this.#warmUp()
    await this.#start('leading', [this.#leadingTask()], { waits: false })
  }

  async #start(group: GroupName, tasks: readonly Task[], { waits = true }: { waits?: boolean } = {}): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#begun.add(group)
    const ready = tasks.map((task) => this.#groups[group].start(task))
    if (waits) await Promise.all(ready)
  }

  async #warmUp(): Promise<void> {
    const {
      shared: { clock, leaderControllers: leading, log },
    } = this.#parts
    const limit = limitOf(clock, warmUpMs, { signal: this.#stopping.signal })
    try {
      await Promise.all([...leading].map((controller) => controller.waitForSync({ signal: limit.lightSignal })))
    } catch {
      if (!this.#stopping.signal.aborted) log.warn('standing for election before every controller knows what there is')
    }
    limit.done()
  }

  // Leading

  #leadingTask(): Task {
    const { shared, options } = this.#parts
    const describe = (): string => this.#term?.running.join(', ') || 'leader election'
    const lead = (signal: AbortSignal): Promise<void> => this.#lead(signal)
    if (shared.election === false) return { name: 'leader', describe, run: lead }
    const election = (this.#election = makeElection({
      ...shared,
      name: options.name,
      settings: shared.election,
      lead,
      giveUp: this.#givingUp.signal,
    }))
    return { name: 'leader election', describe, run: (signal) => election.run(signal) }
  }

  /** One term: until the signal aborts, then until everything has ended; nothing lasts beyond it. */
  async #lead(signal: AbortSignal): Promise<void> {
    const {
      shared: { leaderControllers: leading, log },
      runnables,
    } = this.#parts
    const over = deferred<void>()
    this.#terms++
    let failure: { readonly error: unknown } | undefined
    const onFailure = (error: unknown): void => {
      failure ??= { error }
      over.resolve()
    }
    const term = (this.#term = new RunGroup('leader', { log, onFailure }))
    for (const controller of leading) void term.start(this.#workTask(controller))
    for (const entry of runnables) if (entry.needsLeader) void term.start(this.#runnableTask(entry))
    const stopListening = onAbort(signal, () => {
      over.resolve()
    })
    await over.promise
    stopListening()
    await term.stop(
      signal.reason instanceof LeaseLostError
        ? new RunAborted('lease-lost', { cause: signal.reason })
        : (failure?.error ?? signal.reason),
    )
    this.#term = undefined
    if (failure) throw failure.error
  }

  // What is started

  #endpointTasks(): Task[] {
    const {
      shared: { clock, log, metrics },
      options: { endpoints = false, rules },
      checks,
      describe,
    } = this.#parts
    return endpoints === false ? [] : [endpointTask(endpoints, { clock, log, metrics, checks, describe, rules })]
  }

  #cacheTask(): Task {
    const {
      shared: { cache, clock, log },
      options: { cacheSyncMs = 120_000 },
    } = this.#parts
    return {
      name: 'caches',
      async run(signal, ready) {
        const running = cache.run(signal)
        const limit = limitOf(clock, cacheSyncMs, { signal })
        await cache.waitForSync({ signal: limit.lightSignal }).catch((error: unknown) => {
          if (!signal.aborted) log.error('going on without a cache that cannot be filled', { error })
        })
        limit.done()
        ready()
        await running
      },
    }
  }

  #runnableTask({ name, needsLeader, run }: RunnableEntry): Task {
    const { cache, client, leaderClient } = this.#parts.shared
    return { name, run: (signal) => run(nativeSignal(signal), { cache, client: needsLeader ? leaderClient : client }) }
  }

  #everywhereTask(controller: Controller): Task {
    return { ...this.#named(controller), run: (signal) => controller.run(signal) }
  }

  #watchTask(controller: Controller): Task {
    return {
      name: `sources of controller ${controller.name}`,
      async run(signal) {
        await controller.watch(signal)
        await controller.stop()
      },
    }
  }

  #workTask(controller: Controller): Task {
    // Whoever led in between knew when to look at what again; we do not. The first time everything is in the queue anyway.
    const isAgain = this.#terms > 1
    return {
      ...this.#named(controller),
      async run(signal) {
        const working = controller.work(signal)
        if (isAgain)
          controller
            .waitForSync({ signal })
            .then(() => {
              controller.reconcileAll({ priority: lowPriority, note: 'leading again' })
            })
            .catch(() => undefined)
        await working
      },
    }
  }

  #named({ name }: Controller): Pick<Task, 'name' | 'describe'> {
    const { ledger } = this.#parts.shared
    return { name: `controller ${name}`, describe: () => activeRuns(name, ledger) }
  }
}

function recorderTask(name: string, recorder: EventRecorder): Task {
  return { name: `events of ${name}`, run: (signal) => recorder.run(signal) }
}

/*
 * The webhooks of one manager, or of several, as something to run.
 */

/** Ready once it listens. */
export function webhookTask(
  { webhooks, onListening, ...listener }: WebhookSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Task {
  return {
    name: 'webhooks',
    run: (signal, ready) =>
      runWebhookListener(signal, {
        ...listener,
        transport: webhooks.transport,
        clock,
        log,
        onListening(url) {
          log.info('webhooks are served', { url })
          onListening?.(url)
          ready()
        },
      }),
  }
}
